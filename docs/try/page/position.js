// A placement of pieces as the page edits it, to and from FEN. The worker says whether it is a
// position.

/** @typedef {import("../worker.js").PieceLetter} PieceLetter */

export const FILES = [..."abcdefgh"];

/** The squares of a board in reading order: a8 to h1. */
export const SQUARES = [8, 7, 6, 5, 4, 3, 2, 1].flatMap((rank) =>
  FILES.map((file) => `${file}${rank}`),
);

export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
export const EMPTY = "8/8/8/8/8/8/8/8 w - - 0 1";

/**
 * Returns the pieces of a FEN's first field by square, or null if it is none.
 * @param {string} fen
 * @returns {Map<string, PieceLetter> | null}
 */
export function piecesOf(fen) {
  const rows = fen.trim().split(/\s+/)[0].split("/");
  if (rows.length !== 8) return null;
  const pieces = new Map();
  for (const [index, row] of rows.entries()) {
    let file = 0;
    for (const letter of row) {
      if (letter >= "1" && letter <= "8") file += Number(letter);
      else if ("pnbrqkPNBRQK".includes(letter)) pieces.set(`${FILES[file++]}${8 - index}`, letter);
      else return null;
    }
    if (file !== 8) return null;
  }
  return pieces;
}

/**
 * Returns the FEN of pieces, with the side to move of another. Castling and en passant are dropped:
 * the pieces that they speak of may be gone.
 * @param {Map<string, PieceLetter>} pieces
 * @param {string} before
 */
export function fenOf(pieces, before) {
  const rows = [8, 7, 6, 5, 4, 3, 2, 1].map((rank) => {
    const row = FILES.map((file) => pieces.get(`${file}${rank}`) ?? "1").join("");
    return row.replace(/1+/g, (gap) => String(gap.length));
  });
  const side = before.trim().split(/\s+/)[1] === "b" ? "b" : "w";
  return `${rows.join("/")} ${side} - - 0 1`;
}
