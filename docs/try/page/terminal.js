// A terminal of xterm.js: shows what a board sends, hands on what is typed. F6 leads out of it by
// keyboard.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import looks from "@xterm/xterm/css/xterm.css";
import { button, h } from "./dom.js";

const sheet = new CSSStyleSheet();
sheet.replaceSync(looks);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

export class TerminalView {
  /**
   * @param {string} label
   * @param {(keys: string) => void} onKeys
   */
  constructor(label, onKeys) {
    const css = getComputedStyle(document.documentElement);
    const size = Number.parseFloat(css.fontSize) * 0.9;
    this.terminal = new Terminal({
      fontFamily: "ui-monospace, monospace",
      fontSize: Math.round(size),
      scrollback: 2000,
      screenReaderMode: true,
      convertEol: false,
      theme: { background: "#1c1917", foreground: "#f5f5f4", cursor: "#fdba74" },
    });
    this.fit = new FitAddon();
    this.terminal.loadAddon(this.fit);
    this.terminal.onData(onKeys);
    this.after = button("Clear the terminal", () => this.terminal.clear());
    // Tab is a key of the board's, so another one leads out of the terminal.
    this.terminal.attachCustomKeyEventHandler((event) => {
      if (event.key !== "F6") return true;
      if (event.type === "keydown") this.after.focus();
      return false;
    });
    this.host = h("div", { class: "terminal" });
    this.element = h(
      "div",
      { role: "group", "aria-label": label },
      this.host,
      h(
        "div",
        { class: "bar" },
        this.after,
        h("span", { class: "hint" }, "F6 leaves the terminal."),
      ),
    );
    this.opened = false;
  }

  /** Opens the terminal in the page; its host must be visible. */
  open() {
    if (this.opened) return;
    this.opened = true;
    this.terminal.open(this.host);
    this.fit.fit();
    new ResizeObserver(() => this.host.offsetWidth > 0 && this.fit.fit()).observe(this.host);
  }

  /** @param {Uint8Array | string} output */
  write(output) {
    this.terminal.write(output);
  }

  /** The text on the screen and above it. */
  text() {
    const buffer = this.terminal.buffer.active;
    const lines = [];
    for (let row = 0; row < buffer.length; row++)
      lines.push(buffer.getLine(row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }
}
