// Files that the user opens: chosen, a folder of them, or dropped.

import { button, h } from "./dom.js";

/**
 * A button that lets the user choose files, with its hidden field.
 * @param {string} text
 * @param {string} label
 * @param {Record<string, any>} attributes
 * @param {(files: File[]) => Promise<void>} open
 * @returns {[HTMLButtonElement, HTMLInputElement]}
 */
export function picker(text, label, attributes, open) {
  const field = h("input", {
    type: "file",
    class: "unseen",
    tabindex: "-1",
    "aria-label": label,
    change: () => void open([...(field.files ?? [])]).then(() => (field.value = "")),
    ...attributes,
  });
  return [button(text, () => field.click()), field];
}

/**
 * Takes files that are dropped anywhere while an element is shown.
 * @param {HTMLElement} host
 * @param {(files: File[]) => Promise<void>} open
 */
export function acceptDrops(host, open) {
  const over = (/** @type {DragEvent} */ event) => {
    if (host.hidden || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    host.classList.toggle("dropping", event.type === "dragover");
    if (event.type === "drop") void open([...event.dataTransfer.files]);
  };
  for (const type of /** @type {const} */ (["dragover", "dragleave", "drop"]))
    window.addEventListener(type, over, true);
}
