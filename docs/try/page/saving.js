// Says whether the browser has stored what is typed, and lets the user choose where two tabs have
// changed the same files.

import { button, download, h, replace } from "./dom.js";
import { choose, kept, onStorage, openConflicts, storage } from "./kept.js";
import { packed } from "./packed.js";
import { current } from "./state.js";

/** Has the browser save what this tab has of the program or evaluator that is shown. */
function saveCopy() {
  const { view, behaviour } = current();
  const name = view === "program" ? view : behaviour;
  download(`${name}.zip`, packed(kept(name)));
}

export class SavingView {
  /** @param {HTMLElement} host */
  constructor(host) {
    this.state = h("p", { class: "hint", id: "saved" });
    this.problem = h("p", { role: "alert", class: "problem" });
    this.copy = button("Save a copy as a ZIP", saveCopy, { hidden: true });
    this.choices = h("div", { role: "status" });
    host.append(this.state, this.problem, this.copy, this.choices);
    /** @type {string} The names of the conflicts that are shown. */
    this.shown = "";
    onStorage(() => this.show());
    this.show();
  }

  show() {
    const { isStored, problem } = storage();
    const state = problem ? "" : isStored ? "Saved in this browser." : "Saving…";
    const text =
      problem &&
      `Not saved: ${problem.replace(/\.$/, "")}. What you type is kept while this tab is open: ` +
        "save a copy before you close it.";
    this.copy.hidden = !problem;
    if (this.state.textContent !== state) this.state.textContent = state;
    if (this.problem.textContent !== text) this.problem.textContent = text;
    const conflicts = [...openConflicts()];
    const shown = conflicts.map(([name, { other }]) => name + other.version).join();
    if (shown === this.shown) return;
    this.shown = shown;
    replace(this.choices, ...conflicts.map(([name, { other }]) => this.choice(name, other)));
  }

  /**
   * @param {string} name
   * @param {import("./kept.js").Kept} other
   */
  choice(name, other) {
    const what = name === "program" ? "your program" : `the evaluator ${name}`;
    return h(
      "div",
      { class: "note bar" },
      `Two tabs have changed ${what}; both versions are stored. `,
      button("Keep what this tab has", () => choose(name, "mine")),
      button("Take the other version", () => choose(name, "other")),
      button("Save the other version as a ZIP", () =>
        download(`${name}-other.zip`, packed(other.files)),
      ),
    );
  }
}
