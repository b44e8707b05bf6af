// Task 4, a real board over Web Serial: choose its port, ask who is there, write and verify the
// evaluator, run the corpus, talk to it by a terminal.

import { CorpusPanel } from "./corpus.js";
import { button, choice, h, messageOf, put, setOptions } from "./dom.js";
import { FIRST } from "./examples.js";
import { isolate } from "./isolation.js";
import { kept } from "./kept.js";
import { BoardLink, obstacle } from "./link.js";
import { BEHAVIOURS, current, onChange, update } from "./state.js";
import { TerminalView } from "./terminal.js";
import { isTest } from "./tests.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").Via} Via */

const WAYS = /** @type {[Via, string][]} */ ([
  ["auto", "whoever answers"],
  ["monitor", "this project's monitor"],
  ["scm", "Small Computer Monitor"],
  ["romwbw", "RomWBW"],
  ["basic", "BASIC"],
  ["cpm", "CP/M"],
]);

export class RealBoardView {
  /**
   * @param {HTMLElement} host
   * @param {import("./client.js").Toolchain} toolchain
   */
  constructor(host, toolchain) {
    this.toolchain = toolchain;
    /** @type {BoardLink | null} */
    this.link = null;
    /** @type {import("../worker.js").BoardInfo[]} */
    this.boards = [];
    put(host, h("h2", {}, "A real board"));
    const missing = obstacle();
    if (missing) put(host, h("p", { class: "note" }, missing));
    else void isolate().then((shared) => (shared ? this.build(host) : put(host, notShared())));
  }

  /** @param {HTMLElement} host */
  build(host) {
    this.board = choice("Board", [["rc2014-classic", "rc2014-classic"]], () => undefined);
    this.loader = choice("Loaded by", WAYS, () => undefined);
    this.behaviour = choice(
      "Evaluator",
      BEHAVIOURS.map((name) => [name, name]),
      (name) => update({ behaviour: /** @type {Behaviour} */ (name) }),
    );
    this.behaviour.select.value = current().behaviour;
    onChange((state) => this.behaviour && (this.behaviour.select.value = state.behaviour));
    const first = "First choose the serial port that the board is plugged into.";
    this.said = h("p", { role: "status" }, first);
    this.problem = h("p", { role: "alert", class: "problem" });
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Bytes done", hidden: true });
    this.log = h("pre", {
      role: "log",
      "aria-label": "What was done",
      tabindex: "0",
      class: "listing",
    });
    this.connect = button("Choose a port…", () => void this.choose(), { class: "main" });
    this.close = button("Close the port", () => void this.letGo(), { disabled: true });
    this.stop = button("Break off", () => this.link?.interrupt(), { disabled: true });
    this.works = [
      button("Who is there?", () => void this.probe()),
      button("Write the evaluator", () => void this.write()),
      button("Verify", () => void this.verify()),
      button("Write your program", () => void this.writeProgram()),
    ];
    this.talk = button("Open the terminal", () => void this.toggleTerminal(), {
      "aria-pressed": "false",
    });
    this.terminal = new TerminalView("Terminal of the board", (keys) => void this.link?.send(keys));
    this.terminal.element.hidden = true;
    this.corpus = new CorpusPanel(this.toolchain, {
      begin: (filter) => this.beginCorpus(filter),
      cancel: () => this.link?.interrupt(),
    });
    put(
      host,
      h(
        "div",
        { class: "two wide" },
        h(
          "div",
          { class: "column" },
          h("div", { class: "bar" }, this.board.element, this.loader.element, this.behaviour.element),
          h("div", { class: "bar" }, this.connect, this.close),
          this.said,
          this.problem,
          h("div", { class: "bar" }, ...this.works, this.stop),
          this.bar,
          this.log,
        ),
        h(
          "div",
          { class: "column" },
          h("h3", {}, "Corpus"),
          this.corpus.element,
          h("h3", {}, "Terminal"),
          h("div", { class: "bar" }, this.talk),
          this.terminal.element,
        ),
      ),
    );
    this.enable(false);
    this.toolchain.listen((event) => {
      if (event.event === "serial") this.follow(event);
    });
    void this.fillBoards();
  }

  async fillBoards() {
    const { boards } = await this.toolchain.call("boards", {});
    this.boards = boards;
    if (this.board)
      setOptions(
        this.board.select,
        boards.map((board) => [board.name, board.title]),
      );
  }

  options() {
    return { board: this.board?.select.value };
  }

  /** @param {boolean} usable */
  enable(usable) {
    for (const work of [...(this.works ?? []), this.talk, this.corpus?.start]) {
      if (work) work.disabled = !usable;
    }
  }

  /** @param {string} line */
  note(line) {
    this.log?.append(`${line}\n`);
    this.log?.scrollTo(0, this.log.scrollHeight);
  }

  /** @param {Extract<import("../worker.js").Event, { event: "serial" }>} event */
  follow(event) {
    if (this.bar && event.done !== undefined && event.total) {
      this.bar.max = event.total;
      this.bar.value = event.done;
    } else this.note(event.message);
  }

  /**
   * Does one thing with the board: nothing else can be begun meanwhile.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T | undefined>}
   */
  async busy(work) {
    const { activeElement } = document;
    if (this.problem) this.problem.textContent = "";
    this.enable(false);
    if (this.stop) this.stop.disabled = false;
    if (this.bar) this.bar.hidden = false;
    this.bar?.removeAttribute("value");
    try {
      await this.closeTerminal();
      return await work();
    } catch (error) {
      if (this.problem) this.problem.textContent = messageOf(error);
      return undefined;
    } finally {
      this.enable(this.link !== null);
      if (this.stop) this.stop.disabled = true;
      if (this.bar) this.bar.hidden = true;
      if (activeElement instanceof HTMLElement) activeElement.focus();
    }
  }

  async choose() {
    const info = this.boards.find((board) => board.name === this.board?.select.value);
    await this.busy(async () => {
      await this.letGo();
      this.link = await BoardLink.choose(info?.baud ?? 115200, () => void this.lost());
      await this.toolchain.call("serial.attach", {
        memory: this.link.memory,
        name: this.link.name,
      });
      if (this.said) this.said.textContent = `Open: ${this.link.name}`;
      if (this.close) this.close.disabled = false;
    });
  }

  async letGo() {
    const { link } = this;
    if (!link) return;
    this.link = null;
    this.enable(false);
    if (this.close) this.close.disabled = true;
    if (this.said) this.said.textContent = "Closed.";
    await this.toolchain.call("serial.detach", {}).catch(() => undefined);
    await link.close();
  }

  async lost() {
    if (!this.link) return;
    if (this.said)
      this.said.textContent = "The port has gone: plug it in again, and choose it anew.";
  }

  probe() {
    return this.busy(async () => {
      this.tell(await this.toolchain.call("serial.probe", this.options()));
    });
  }

  /** The evaluator with the user's changes. */
  evaluator() {
    const { behaviour } = current();
    const files = kept(behaviour);
    return { ...this.options(), behaviour, ...(files.length ? { files } : {}) };
  }

  via() {
    return { via: /** @type {Via} */ (this.loader?.select.value) };
  }

  write() {
    return this.busy(async () => {
      this.tell(
        await this.toolchain.call("serial.write", { ...this.evaluator(), ...this.via() }),
      );
    });
  }

  /** Writes the program of the other task, and shows what it sends. */
  async writeProgram() {
    const own = kept("program").filter((file) => !isTest(file));
    const program = own.length ? own : [FIRST];
    const written = await this.busy(() =>
      this.toolchain.call("serial.write", { ...this.options(), ...this.via(), program }),
    );
    if (!written) return;
    this.tell({ text: `${program[0].name}: ${written.text}` });
    this.openTerminal();
    this.terminal?.write(Uint8Array.from(written.received ?? []));
    await this.link?.talk((bytes) => this.terminal?.write(bytes));
  }

  verify() {
    return this.busy(async () => {
      const result = await this.toolchain.call("serial.verify", {
        ...this.evaluator(),
      });
      this.tell(result);
      this.said?.classList.toggle("differs", !result.same);
    });
  }

  /** @param {{ text: string }} result */
  tell({ text }) {
    this.note(text);
    if (!this.said) return;
    this.said.textContent = text;
    this.said.className = "text";
  }

  /** @param {string[]} filter */
  beginCorpus(filter) {
    const run = this.toolchain.start("serial.corpus", {
      ...this.evaluator(),
      ...(filter.length ? { filter } : {}),
    });
    void this.busy(() => run.reply.catch(() => undefined));
    return run;
  }

  async toggleTerminal() {
    if (!this.link || !this.talk) return;
    if (this.link.talking) return this.closeTerminal();
    this.openTerminal();
    await this.link.talk((bytes) => this.terminal?.write(bytes));
  }

  openTerminal() {
    this.terminal?.element.removeAttribute("hidden");
    this.terminal?.open();
    this.talk?.setAttribute("aria-pressed", "true");
    this.terminal?.terminal.focus();
  }

  async closeTerminal() {
    await this.link?.hush();
    this.talk?.setAttribute("aria-pressed", "false");
  }
}

/** Says why there is no shared memory, where there is Web Serial. */
function notShared() {
  return h(
    "p",
    { class: "note" },
    "This browser gives the page no shared memory, which the serial line needs. " +
      "It comes with the headers Cross-Origin-Opener-Policy: same-origin and " +
      "Cross-Origin-Embedder-Policy: require-corp, or with a service worker: " +
      "leave private browsing, and load the page again.",
  );
}
