// Texts that outlive a reload of the page, for as long as its tab is open.

/** @typedef {import("../worker.js").SourceFile} SourceFile */

const PREFIX = "tdl-try-sources-";

/**
 * Returns the files that were kept under a name.
 * @param {string} name
 * @returns {SourceFile[]}
 */
export function kept(name) {
  try {
    const files = JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "[]");
    const isFile = (/** @type {any} */ one) =>
      typeof one?.name === "string" && typeof one?.text === "string";
    return Array.isArray(files) ? files.filter(isFile) : [];
  } catch {
    return [];
  }
}

/**
 * @param {string} name
 * @param {SourceFile[]} files
 */
export function keep(name, files) {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(files));
  } catch {
    // A full or forbidden store: the texts last as long as the page.
  }
}
