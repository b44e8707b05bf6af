// The squares of a case: boards beside its text, and a table below it.
const suite = {
  value: "square",
  subject: "position",
  none: "a single array",
  histogram: "T-states of ATTACK and XCHNG, square by square",
  read: squares => squares.map(squareOf),
  wrong: one => wrongSquares(one).size,
  times: one => one.values.map(word => word.t_states),
  difference: differenceText,
  details: ({ arrays }) => arrays ? [element("div", { class: "arrays" }, arraysText(arrays))] : [],
  figure: one => one.subject ? boardsOf(one) : undefined,
  table: one => one.values.length ? squareTable(one) : undefined,
};

// The result of a square; `right` is the result of the reference if it differs.
function squareOf([square, piece, array, board, reference, status, t_states, other]) {
  const differs = other !== undefined || reference !== board;
  const right = differs ? { piece, array: other ?? array, residue: reference ?? 0, status } : undefined;
  return { square, piece, array, residue: board, status, t_states, right, missing: reference === null };
}

// The squares of a case on which something differs.
function wrongSquares(one) {
  const wrong = new Set(one.differences.map(found => found.square).filter(Boolean));
  for (const word of one.values) if (word.right) wrong.add(word.square);
  return wrong;
}

function differenceText({ square, field, board, reference }) {
  const sides = field.endsWith("by the document") ? ["reference", "document"] : ["board", "reference"];
  return `${square ? `${square}: ` : ""}${field}: ${sides[0]} ${board}, ${sides[1]} ${reference}`;
}

function arraysText([there, here]) {
  return there === here ? `array ${there}` : `array by the board ${there}; by the reference ${here}`;
}

function boardsOf(one) {
  const differing = wrongSquares(one);
  const pieces = piecesOf(one.subject);
  const seen = one.values.length ? Object.fromEntries(one.values.map(word => [word.square, word.piece])) : pieces;
  const there = Object.fromEntries(one.values.map(word => [word.square, word]));
  const here = Object.fromEntries(one.values.filter(word => !word.missing).map(word => [word.square, word.right ?? word]));
  const sides = one.differences.length
    ? [["Board", seen, there], ["Reference", pieces, here]]
    : [[one.values.length ? "Board and reference agree" : "The position", pieces, there]];
  const figures = sides.map(([title, on, words]) => {
    const board = boardOf(`${one.id}, ${title}`, on, words, differing);
    const said = element("p", { class: "said", "aria-live": "polite" });
    steer(board, on, words, said);
    return element("figure", {}, element("figcaption", {}, title), board, said);
  });
  return element("div", { class: "boards" }, ...figures);
}

function saidOf(square, letter, word) {
  if (!word) return `${square}: ${letter ? pieceName(letter) : "empty"}`;
  const side = (name, { count, values }) => count || values.length ? `${name} ${count}: ${values.join(", ")}` : `${name} none`;
  const flags = [word.status & 1 ? "the array overflowed" : "", word.status & 2 ? "a count promises too much" : ""];
  const parts = [`${square}: ${pieceName(word.piece)}, loses ${word.residue}`, side("White", sideOf(word.array, false)),
    side("Black", sideOf(word.array, true)), word.t_states ? `${number.format(word.t_states)} T-states` : "", ...flags];
  return parts.filter(Boolean).join("; ");
}

// Lets mouse and arrow keys choose a square of a board.
function steer(board, pieces, words, said) {
  let file = 0, down = 7;
  const cursor = board.querySelector(".cursor");
  const choose = (x, y) => {
    [file, down] = [x, y].map(place => Math.min(7, Math.max(0, place)));
    const square = "abcdefgh"[file] + (8 - down);
    cursor.setAttribute("x", file * SIDE + 1.5);
    cursor.setAttribute("y", down * SIDE + 1.5);
    cursor.setAttribute("visibility", "visible");
    said.textContent = saidOf(square, pieces[square], words[square]);
    board.closest(".body").querySelectorAll("tr[data-square]").forEach(row => row.classList.toggle("chosen", row.dataset.square === square));
  };
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  board.addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(file + move[0], down + move[1]);
  });
  board.addEventListener("click", event => {
    const square = event.target.closest("[data-square]")?.dataset.square;
    if (square) choose("abcdefgh".indexOf(square[0]), 8 - Number(square[1]));
  });
}

function squareTable(one) {
  const timed = one.values.some(word => word.t_states);
  const head = ["square", "piece", "loses", "White", "Black", ...timed ? ["T-states"] : []];
  const body = element("tbody", {}, ...one.values.map(word => squareRow(word, timed)));
  const headRow = element("tr", {}, ...head.map(name => element("th", { scope: "col" }, name)));
  const title = one.differences.length ? "Squares: board ≠ reference" : "Squares";
  const table = element("table", { class: "squares" }, element("thead", {}, headRow), body);
  return element("section", {}, element("h3", {}, title), element("div", { class: "scroll" }, table));
}

function squareRow(word, timed) {
  const right = word.right ?? word;
  const both = of => of(word) === of(right) ? of(word) : `${of(word)} ≠ ${of(right)}`;
  const side = black => both(({ array }) => {
    const { count, values } = sideOf(array, black);
    return count || values.length ? `${count}: ${values.join(" ") || "none"}` : "–";
  });
  const flags = ["", " overflow", " short", " overflow, short"][word.status & 3];
  const piece = word.missing ? `${pieceName(word.piece)} ≠ nothing` : pieceName(word.piece);
  const cells = [word.square, piece, both(({ residue }) => residue) + flags, side(false), side(true)];
  if (timed) cells.push(word.t_states ? number.format(word.t_states) : "–");
  const kind = { class: word.right ? "differs" : "", "data-square": word.square };
  return element("tr", kind, ...cells.map((cell, index) => element("td", index === 5 ? { class: "number" } : {}, String(cell))));
}
