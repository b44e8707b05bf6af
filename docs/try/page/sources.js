// Sources in the editor together with what the toolchain says of them: a list of files, messages
// with their places, and what is known about the name at the cursor. Both tasks with an editor have
// one.

import { button, choice, debounce, h, messageOf, put, replace, setOptions } from "./dom.js";
import { Editor } from "./editor.js";
import { markdown } from "./markdown.js";
import { onChange } from "./state.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */
/** @typedef {import("../worker.js").Sources} SourceSet */

/** Milliseconds of quiet after which texts are assembled. */
const QUIET = 250;
/** Messages that are listed at most. */
const MOST = 50;

export class Sources {
  /**
   * @param {import("./client.js").Toolchain} toolchain
   * @param {{ label: string, sources: () => SourceSet, onStops?: () => void,
   *   onEdit?: () => void, onChecked?: (errors: number) => void,
   *   value?: (word: string) => Promise<string> }} wishes
   */
  constructor(toolchain, wishes) {
    this.toolchain = toolchain;
    this.wishes = wishes;
    const files = choice("File", [], (name) => this.editor.show(name));
    this.select = files.select;
    this.files = files.element;
    this.host = h("div", { class: "editor" });
    this.count = h("p", { role: "status", class: "count" });
    this.list = h("ul", { class: "messages" });
    this.said = h("div", {}, this.count, this.list);
    this.about = h("div", { class: "about" });
    this.element = h(
      "div",
      {},
      this.host,
      this.said,
      h(
        "p",
        { class: "hint" },
        "F12 goes to a definition, F8 to the next message, Ctrl+Space completes, " +
          "F9 sets a breakpoint.",
      ),
      h("section", { "aria-label": "About the name at the cursor" }, this.about),
    );
    this.later = debounce(QUIET, () => void this.check());
    this.round = 0;
    // The toolchain answers for what it checked last, which may be the other editor's.
    onChange((_, changed) => {
      if (changed.has("view") && this.element.offsetParent) void this.check();
    });
    this.editor = new Editor(this.host, toolchain, {
      label: wishes.label,
      onEdit: () => {
        wishes.onEdit?.();
        this.later();
      },
      onShow: (file) => {
        this.select.value = file;
        void this.editor?.colour().catch(() => undefined);
      },
      onCursor: (place) => void this.describe(place),
      onStops: () => wishes.onStops?.(),
      value: wishes.value,
    });
  }

  /**
   * @param {SourceFile[]} files
   * @param {(file: string) => unknown} [undo] Histories of files that replace all others.
   */
  setFiles(files, undo) {
    setOptions(
      this.select,
      files.map(({ name }) => [name, name]),
    );
    this.editor.setFiles(files, undo);
    this.select.value = this.editor.file;
    return this.check();
  }

  /** Assembles what is in the editor, and shows what there is to say. */
  async check() {
    const round = ++this.round;
    try {
      const checked = await this.toolchain.call("check", this.wishes.sources());
      if (round !== this.round) return;
      // Warnings about files that are not in the editor are not for its reader.
      const own = new Set(this.editor.files().map(({ name }) => name));
      const messages = checked.messages.filter(
        ({ file, severity }) => own.has(file) || severity === "error",
      );
      this.editor.setMessages(messages);
      this.showMessages(messages);
      this.wishes.onChecked?.(messages.filter(({ severity }) => severity === "error").length);
      await this.editor.colour();
    } catch (error) {
      if (round === this.round) this.count.textContent = messageOf(error);
    }
  }

  /** @param {import("../worker.js").Message[]} messages */
  showMessages(messages) {
    const errors = messages.filter((message) => message.severity === "error").length;
    const others = messages.length - errors;
    const many = (/** @type {number} */ count, /** @type {string} */ what) =>
      count === 0 ? [] : [`${count} ${what}${count === 1 ? "" : "s"}`];
    const said = [...many(errors, "error"), ...many(others, "other message")].join(", ");
    this.countByFile(messages);
    const text = said ? `${said}.` : "Assembles without messages.";
    if (this.count.textContent !== text) this.count.textContent = text;
    this.count.classList.toggle("problem", errors > 0);
    replace(
      this.list,
      ...messages.slice(0, MOST).map((message) =>
        h(
          "li",
          { class: message.severity },
          button(`${message.file}:${message.line}:${message.column}`, () => {
            this.editor.show(message.file, message.line, message.column);
            this.editor.view.focus();
          }),
          h(
            "span",
            { class: "text" },
            `${message.severity} ${message.code}: ${message.message}`,
          ),
          message.help && h("span", { class: "hint text" }, message.help),
        ),
      ),
      messages.length > MOST && h("li", { class: "hint" }, `and ${messages.length - MOST} more`),
    );
  }

  /**
   * Puts the number of a file's errors beside its name in the list of files.
   * @param {import("../worker.js").Message[]} messages
   */
  countByFile(messages) {
    for (const option of this.select.options) {
      const own = messages.filter(
        ({ file, severity }) => file === option.value && severity === "error",
      ).length;
      option.textContent = own ? `${option.value} (${own})` : option.value;
    }
  }

  /** @param {import("../worker.js").Place} place */
  async describe(place) {
    const found = await this.toolchain.call("hover", place).catch(() => null);
    replace(this.about);
    if (found) put(this.about, markdown(found.markdown));
  }
}
