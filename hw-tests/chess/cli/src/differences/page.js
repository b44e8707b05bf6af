const data = JSON.parse(document.getElementById("data").textContent);
const RULES = {
  "stop rule": "Sargon compares one attacker with one guard and stops there; a modern program plays the whole exchange.",
  "pin": "Sargon leaves out pinned pieces, even those pinned to a queen; the swap algorithm ignores pins.",
  "x-ray": "Sargon sees no piece behind one of the other colour; in the swap algorithm it takes part once uncovered.",
  "king": "Sargon's king captures by its worth of 10; a modern one only where nothing guards.",
  "promotion": "Sargon's pawn stays a pawn on the last rank; a modern one becomes a queen.",
  "filing": "Sargon's array keeps the order of capturers, and has no room for some; a modern program sends the least valuable.",
};

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const center = square => [(square.charCodeAt(0) - 97 + 0.5) * SIDE, (8.5 - Number(square[1])) * SIDE];
const kindName = letter => NAMES[letter.toLowerCase()];

// Arrows of the captures of a line to the square, each with its number.
function arrowsOf(line, target, by) {
  const group = shape("g", { class: `arrows ${by}` });
  const [x, y] = center(target);
  const marks = line.captures.map(([from], index) => {
    const [left, top] = center(from);
    const length = Math.hypot(x - left, y - top), [dx, dy] = [(x - left) / length, (y - top) / length];
    const tip = [x - 13 * dx, y - 13 * dy], base = [tip[0] - 11 * dx, tip[1] - 11 * dy];
    group.append(shape("line", { class: "arrow", x1: left + 12 * dx, y1: top + 12 * dy, x2: base[0], y2: base[1] }));
    const wings = `${base[0] - 7 * dy},${base[1] + 7 * dx} ${base[0] + 7 * dy},${base[1] - 7 * dx}`;
    group.append(shape("polygon", { class: "head", points: `${tip} ${wings}` }));
    const mark = shape("g", { transform: `translate(${left - 13} ${top - 13})` });
    mark.append(shape("circle", { class: "step", r: 8 }), shape("text", { class: "step-text", y: 3.8 }, String(index + 1)));
    return mark;
  });
  group.append(...marks);
  return group;
}

function glyph(letter) {
  const piece = shape("path", { class: `piece ${isWhite(letter) ? "white" : "black"}`, d: SHAPES[letter.toLowerCase()] });
  return shape("svg", { viewBox: "0 0 45 45", "aria-hidden": "true" }, piece);
}

// The captures of a line as a list; each takes what stands on the square.
function listOf(line, pieces, stands) {
  const items = line.captures.map(([from, lost]) => {
    const letter = pieces[from], taken = kindName(stands);
    stands = letter;
    const text = element("span", "", `${kindName(letter)} ${from} takes the ${taken}`);
    return element("li", "", glyph(letter), text, element("span", "lost", String(lost)));
  });
  const others = [...line.left_out.map(at => [at, "is left out"]), ...(line.declined ? [[line.declined, "does not capture"]] : [])];
  for (const [at, words] of others) {
    items.push(element("li", "declined", glyph(pieces[at]), element("span", "", `${kindName(pieces[at])} ${at} ${words}`)));
  }
  return element("ol", "", ...items);
}

function cardOf(found) {
  const pieces = piecesOf(found.fen), letter = pieces[found.square];
  const title = `The ${pieceName(letter)} on ${found.square}`;
  const board = boardOf(`Position: ${found.fen}`, pieces, {}, new Set());
  board.removeAttribute("tabindex");
  const [x, y] = center(found.square);
  board.append(shape("rect", { class: "target", x: x - SIDE / 2 + 1.5, y: y - SIDE / 2 + 1.5, width: SIDE - 3, height: SIDE - 3, rx: 3 }));
  const columns = [];
  const show = by => {
    board.querySelector(".arrows")?.remove();
    board.append(arrowsOf(found[by], found.square, by));
    for (const [name, column, button] of columns) {
      column.classList.toggle("shown", name === by);
      button.setAttribute("aria-pressed", String(name === by));
    }
  };
  for (const [by, name, loss] of [["sargon", "Sargon, 1978", found.residue], ["modern", "Modern SEE", found.swap]]) {
    const number = element("span", "loss", String(loss), element("small", "", loss ? "lost" : "nothing lost"));
    const button = element("button", "", element("span", "name", name), number);
    const column = element("section", `line ${by}`, button, listOf(found[by], pieces, letter));
    column.addEventListener("pointerenter", () => show(by));
    button.addEventListener("click", () => show(by));
    columns.push([by, column, button]);
  }
  const why = element("p", "why", element("b", "", found.reason, ": "));
  why.append(found.reason.split(/ or | \+ /).map(rule => RULES[rule]).join(" "));
  const head = element("header", "", element("h2", "", title), element("span", "id", found.id));
  const lines = element("div", "lines", ...columns.map(([, column]) => column));
  const card = element("article", "", head, board, lines, why, element("p", "fen", found.fen));
  card.dataset.reason = found.reason;
  show("modern");
  return card;
}

function draw() {
  const { squares, counts } = data, { swap, positions, attacked, reasons } = counts;
  const total = swap.higher + swap.lower;
  document.getElementById("headline").textContent =
    `Of ${attacked} attacked piece${attacked === 1 ? "" : "s"}, ${total} ${total === 1 ? "has" : "have"} another value today`;
  const drawn = squares.length < total ? ` The first ${squares.length} are shown.` : "";
  document.getElementById("facts").textContent =
    `${positions} position${positions === 1 ? "" : "s"}. Sargon expects a higher loss on ${swap.higher} ` +
    `squares, a lower one on ${swap.lower}. Numbered arrows are the captures in order; choose a list to see its own.${drawn}`;
  // The largest difference first; kings last, which no game loses.
  const gap = found => Math.abs(found.residue - found.swap) - (piecesOf(found.fen)[found.square].toLowerCase() === "k" ? 100 : 0);
  const cards = squares.sort((one, other) => gap(other) - gap(one)).map(cardOf);
  document.getElementById("cards").replaceChildren(...cards);
  const tallies = Object.entries(reasons).map(([name, { higher, lower }]) => [name, higher + lower]);
  tallies.sort((one, other) => other[1] - one[1]);
  const buttons = [["all", total], ...tallies].map(([name, count]) => {
    const button = element("button", "", name, element("b", "", String(count)));
    button.setAttribute("aria-pressed", String(name === "all"));
    button.addEventListener("click", () => {
      for (const card of cards) card.hidden = name !== "all" && card.dataset.reason !== name;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
    });
    return button;
  });
  document.getElementById("reasons").append(...buttons);
}

draw();
