// Files of the user that outlive a reload, a crash and a closed tab: in IndexedDB, with the undo
// history of each file.

import { getMany, set } from "idb-keyval";
import { debounce } from "./dom.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */
/** @typedef {{ files: SourceFile[], histories: Record<string, unknown> }} Kept */

const NAMES = ["original", "corrected", "fast", "program"];
const PREFIX = "tdl-try-";

/** @type {Map<string, Kept>} */
const memory = new Map();
/** @type {Set<(name: string) => void>} */
const listeners = new Set();
/** Milliseconds of quiet after which what is typed is stored. */
const REST = 300;
/** @type {Set<() => void>} What is typed and not stored yet. */
const waiting = new Set();
/** @type {Promise<unknown>} All writes, so that a reload of the page's own can wait for them. */
let written = Promise.resolve();

/** @param {any} value */
function isKept(value) {
  const isFile = (/** @type {any} */ one) =>
    typeof one?.name === "string" && typeof one?.text === "string";
  return Array.isArray(value?.files) && value.files.every(isFile);
}

/** Reads what the browser stores; without a store, files last as long as the page. */
export async function restore() {
  const values = await getMany(NAMES.map((name) => PREFIX + name)).catch(() => []);
  for (const [index, value] of values.entries()) {
    if (isKept(value)) memory.set(NAMES[index], { histories: {}, ...value });
  }
}

/**
 * Returns the files of a name: an evaluator's changed ones, or those of the program.
 * @param {string} name
 * @returns {SourceFile[]}
 */
export function kept(name) {
  return memory.get(name)?.files ?? [];
}

/**
 * Returns the undo history of a file as the editor gave it.
 * @param {string} name
 * @param {string} file
 */
export function keptHistory(name, file) {
  return memory.get(name)?.histories[file];
}

/**
 * @param {string} name
 * @param {SourceFile[]} files
 * @param {Record<string, unknown>} histories
 */
export function keep(name, files, histories) {
  const value = { files, histories };
  const isSame = JSON.stringify(files) === JSON.stringify(kept(name));
  memory.set(name, value);
  written = Promise.all([written, set(PREFIX + name, value).catch(() => undefined)]);
  if (!isSame) for (const listener of listeners) listener(name);
}

/**
 * Calls back with the name when its files have changed.
 * @param {(name: string) => void} listener
 */
export function onKept(listener) {
  listeners.add(listener);
}

/**
 * Returns a function after whose calls `run` stores: after some quiet, or before the page goes.
 * @param {() => void} run
 */
export function storesLater(run) {
  const later = debounce(REST, () => waiting.delete(run) && run());
  return () => {
    waiting.add(run);
    later();
  };
}

function storeWaiting() {
  const all = [...waiting];
  waiting.clear();
  for (const run of all) run();
}

window.addEventListener("pagehide", storeWaiting);

/** Stores what is waiting, and resolves when everything is stored. */
export function stored() {
  storeWaiting();
  return written;
}
