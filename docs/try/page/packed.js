// Files as a ZIP, and the sources in a file that is opened.

import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { messageOf } from "./dom.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */

/** Bytes of the largest file that is taken for a source. */
const LARGEST = 2 * 1024 * 1024;
/** Bytes of all files of a ZIP together. */
const LARGEST_ZIP = 16 * 1024 * 1024;

/** @param {SourceFile[]} files */
export function packed(files) {
  return zipSync(Object.fromEntries(files.map(({ name, text }) => [name, strToU8(text)])));
}

/**
 * Returns the text of a file, or the files of a ZIP without their folders.
 * @param {File} file
 * @returns {Promise<SourceFile[]>}
 */
export async function sourcesOf(file) {
  if (file.size > LARGEST)
    throw new Error(`${file.name} is too large for a source: ${file.size} bytes`);
  if (!/\.zip$/i.test(file.name)) return [{ name: file.name, text: await file.text() }];
  let total = 0;
  try {
    const files = unzipSync(new Uint8Array(await file.arrayBuffer()), {
      filter: ({ name, originalSize }) => {
        total += originalSize;
        if (total > LARGEST_ZIP) throw new Error("its files are too large for sources");
        return !name.endsWith("/");
      },
    });
    return Object.entries(files).map(([name, bytes]) => ({
      name: name.replace(/^.*\//, ""),
      text: strFromU8(bytes),
    }));
  } catch (error) {
    throw new Error(`${file.name} can't be opened as a ZIP: ${messageOf(error)}`);
  }
}
