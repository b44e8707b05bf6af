// The list of cases, and the details of an opened case.
const page = JSON.parse(document.getElementById("data").textContent);
const { report } = page;
const cases = page.cases.map(([id, tags, verdict, fen, why, squares, differences, attempts, repeats, took, known, there]) =>
  ({ id, tags, verdict, fen, why, squares: squares.map(squareOf), differences, attempts, repeats, took, known, board: there[0] ?? "", ends: there[1], fault: there[2] ?? "" }));
const TROUBLE = ["fail", "timeout", "error", "flaky"];
const rows = [];

// Figures of all cases if there are too many: `cases` then has none that passed.
const { whole } = page;

// The result of a square; `right` is the result of the reference if it differs.
function squareOf([square, piece, array, board, reference, status, t_states, other]) {
  const differs = other !== undefined || reference !== board;
  const right = differs ? { piece, array: other ?? array, residue: reference ?? 0, status } : undefined;
  return { square, piece, array, residue: board, status, t_states, right, missing: reference === null };
}

// The squares of a case on which something differs.
function wrongSquares(one) {
  const wrong = new Set(one.differences.map(found => found.square).filter(Boolean));
  for (const word of one.squares) if (word.right) wrong.add(word.square);
  return wrong;
}

function gistOf(one) {
  const [first, ...more] = one.differences;
  if (first) return `${differenceText(first)}${more.length ? ` … and ${more.length} more` : ""}`;
  return one.why ?? one.fen ?? "a single array";
}

function differenceText({ square, what, board, reference }) {
  const sides = what.endsWith("by the document") ? ["reference", "document"] : ["board", "reference"];
  return `${square ? `${square}: ` : ""}${what}: ${sides[0]} ${board}, ${sides[1]} ${reference}`;
}

function haystack(one) {
  const differing = one.differences.map(differenceText).join("\n");
  return [one.id, one.tags.join(" "), one.fen, one.verdict, one.why, one.board, one.ends, one.fault, differing].join("\n").toLowerCase();
}

function makeRow(one) {
  const row = element("details", { "data-verdict": one.verdict },
    element("summary", {},
      element("span", { class: `word ${one.verdict}` }, one.known ? `${one.verdict}, known` : one.verdict),
      element("span", { class: "id" }, one.id),
      element("span", { class: "gist" }, gistOf(one))));
  row.addEventListener("toggle", () => fill(row, one));
  rows.push({ row, one, text: haystack(one) });
  return row;
}

function fill(row, one) {
  if (!row.open || row.children.length > 1) return;
  const body = element("div", { class: "body" });
  const text = element("div", { class: "text" });
  row.append(body);
  if (one.fen) body.append(boardsOf(one));
  body.append(text);
  if (one.why) text.append(element("p", { class: "why" }, one.why));
  text.append(list([
    ["position", one.fen ?? "none: a single array"],
    ["tags", one.tags.join(", ")],
    ["board", one.board],
    ["ended", one.ends],
    ["at fault", one.fault],
    ["put to the board", one.attempts > 1 ? `${one.attempts} times` : undefined],
    ["asked again", one.repeats || undefined],
    ["took", one.took ? `${(one.took / 1000).toFixed(1)} ms` : undefined],
  ]));
  if (one.differences.length) text.append(element("h3", {}, "Differences"), differenceList(one));
  const commands = (page.report.inspect ?? []).find(found => found.case === one.id)?.commands ?? [];
  if (commands.length) text.append(element("h3", {}, "To look into it"), element("pre", {}, commands.join("\n")));
  if (one.squares.length) text.append(squareTable(one));
}

function differenceList(one) {
  const item = ({ arrays, ...found }) => element("li", {}, differenceText(found), ...arrays ? [element("div", { class: "arrays" }, arraysText(arrays))] : []);
  return element("ul", { class: "differences" }, ...one.differences.map(item));
}

function arraysText([there, here]) {
  return there === here ? `array ${there}` : `array by the board ${there}; by the reference ${here}`;
}

function boardsOf(one) {
  const differing = wrongSquares(one);
  const pieces = piecesOf(one.fen);
  const seen = one.squares.length ? Object.fromEntries(one.squares.map(word => [word.square, word.piece])) : pieces;
  const there = Object.fromEntries(one.squares.map(word => [word.square, word]));
  const here = Object.fromEntries(one.squares.filter(word => !word.missing).map(word => [word.square, word.right ?? word]));
  const sides = one.differences.length
    ? [["Board", seen, there], ["Reference", pieces, here]]
    : [[one.squares.length ? "Board and reference agree" : "The position", pieces, there]];
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
  const timed = one.squares.some(word => word.t_states);
  const head = ["square", "piece", "loses", "White", "Black", ...timed ? ["T-states"] : []];
  const body = element("tbody", {}, ...one.squares.map(word => squareRow(word, timed)));
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
