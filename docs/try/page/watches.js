// Expressions whose values are shown whenever the debugger halts.

import { button, h, messageOf, replace } from "./dom.js";

export class WatchList {
  /** @param {(line: string) => Promise<string>} command Carries out a command of the debugger. */
  constructor(command) {
    this.command = command;
    /** @type {string[]} */
    this.expressions = [];
    this.list = h("ul", { class: "watches" });
    this.problem = h("span", { "aria-live": "polite", class: "problem" });
    this.field = h("input", {
      type: "text",
      size: 14,
      placeholder: "HL, [ATKLST;14]",
      "aria-label": "Expression to watch",
      keydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && void this.add(),
    });
    this.element = h(
      "div",
      { hidden: true },
      h("h3", {}, "Watch"),
      this.list,
      h(
        "div",
        { class: "bar" },
        this.field,
        button("Watch", () => void this.add()),
        this.problem,
      ),
    );
  }

  async add() {
    const text = this.field.value.trim();
    if (!text) return;
    this.problem.textContent = "";
    try {
      await this.command(`display ${text}`);
      this.expressions = [...this.expressions, text];
      this.field.value = "";
    } catch (error) {
      this.problem.textContent = messageOf(error);
    }
  }

  /**
   * Watches the same in a new session, as far as it has such names.
   * @param {string[]} expressions
   */
  async restore(expressions) {
    for (const text of expressions) await this.command(`display ${text}`).catch(() => "");
  }

  /** @param {string[]} watches As the debugger lists them: a number, ": ", and the rest. */
  show(watches) {
    this.element.hidden = false;
    const item = (/** @type {string} */ watch) => {
      const [number] = watch.split(":", 1);
      const text = watch.slice(number.length + 2);
      const remove = async () => {
        this.expressions = this.expressions.filter((one) => !text.startsWith(`${one} = `));
        await this.command(`delete ${number}`);
        this.field.focus();
      };
      const label = `Stop watching ${text.split(" = ", 1)[0]}`;
      return h("li", {}, h("code", {}, text), button("✕", () => void remove(), { "aria-label": label }));
    };
    replace(this.list, ...watches.map(item));
  }
}
