// The little Markdown that hovers have: paragraphs, code blocks, `code` and **strong**. Everything
// else is text.

import { h, put } from "./dom.js";

/**
 * @param {string} line
 * @returns {(Node | string)[]}
 */
function inline(line) {
  return line.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return h("code", {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return h("strong", {}, part.slice(2, -2));
    return part;
  });
}

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  const box = h("div", { class: "markdown" });
  for (const [index, part] of text.split(/^```.*$/m).entries()) {
    if (index % 2 === 1) {
      put(box, h("pre", { tabindex: "0" }, part.replace(/^\n|\n$/g, "")));
      continue;
    }
    for (const paragraph of part.split(/\n\s*\n/)) {
      if (paragraph.trim())
        put(
          box,
          h(
            "p",
            {},
            ...paragraph
              .trim()
              .split("\n")
              .flatMap((line) => [...inline(line), " "]),
          ),
        );
    }
  }
  return box;
}
