// Pieces: names, letters of FEN, and drawings by the paths that the pictures of the docs have, too.

import outlines from "../../pictures/pieces.txt";
import { svg } from "./dom.js";

/** @typedef {import("../worker.js").PieceLetter} PieceLetter */

/** @type {Map<string, string>} */
const PATHS = new Map();
for (const line of outlines.trim().split("\n")) {
  const gap = line.indexOf(" ");
  PATHS.set(line.slice(0, gap), line.slice(gap + 1));
}

const KINDS = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

/** Letters in the order of the palette. */
export const LETTERS = /** @type {PieceLetter[]} */ ([..."KQRBNPkqrbnp"]);

/** @param {string} letter */
export function isWhite(letter) {
  return letter === letter.toUpperCase();
}

/** @param {string} letter */
export function kindOf(letter) {
  return KINDS[/** @type {keyof typeof KINDS} */ (letter.toLowerCase())];
}

/**
 * "White knight".
 * @param {string} letter
 */
export function nameOf(letter) {
  return `${isWhite(letter) ? "White" : "Black"} ${kindOf(letter)}`;
}

/**
 * A drawing that says nothing to screen readers: its surroundings name the piece.
 * @param {string} letter
 */
export function drawing(letter) {
  const path = svg("path", { d: PATHS.get(kindOf(letter)) ?? "" });
  const side = isWhite(letter) ? "white" : "black";
  return svg(
    "svg",
    { viewBox: "-22 -20 44 40", class: `piece ${side}`, "aria-hidden": "true" },
    path,
  );
}
