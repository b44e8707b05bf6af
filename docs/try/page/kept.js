// Files of the user that outlive a reload, a crash and a closed tab: in IndexedDB, with the undo
// history of each file. Each state has a version; a tab replaces only the version that it has read
// or written, so that it never overwrites what another tab has typed.

import { getMany, update } from "idb-keyval";
import { debounce, messageOf } from "./dom.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */
/** @typedef {{ files: SourceFile[], histories: Record<string, unknown>, version: string }} Kept */
/**
 * Another state of the same files; `isStored` if it has the place in the store, and the tab's own
 * state is set aside.
 * @typedef {{ other: Kept, isStored: boolean }} Conflict
 */

const NAMES = ["original", "corrected", "fast", "program"];
const PREFIX = "tdl-try-";
/** Before the name of what did not reach IndexedDB before a tab was left, in localStorage. */
const LAST = `${PREFIX}last-`;
/** Milliseconds of quiet after which what is typed is stored. */
const REST = 300;
/** Milliseconds after which the page begins without a store that does not answer. */
const PATIENCE = 5000;
const TAB = fresh();

/** @type {Map<string, Kept>} What this tab has. */
const memory = new Map();
/** @type {Map<string, string>} The version that this tab has last read or written. */
const bases = new Map();
/** @type {Map<string, Kept>} What is not in IndexedDB yet. */
const pending = new Map();
/** @type {Map<string, Conflict>} */
const conflicts = new Map();
/** @type {Set<(name: string) => void>} */
const listeners = new Set();
/** @type {Set<(name: string) => void>} */
const replacers = new Set();
/** @type {Set<() => void>} */
const observers = new Set();
/** @type {Set<() => void>} What is typed and not kept yet. */
const waiting = new Set();
/** @type {Promise<unknown>} All writes, one after the other. */
let written = Promise.resolve();
/** Why the last access to the store failed. */
let problem = "";

function fresh() {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
}

/** @param {any} value */
function isKept(value) {
  const isFile = (/** @type {any} */ one) =>
    typeof one?.name === "string" && typeof one?.text === "string";
  return Array.isArray(value?.files) && value.files.every(isFile);
}

/**
 * @param {any} value
 * @returns {Kept}
 */
function complete(value) {
  return { histories: {}, version: "", ...value };
}

/** @param {string} name */
const asideOf = (name) => `${PREFIX}${name}-aside`;

/** Reads what the browser stores; without a store, files last as long as the page. */
export async function restore() {
  const keys = [...NAMES.map((name) => PREFIX + name), ...NAMES.map(asideOf)];
  try {
    // A store that is refused throws here: nothing is left then that would reject later.
    const answer = getMany(keys);
    const late = new Promise((_, reject) =>
      setTimeout(() => reject(new Error("the store does not answer")), PATIENCE),
    );
    const values = await Promise.race([answer, late]);
    for (const [index, name] of NAMES.entries()) {
      const value = values[index];
      if (isKept(value)) memory.set(name, complete(value));
      bases.set(name, value?.version ?? "");
      const aside = values[NAMES.length + index]?.find?.(isKept);
      if (aside) conflicts.set(name, { other: complete(aside), isStored: false });
    }
  } catch (error) {
    problem = messageOf(error);
  }
  restoreLast();
  announce();
}

/** Takes what tabs had typed when they were left. */
function restoreLast() {
  let keys;
  try {
    keys = Object.keys(localStorage).filter((key) => key.startsWith(LAST));
  } catch {
    return; // IndexedDB alone has to do.
  }
  for (const key of keys) {
    /** @type {any} */
    let value;
    try {
      value = JSON.parse(localStorage.getItem(key) ?? "");
    } catch {
      continue;
    }
    const { name, base, ...rest } = value ?? {};
    if (!NAMES.includes(name) || !isKept(rest)) continue;
    const last = complete(rest);
    const now = memory.get(name)?.version ?? "";
    if (now === last.version) {
      removeLast(last.version);
    } else if (now === base || (problem && !memory.has(name))) {
      memory.set(name, last);
      pending.set(name, last);
      writeLater(name);
    } else {
      conflicts.set(name, { other: last, isStored: false });
      void setAside(name, last, last.version).then(
        () => removeLast(last.version),
        () => undefined,
      );
    }
  }
}

/** @param {string} version */
function removeLast(version) {
  try {
    for (const key of Object.keys(localStorage).filter((one) => one.startsWith(LAST))) {
      if (localStorage.getItem(key)?.includes(`"version":"${version}"`)) localStorage.removeItem(key);
    }
  } catch {
    // What can't be removed is recognized by its version.
  }
}

/**
 * Returns the files of a name: an evaluator's changed ones, or those of the program, with what was
 * typed a moment ago.
 * @param {string} name
 * @returns {SourceFile[]}
 */
export function kept(name) {
  storeWaiting();
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
  const value = { files, histories, version: fresh() };
  const isSame = JSON.stringify(files) === JSON.stringify(kept(name));
  memory.set(name, value);
  pending.set(name, value);
  writeLater(name);
  announce();
  if (!isSame) for (const listener of listeners) listener(name);
}

/** @param {string} name */
function writeLater(name) {
  written = written.then(() => write(name));
}

/**
 * Writes what this tab has, unless another tab has written since this one read or wrote.
 * @param {string} name
 */
async function write(name) {
  const value = pending.get(name);
  if (!value) return;
  const base = bases.get(name) ?? "";
  /** @type {Kept | null} */
  let other = null;
  try {
    await update(PREFIX + name, (there) => {
      const isMine = [base, value.version].includes(there?.version ?? "");
      other = isMine || !isKept(there) ? null : complete(there);
      return other ? there : value;
    });
    if (other) {
      await setAside(name, value);
      conflicts.set(name, { other, isStored: true });
    } else {
      bases.set(name, value.version);
    }
    removeLast(value.version);
    if (pending.get(name) === value) pending.delete(name);
    problem = "";
  } catch (error) {
    problem = messageOf(error);
  }
  announce();
}

/**
 * Stores a state beside the one that has the place, until the user has chosen. It replaces the one
 * that the same tab has set aside before.
 * @param {string} name
 * @param {Kept} value
 */
async function setAside(name, value, tab = TAB) {
  await update(asideOf(name), (list) => [
    ...(list ?? []).filter((/** @type {any} */ one) => one.tab !== tab),
    { ...value, tab },
  ]);
}

/**
 * Removes what this tab has set aside, and a version that the user has seen.
 * @param {string} name
 * @param {string} version
 */
async function dropAside(name, version) {
  const isOpen = (/** @type {any} */ one) => one.tab !== TAB && one.version !== version;
  try {
    await update(asideOf(name), (list) => (list ?? []).filter(isOpen));
  } catch {
    // The user is asked again.
  }
}

/** The states between which the user has to choose, by name. */
export function openConflicts() {
  return conflicts;
}

/**
 * Ends a conflict by the user's choice.
 * @param {string} name
 * @param {"mine" | "other"} choice
 */
export function choose(name, choice) {
  const conflict = conflicts.get(name);
  if (!conflict) return;
  storeWaiting();
  conflicts.delete(name);
  const { other, isStored } = conflict;
  if (isStored) bases.set(name, other.version);
  if (choice === "other") memory.set(name, other);
  const mine = memory.get(name);
  if (choice === "other" && isStored) pending.delete(name);
  else if (mine) pending.set(name, mine);
  writeLater(name);
  written = written.then(() => dropAside(name, other.version));
  if (choice === "other") for (const replacer of replacers) replacer(name);
  announce();
}

/**
 * Calls back with the name when its files have changed.
 * @param {(name: string) => void} listener
 */
export function onKept(listener) {
  listeners.add(listener);
}

/**
 * Calls back with the name when the user has chosen other files than those in the editor.
 * @param {(name: string) => void} replacer
 */
export function onReplaced(replacer) {
  replacers.add(replacer);
}

/** Whether everything is stored; otherwise why it is not, which is "" while it is being written. */
export function storage() {
  return { isStored: !problem && !pending.size && !waiting.size, problem };
}

/**
 * Calls back when what `storage` and `openConflicts` return may have changed.
 * @param {() => void} observer
 */
export function onStorage(observer) {
  observers.add(observer);
}

function announce() {
  for (const observer of observers) observer();
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
    announce();
  };
}

/** Begins to store what is typed. */
export function storeWaiting() {
  const all = [...waiting];
  waiting.clear();
  for (const run of all) run();
}

/**
 * Stores everything before the tab may go: IndexedDB would take longer than the page has, so what
 * is not there yet is written to localStorage. Returns whether everything is stored.
 */
function storeAtOnce() {
  storeWaiting();
  let isStored = true;
  for (const [name, value] of pending) {
    const last = { name, base: bases.get(name) ?? "", ...value };
    const texts = [last, { ...last, histories: {} }].map((one) => JSON.stringify(one));
    isStored = texts.some((text) => setLast(LAST + name + TAB, text)) && isStored;
  }
  return isStored;
}

/**
 * @param {string} key
 * @param {string} text
 */
function setLast(key, text) {
  try {
    localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

window.addEventListener("pagehide", storeAtOnce);
document.addEventListener("visibilitychange", () => document.hidden && storeAtOnce());
window.addEventListener("beforeunload", (event) => {
  // The browser asks whether to leave.
  if (!storeAtOnce()) event.preventDefault();
});

/** Stores what is waiting, and resolves when all writes have ended. */
export function stored() {
  storeWaiting();
  return written;
}
