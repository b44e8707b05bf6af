// Boards: pieces as simple shapes of 45 by 45, drawn into SVG.
const SIDE = 45;
const SHAPES = {
  p: "M22.5 9a5.5 5.5 0 0 1 3.6 9.6c2.9 1.5 3.9 4.6 2.3 7.4-.5 1-.4 3.5 5.6 10.5v2H11v-2c6-7 6.1-9.5 5.6-10.5-1.6-2.8-.6-5.9 2.3-7.4A5.5 5.5 0 0 1 22.5 9z",
  n: "M12 38.5c.5-9 8-11.5 8.5-17.5-3 1.5-5 4-8.5 5.5l-3.5-3c2-3 4.5-9 8-12l.5-5 4 3.5c9 .5 14.5 8.5 14 28.5z",
  b: "M22.5 6a2.8 2.8 0 0 1 1.7 5c5.3 4.5 8.3 10 5.8 15.5l2 6 4.5 2.5v3.5h-28V35l4.5-2.5 2-6c-2.5-5.5.5-11 5.8-15.5a2.8 2.8 0 0 1 1.7-5zM22.5 16v9M18.2 20.3h8.6M16.6 32.6h11.8",
  r: "M11 8.5h5v4h4v-4h5v4h4v-4h5v9l-4 3.5v10.5l4 3.5v4H11v-4l4-3.5V21l-4-3.5zM15 21h15M15 31h15",
  q: "M8 12.5l6.5 9 1-13 7 12 7-12 1 13 6.5-9-4.5 18 1.5 8h-23l1.5-8z",
  k: "M21 4h3v4h4v3h-4v4c2-2.5 12-3.5 12.5 4 .3 5-4.5 8-5 12.5v7H13.5v-7C13 27 8.2 24 8.5 19 9 11.5 19 12.5 21 15v-4h-4V8h4zM13.5 31.5h18",
};
const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

const isWhite = letter => letter === letter.toUpperCase();

function pieceName(letter) {
  const name = NAMES[letter?.toLowerCase()];
  return name ? `${isWhite(letter) ? "white" : "black"} ${name}` : "no piece";
}

// The pieces of a FEN by square.
function piecesOf(fen) {
  const pieces = {};
  fen.split(" ")[0].split("/").forEach((row, down) => {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") file += Number(letter);
      else pieces["abcdefgh"[file++] + (8 - down)] = letter;
    }
  });
  return pieces;
}

// One side of an attackers array of 28 hexadecimal digits: its count, and its values in the order in which they capture.
function sideOf(array, black) {
  const digits = array.slice(black ? 14 : 0, black ? 28 : 14);
  const values = [];
  for (let at = 2; at < 14; at += 2) {
    for (const digit of [digits[at + 1], digits[at]]) if (digit !== "0") values.push(parseInt(digit, 16));
  }
  return { count: parseInt(digits.slice(0, 2), 16), values };
}

// A board: pieces by square, results of squares, and the squares that differ.
function boardOf(label, pieces, words, differing) {
  const board = shape("svg", { class: "board", viewBox: "0 0 360 360", role: "img", tabindex: "0", "aria-label": label });
  for (let index = 0; index < 64; index++) {
    const file = index % 8, down = Math.floor(index / 8);
    const square = "abcdefgh"[file] + (8 - down);
    const group = shape("g", { transform: `translate(${file * SIDE} ${down * SIDE})`, "data-square": square });
    group.append(shape("rect", { width: SIDE, height: SIDE, class: (file + down) % 2 ? "dark" : "light" }));
    if (file === 0) group.append(shape("text", { class: "edge", x: 2.5, y: 9.5 }, square[1]));
    if (down === 7) group.append(shape("text", { class: "edge", x: 20, y: 43 }, square[0]));
    decorate(group, pieces[square], words[square], differing.has(square));
    board.append(group);
  }
  board.append(shape("rect", { class: "cursor", width: SIDE - 3, height: SIDE - 3, rx: 2, visibility: "hidden" }));
  return board;
}

function decorate(group, letter, word, differs) {
  if (differs) group.append(shape("rect", { class: "frame", x: 1.5, y: 1.5, width: SIDE - 3, height: SIDE - 3, rx: 2 }));
  if (SHAPES[letter?.toLowerCase()]) {
    const place = { transform: "translate(5.6 3.4) scale(.75)", d: SHAPES[letter.toLowerCase()] };
    group.append(shape("path", { class: `piece ${isWhite(letter) ? "white" : "black"}`, ...place }));
  }
  if (word) {
    const counts = [sideOf(word.array, false).count, sideOf(word.array, true).count];
    if (counts[0]) tally(group, "white", 7, counts[0]);
    if (counts[1]) tally(group, "black", SIDE - 7, counts[1]);
    if (word.residue) {
      const points = String(word.residue), width = 8 + 6 * points.length;
      group.append(shape("rect", { class: differs ? "badge differs" : "badge", x: SIDE - 1.5 - width, y: 1.5, width, height: 14, rx: 7 }));
      group.append(shape("text", { class: "badge-text", x: SIDE - 1.5 - width / 2, y: 12 }, points));
    }
  }
  if (differs) group.append(shape("text", { class: "unequal", x: 4, y: 14 }, "≠"));
}

function tally(group, side, x, count) {
  group.append(shape("circle", { class: `tally ${side}`, cx: x, cy: SIDE - 7, r: 5 }));
  group.append(shape("text", { class: `tally-text ${side}`, x, y: SIDE - 4.2 }, String(count)));
}
