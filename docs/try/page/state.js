// What a link carries: the task, position, square and behaviour, kept in the fragment of the page's
// URL.

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {"exchange" | "evaluator" | "program" | "board"} View */
/** @typedef {{ view: View, fen: string, square: string, behaviour: Behaviour }} State */

/** @type {State} */
const FIRST = {
  view: "exchange",
  fen: "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - - 0 1",
  square: "e4",
  behaviour: "mended",
};
const VIEWS = ["exchange", "evaluator", "program", "board"];
export const BEHAVIOURS = /** @type {Behaviour[]} */ (["1978", "mended", "fast"]);

/** @type {Set<(state: State, changed: Set<string>) => void>} */
const listeners = new Set();
let state = parse(location.hash);

/**
 * Reads a fragment; what is missing or makes no sense is as at first.
 * @param {string} hash
 * @returns {State}
 */
function parse(hash) {
  const read = { ...FIRST };
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
  return `#view=${of.view}&fen=${fen}&square=${of.square}&behaviour=${of.behaviour}`;
}

export function current() {
  return state;
}

/**
 * The link to this page with some things changed.
 * @param {Partial<State>} change
 */
export function linkTo(change) {
  return fragment({ ...state, ...change });
}

/**
 * Changes the state and the page's URL; a new task becomes an entry of the browser's history.
 * @param {Partial<State>} change
 */
export function update(change) {
  const next = { ...state, ...change };
  const link = fragment(next);
  if (next.view === state.view) history.replaceState(null, "", link);
  else history.pushState(null, "", link);
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
