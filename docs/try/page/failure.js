// A part of the page that can't be loaded: the reason, and a button to try again.

import { button, h, replace } from "./dom.js";

/**
 * Loads the page again if the server answers; files and settings are stored.
 * @param {HTMLElement} said
 */
async function tryAgain(said) {
  replace(said, "Trying…");
  try {
    const { ok, status } = await fetch(document.baseURI, { cache: "no-store" });
    if (!ok) throw new Error(`the server answers ${status}`);
    location.reload();
  } catch {
    replace(said, "No connection to the server of this page yet.");
  }
}

/**
 * A failure with the button that loads the page again.
 * @param {string} message
 */
export function failure(message) {
  const said = h("span", { role: "status", class: "hint" });
  return h(
    "div",
    { class: "failure", role: "alert" },
    h("p", { class: "problem" }, message),
    h("div", { class: "bar" }, button("Try again", () => void tryAgain(said)), said),
  );
}
