// Links with changed code: the files, deflated, in base64url, in the fragment of the page's URL.

import { button, h, replace } from "./dom.js";
import { keep, kept } from "./kept.js";
import { current, update } from "./state.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */

/** Characters of the longest link that mail programs and chats leave whole. */
const LONGEST = 8000;
/** Characters of the largest code that a link can stand for. */
const LARGEST = 1 << 20;

/**
 * @param {BodyInit} bytes
 * @param {CompressionStream | DecompressionStream} by
 */
function through(bytes, by) {
  const { body } = new Response(bytes);
  if (!body) throw new Error("no bytes");
  return body.pipeThrough(/** @type {any} */ (by)).getReader();
}

/** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
async function all(reader) {
  /** @type {number[]} */
  const bytes = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    for (const byte of next.value) bytes.push(byte);
    if (bytes.length > LARGEST) throw new Error("the link's code is too large");
  }
  return Uint8Array.from(bytes);
}

/**
 * The link to the page as it is, with files; null if it is too long.
 * @param {SourceFile[]} files
 * @param {boolean} isChallenge
 */
export async function linkWith(files, isChallenge) {
  const url = new URL(location.href);
  if (isChallenge) url.hash += "&challenge=yes";
  if (files.length) {
    const json = JSON.stringify(files.map(({ name, text }) => [name, text]));
    const packed = await all(through(json, new CompressionStream("deflate-raw")));
    const text = btoa(String.fromCharCode(...packed.subarray(0, LONGEST)));
    url.hash += `&code=${text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
    if (packed.length > LONGEST || url.href.length > LONGEST) return null;
  }
  return url.href;
}

/**
 * The files of a link; throws if they are none.
 * @param {string} code
 * @returns {Promise<SourceFile[]>}
 */
async function filesOf(code) {
  const text = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const json = await all(through(bytes, new DecompressionStream("deflate-raw")));
  const pairs = JSON.parse(new TextDecoder().decode(json));
  const isPair = (/** @type {any} */ one) =>
    typeof one?.[0] === "string" && typeof one[1] === "string";
  if (!Array.isArray(pairs) || !pairs.every(isPair)) throw new Error("no files");
  return pairs.map(([name, text]) => ({ name, text }));
}

/**
 * Takes the code of the page's link, if it has any: at once if the user has none of his own, which
 * is never replaced unasked. The rest of the link stays.
 * @param {HTMLElement} host For what is to be said.
 */
export async function takeShared(host) {
  const code = /[#&]code=([\w-]+)/.exec(location.hash)?.[1];
  if (!code) return;
  const { behaviour } = current();
  const note = h("div", { class: "note", role: "status" });
  host.append(note);
  try {
    const files = await filesOf(code);
    const own = kept(behaviour);
    const names = files.map(({ name }) => name).join(", ");
    const take = () => {
      keep(behaviour, files, {});
      const back = () => {
        keep(behaviour, own, {});
        location.reload();
      };
      const isOther = own.length > 0 && JSON.stringify(own) !== JSON.stringify(files);
      replace(
        note,
        `The code of the link: ${names} (${behaviour}). `,
        isOther && button("Back to mine", back),
      );
    };
    if (!own.length || JSON.stringify(own) === JSON.stringify(files)) return take();
    const use = () => {
      take();
      update({ behaviour });
      location.reload();
    };
    replace(
      note,
      `The link has its own code of ${names}, and you have changes of yours. `,
      button("Use the link's", use),
      " ",
      button("Keep mine", () => {
        update({});
        note.remove();
      }),
    );
  } catch {
    replace(note, "The code in this link is damaged: it was shortened or changed on its way.");
  }
}
