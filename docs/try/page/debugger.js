// Stepping through the Z80 code, forward and back: registers, flags, the attackers array, calls.

import { button, grouped, h, hex, menu, messageOf, replace } from "./dom.js";
import { arrayView, calls, registers, roles } from "./registers.js";
import { TimeLine } from "./timeline.js";
import { WatchList } from "./watches.js";
import { closeTip, openTip } from "./words.js";

/** @typedef {import("../worker.js").DebugState} DebugState */
/** @typedef {import("../worker.js").Motion} Motion */
/** @typedef {import("../worker.js").Methods} Methods */

/** @typedef {[motion: Motion, text: string, key: string]} Tool */

/** Buttons of the toolbar, and of its menu, with keys within the panel. */
const TOOLBAR = /** @type {Tool[]} */ ([
  ["lineInto", "Step", "i"],
  ["line", "Over", "n"],
  ["out", "Out", "o"],
  ["backLine", "Back", "b"],
  ["go", "Run", "c"],
  ["backGo", "Run back", "B"],
]);
const MENU = /** @type {Tool[]} */ ([
  ["step", "An instruction", "."],
  ["back", "An instruction back", ","],
  ["restart", "Restart", "r"],
]);

/** Messages of breakpoints that stay in view. */
const LOG_LINES = 100;

/**
 * The panel whose board the worker has: there is one at a time.
 * @type {DebugPanel | null}
 */
let owner = null;

export class DebugPanel {
  /**
   * @param {import("./client.js").Toolchain} toolchain
   * @param {{ begin: () => Methods["debug.start"]["params"],
   *   stops: () => import("../worker.js").BreakpointWish[],
   *   onPlace: (place: { file: string, line: number } | null) => void, what: string }} wishes
   */
  constructor(toolchain, wishes) {
    this.toolchain = toolchain;
    this.wishes = wishes;
    this.running = 0;
    /** @type {DebugState | null} */
    this.state = null;
    this.start = button(wishes.what, () => void this.begin());
    this.pause = button(
      "Pause",
      () => void this.toolchain.call("stop", { request: this.running }),
      { disabled: true },
    );
    const [toolbar, more] = [TOOLBAR, MENU].map((motions) =>
      motions.map(([motion, text, key]) =>
        h(
          "button",
          {
            type: "button",
            disabled: true,
            "aria-keyshortcuts": key,
            "data-motion": motion,
            click: () => void this.move(motion),
          },
          text,
          " ",
          h("kbd", {}, key),
        ),
      ),
    );
    this.motions = [...toolbar, ...more];
    this.said = h("p", { role: "status", class: "text" });
    /** @type {string[]} */
    this.log = [];
    this.time = new TimeLine((step) => this.move("toStep", step));
    this.watches = new WatchList((line) => this.command(line));
    const explain = (/** @type {Event} */ event) => void this.explain(event.target);
    this.shown = h("div", {
      class: "debug-state",
      pointerover: explain,
      click: explain,
      pointerout: (/** @type {PointerEvent} */ event) =>
        event.pointerType === "mouse" && closeTip(),
    });
    this.element = h(
      "div",
      {
        class: "debugger",
        keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      },
      h("div", { class: "bar" }, this.start, this.pause),
      h(
        "div",
        { class: "bar", role: "group", "aria-label": "Debugger" },
        ...toolbar,
        menu("More", ...more),
      ),
      this.time.element,
      this.said,
      this.shown,
      this.watches.element,
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.state) return;
    if (event.target instanceof HTMLInputElement && event.target.type === "text") return;
    const found = [...TOOLBAR, ...MENU].find(([, , key]) => key === event.key);
    if (!found || this.running) return;
    event.preventDefault();
    void this.move(found[0]);
  }

  async begin() {
    if (owner !== this) owner?.forget();
    owner = this;
    this.time.clear();
    this.log = [];
    const watched = this.watches.expressions;
    await this.ask(() => this.toolchain.start("debug.start", this.wishes.begin()));
    await this.setStops();
    if (this.state) await this.watches.restore(watched);
  }

  /** Hands the editor's breakpoints to the board. */
  async setStops() {
    if (!this.state) return;
    try {
      await this.toolchain.call("debug.breakpoints", { breakpoints: this.wishes.stops() });
    } catch (error) {
      this.said.textContent = messageOf(error);
    }
  }

  /**
   * @param {Motion} motion
   * @param {number} [step]
   */
  move(motion, step) {
    const params = step === undefined ? { motion } : { motion, step };
    return this.ask(() => this.toolchain.start("debug.move", params));
  }

  /**
   * Has the debugger carry out a command, and shows the state after it.
   * @param {string} line
   */
  async command(line) {
    const { text, state } = await this.toolchain.call("debug.command", { line });
    this.show(state);
    return text;
  }

  /**
   * What a register or label stands for now; empty if the board is not halted or there is no such
   * name.
   * @param {string} word
   */
  async value(word) {
    if (!this.state || this.running) return "";
    const print = (/** @type {string} */ what) =>
      this.toolchain.call("debug.command", { line: `print ${what}` }).then(
        ({ text }) => text,
        () => "",
      );
    const text = await print(word);
    if (!text) return "";
    const isByte = /^[A-Za-z]'?$/.test(word);
    return [`${word} is ${text}`, isByte ? "" : await print(`[${word};8]`)]
      .filter(Boolean)
      .join("\n");
  }

  /** @param {EventTarget | null} target */
  async explain(target) {
    const cell = target instanceof Element ? target.closest("[data-register]") : null;
    const text = cell && (await this.value(cell.getAttribute("data-register") ?? ""));
    if (text && cell.matches(":hover")) openTip(cell, text);
  }

  /** @param {() => { id: number, reply: Promise<DebugState> }} send */
  async ask(send) {
    const { activeElement } = document;
    this.enable(false);
    try {
      const run = send();
      this.running = run.id;
      this.show(await run.reply);
    } catch (error) {
      this.said.textContent = messageOf(error);
    }
    this.running = 0;
    this.enable(this.state !== null);
    // A button that was disabled for a moment loses the focus.
    const isLost = document.activeElement === document.body;
    if (isLost && activeElement instanceof HTMLElement && this.element.contains(activeElement))
      activeElement.focus();
  }

  /** @param {boolean} still */
  enable(still) {
    for (const motion of this.motions) motion.disabled = !still;
    this.pause.disabled = still || this.state === null;
  }

  /** Forgets the board, as after another program was made. */
  forget() {
    this.state = null;
    this.enable(false);
    this.said.textContent = "";
    replace(this.shown);
    this.time.clear();
    this.watches.show([]);
    this.wishes.onPlace(null);
  }

  /** @param {DebugState} state */
  show(state) {
    const before = this.state;
    this.state = state;
    this.log = [...this.log, ...state.log].slice(-LOG_LINES);
    const place = state.place ? `${state.place.file}:${state.place.line}` : "";
    this.said.textContent = [state.message, place, state.label].filter(Boolean).join(" · ");
    replace(
      this.shown,
      h(
        "pre",
        { class: "instruction" },
        `${hex(state.instruction.address, 4)}H  ${state.instruction.text}`,
      ),
      state.place && h("pre", { class: "line", tabindex: "0" }, state.place.text),
      registers(state, before),
      arrayView(state, before),
      roles(state),
      calls(state),
      this.log.length > 0 &&
        h("pre", { class: "log", tabindex: "0", "aria-label": "Log" }, this.log.join("\n")),
      h(
        "p",
        {},
        `${grouped(state.elapsed)} T-states since the start, ${grouped(state.step)} instructions`,
      ),
    );
    this.time.show(state.step);
    this.watches.show(state.watches);
    this.wishes.onPlace(state.place);
  }
}
