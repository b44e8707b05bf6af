// What a link carries: the task, position, square and behaviour, kept in the fragment of the page's
// URL.

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {"exchange" | "evaluator" | "program" | "board"} View */
/**
 * `at` is a line of the evaluator's source, "atksav.asm:40".
 * @typedef {{ view: View, fen: string, square: string, behaviour: Behaviour, at: string }} State
 */

/** @type {State} */
const FIRST = {
  view: "exchange",
  // Here the original program is wrong.
  fen: "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - - 0 1",
  square: "e4",
  behaviour: "original",
  at: "",
};
const VIEWS = ["exchange", "evaluator", "program", "board"];
export const BEHAVIOURS = /** @type {Behaviour[]} */ (["original", "corrected", "fast"]);

/** @type {Set<(state: State, changed: Set<string>) => void>} */
const listeners = new Set();
let state = parse(location.hash);

/**
 * Reads a fragment; what is missing or makes no sense is as at first, and the evaluator is corrected.
 * @param {string} hash
 * @returns {State}
 */
function parse(hash) {
  const read = { ...FIRST };
  if (hash.length > 1) read.behaviour = "corrected";
  for (const pair of hash.replace(/^#/, "").split("&")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at);
    let value;
    try {
      value = decodeURIComponent(pair.slice(at + 1)).replaceAll("_", " ");
    } catch {
      continue;
    }
    if (name === "view" && VIEWS.includes(value)) read.view = /** @type {View} */ (value);
    if (name === "fen" && value.length <= 200) read.fen = value;
    if (name === "square" && /^[a-h][1-8]$/.test(value)) read.square = value;
    if (name === "at" && /^[\w.]{1,40}:\d{1,5}$/.test(value)) read.at = value;
    if (name === "behaviour" && BEHAVIOURS.includes(/** @type {Behaviour} */ (value))) {
      read.behaviour = /** @type {Behaviour} */ (value);
    }
  }
  return read;
}

/**
 * The fragment that stands for a state: "#view=exchange&fen=...", with "_" for blanks.
 * @param {State} of
 */
function fragment(of) {
  const fen = encodeURIComponent(of.fen.replaceAll(" ", "_")).replaceAll("%2F", "/");
  const at = of.at && `&at=${of.at}`;
  return `#view=${of.view}&fen=${fen}&square=${of.square}&behaviour=${of.behaviour}${at}`;
}

export function current() {
  return state;
}

/**
 * The link to this page with some things changed.
 * @param {Partial<State>} change
 */
export function linkTo(change) {
  return fragment({ ...state, at: "", ...change });
}

/**
 * Changes the state and the page's URL, with an entry in the browser's history.
 * @param {Partial<State>} change
 * @param {string} [field] The field that is typed in: its changes in a row are one entry.
 */
export function update(change, field) {
  const next = { ...state, at: "", ...change };
  const link = fragment(next);
  const isEntry = fragment(state) !== link && !(field && history.state === field);
  if (isEntry) history.pushState(field ?? null, "", link);
  else history.replaceState(history.state, "", link);
  become(next);
}

/**
 * Calls back with the state and the names of what has changed.
 * @param {(state: State, changed: Set<string>) => void} listener
 */
export function onChange(listener) {
  listeners.add(listener);
}

/** @param {State} next */
function become(next) {
  const names = /** @type {(keyof State)[]} */ (Object.keys(next));
  const changed = new Set(names.filter((name) => next[name] !== state[name]));
  state = next;
  if (changed.size) for (const listener of listeners) listener(state, changed);
}

window.addEventListener("hashchange", () => become(parse(location.hash)));
window.addEventListener("popstate", () => become(parse(location.hash)));
