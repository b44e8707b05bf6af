// Task 3, any TDL program: open or drop files, assemble, download, run on the simulated board with
// a terminal, step through it.

import { DebugPanel } from "./debugger.js";
import {
  button,
  choice,
  download,
  h,
  hex,
  menu,
  messageOf,
  put,
  replace,
  setOptions,
} from "./dom.js";
import { EXAMPLES, FIRST } from "./examples.js";
import { keep, kept, keptHistory, onReplaced, storesLater } from "./kept.js";
import { acceptDrops, picker } from "./opening.js";
import { packed, sourcesOf } from "./packed.js";
import { Sources } from "./sources.js";
import { TerminalView } from "./terminal.js";
import { TestsPanel, isTest } from "./tests.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */
/** @typedef {import("../worker.js").OutputFile} OutputFile */

const SPEEDS = /** @type {[string, string][]} */ ([
  ["real", "as the board's"],
  ["full", "as fast as it goes"],
]);

export class ProgramView {
  /**
   * @param {HTMLElement} host
   * @param {import("./client.js").Toolchain} toolchain
   */
  constructor(host, toolchain) {
    this.toolchain = toolchain;
    this.keepLater = storesLater(() => this.keep());
    this.sources = new Sources(toolchain, {
      label: "Source of your program",
      sources: () => ({ files: this.program() }),
      onStops: () => void this.debug.setStops(),
      value: (word) => this.debug.value(word),
      onEdit: () => {
        this.keepLater();
        if (this.debug.state) this.debug.forget();
      },
    });
    this.main = choice("Main file", [], () => void this.sources.check());
    this.board = choice("Board", [["rc2014-classic", "rc2014-classic"]], () => undefined);
    this.speed = choice("Speed", SPEEDS, () => undefined);
    this.said = h("p", { role: "status" });
    this.problem = h("p", { role: "alert", class: "problem" });
    this.removed = h("p", { role: "status", class: "hint" });
    this.downloads = h("div", { class: "bar", role: "group", "aria-label": "Downloads" });
    this.listing = h("pre", {
      class: "listing",
      tabindex: "0",
      "aria-label": "Listing",
      role: "region",
    });
    this.listed = h("details", { hidden: true }, h("summary", {}, "Listing"), this.listing);
    this.state = h("span", { role: "status" });
    this.notice = h("p", { role: "status", class: "note", id: "run-notice" });
    this.terminal = new TerminalView(
      "Terminal of the simulated board",
      (keys) => void this.type(keys),
    );
    this.debug = new DebugPanel(toolchain, {
      what: "Stop at the first instruction",
      begin: () => ({ files: this.program(), board: this.board.select.value }),
      stops: () => this.sources.editor.breakpoints(),
      onPlace: (place) => this.sources.editor.setNext(place),
    });
    this.tests = new TestsPanel(toolchain, {
      files: () => this.sources.editor.files(),
      onLine: (file, line) => {
        this.sources.editor.show(file, line);
        this.sources.editor.view.focus();
      },
    });
    this.examples = choice("Example", [["", "Choose…"]], (title) => {
      const files = EXAMPLES.find(([name]) => name === title)?.[1];
      if (files) void this.take(files).then(() => this.choose(files[0].name));
      this.examples.select.value = "";
    });
    setOptions(this.examples.select, [
      ["", "Choose…"],
      .../** @type {[string, string][]} */ (EXAMPLES.map(([name]) => [name, name])),
    ]);
    this.build(host);
    acceptDrops(host, (files) => this.open(files));
    toolchain.listen((event) => event.event === "machine" && this.follow(event));
    onReplaced((name) => name === "program" && void this.setFiles(kept(name)));
    void this.begin();
  }

  /** @param {HTMLElement} host */
  build(host) {
    const open = (/** @type {File[]} */ files) => this.open(files);
    const files = picker("Open files…", "Files to open", { multiple: true }, open);
    const folder = picker("Open a folder…", "Folder to open", { webkitdirectory: true }, open);
    const name = h("input", {
      type: "text",
      size: 12,
      placeholder: "name.asm",
      "aria-label": "Name of a new file",
    });
    this.stop = button("Stop", () => void this.halt(), { disabled: true });
    this.reset = button(
      "Reset",
      () => void this.ask(() => this.toolchain.call("machine.reset", {})),
      { disabled: true },
    );
    const left = h(
      "div",
      { class: "column" },
      h(
        "div",
        { class: "bar" },
        this.sources.files,
        this.main.element,
        ...files,
        menu(
          "More",
          ...folder,
          button("Save all as a ZIP", () =>
            download("program.zip", packed(this.sources.editor.files())),
          ),
          button("Remove this file", () => this.remove()),
        ),
      ),
      h(
        "div",
        { class: "bar" },
        this.examples.element,
        name,
        button("New file", () => this.create(name.value)),
      ),
      h(
        "p",
        { class: "hint" },
        "Files can be dropped anywhere here. A file that another inserts is opened beside it.",
      ),
      this.problem,
      this.removed,
      this.sources.element,
    );
    const right = h(
      "div",
      { class: "column" },
      h("h2", {}, "Assemble"),
      h(
        "div",
        { class: "bar" },
        this.board.element,
        button("Assemble", () => void this.assemble()),
      ),
      this.said,
      this.downloads,
      this.listed,
      h("h2", {}, "Run on the simulated board"),
      h(
        "div",
        { class: "bar" },
        button("Run", () => void this.run(), { class: "main" }),
        this.stop,
        this.reset,
        this.speed.element,
        this.state,
      ),
      this.notice,
      this.terminal.element,
      this.tests.element,
      h("h2", {}, "Step by step"),
      this.debug.element,
    );
    put(host, h("div", { class: "two wide" }, left, right));
  }

  async begin() {
    const before = kept("program");
    await this.setFiles(before.length ? before : [FIRST], (file) =>
      keptHistory("program", file),
    );
    await this.ask(async () => {
      const { boards } = await this.toolchain.call("boards", {});
      setOptions(
        this.board.select,
        boards.map((board) => [board.name, board.title]),
      );
    });
  }

  /** All files, the main one first. */
  inOrder() {
    const main = this.main.select.value;
    const files = this.sources.editor.files();
    return [
      ...files.filter(({ name }) => name === main),
      ...files.filter(({ name }) => name !== main),
    ];
  }

  /** The sources, the main one first. */
  program() {
    return this.inOrder().filter((file) => !isTest(file));
  }

  /**
   * Makes a file the main one, and shows it.
   * @param {string} name
   */
  choose(name) {
    this.main.select.value = name;
    this.keepLater();
    this.sources.editor.show(name);
    return this.sources.check();
  }

  keep() {
    keep("program", this.inOrder(), this.sources.editor.histories());
  }

  /**
   * @param {SourceFile[]} files
   * @param {(file: string) => unknown} [undo] Histories of files that replace all others.
   */
  setFiles(files, undo) {
    setOptions(
      this.main.select,
      files.filter((file) => !isTest(file)).map(({ name }) => [name, name]),
    );
    this.tests.setFiles(files);
    const checked = this.sources.setFiles(files, undo);
    if (!undo) this.keepLater();
    return checked;
  }

  /** @param {File[]} opened */
  async open(opened) {
    this.problem.textContent = "";
    const files = [];
    for (const file of opened) {
      try {
        files.push(...(await sourcesOf(file)));
      } catch (error) {
        this.problem.textContent = messageOf(error);
      }
    }
    await this.take(files);
  }

  /**
   * Takes files into the editor; one of a name that is there replaces it, and the untouched example
   * goes.
   * @param {SourceFile[]} taken
   */
  async take(taken) {
    if (taken.length === 0) return;
    const files = new Map(this.sources.editor.files().map(({ name, text }) => [name, text]));
    if (files.size === 1 && files.get(FIRST.name) === FIRST.text) files.clear();
    for (const { name, text } of taken) files.set(name, text);
    await this.setFiles([...files].map(([name, text]) => ({ name, text })));
    this.sources.editor.show(taken[taken.length - 1].name);
  }

  /** @param {string} name */
  create(name) {
    const files = this.sources.editor.files();
    const wanted = name.trim();
    if (!/^[\w.-]{1,60}$/.test(wanted) || files.some((file) => file.name === wanted)) {
      this.problem.textContent =
        `"${wanted}" can't be the name of a new file: ` +
        "letters, digits, . _ - and no name twice";
      return;
    }
    this.problem.textContent = "";
    void this.setFiles([...files, { name: wanted, text: "" }]);
    this.sources.editor.show(wanted);
    this.sources.editor.view.focus();
  }

  /** Removes the file that is shown; a button brings it back, with its history. */
  remove() {
    const { editor } = this.sources;
    const { file } = editor;
    const before = editor.files();
    const histories = editor.histories();
    const rest = before.filter(({ name }) => name !== file);
    void this.setFiles(rest.length ? rest : [FIRST]);
    this.problem.textContent = "";
    replace(
      this.removed,
      `${file} is removed. `,
      button("Bring it back", () => {
        const now = editor.files().filter(({ name }) => rest.some((one) => one.name === name));
        const text = before.find(({ name }) => name === file)?.text ?? "";
        const all = { ...editor.histories(), [file]: histories[file] };
        void this.setFiles([...now, { name: file, text }], (name) => all[name]);
        this.keepLater();
        editor.show(file);
        replace(this.removed);
      }),
    );
  }

  /** @param {() => Promise<unknown>} work */
  async ask(work) {
    this.problem.textContent = "";
    this.notice.textContent = "";
    try {
      await work();
    } catch (error) {
      this.problem.textContent = messageOf(error);
    }
  }

  assemble() {
    return this.ask(async () => {
      const { messages, program, outputs, text } = await this.toolchain.call("assemble", {
        files: this.program(),
        board: this.board.select.value,
      });
      this.sources.editor.setMessages(messages);
      this.sources.showMessages(messages);
      const at = program && hex(program.address, 4);
      this.said.textContent = program
        ? `${program.size} bytes at ${at}H, CRC-32 ${program.crc32}`
        : "Not assembled.";
      if (program?.notice) this.said.textContent += `; ${program.notice}`;
      if (!program && !messages.length) this.problem.textContent = text;
      if (!program) this.sources.said.scrollIntoView({ block: "nearest" });
      replace(
        this.downloads,
        ...outputs.map((file) =>
          button(file.name, () => download(file.name, file.bytes), {
            "aria-label": `Download ${file.name}`,
          }),
        ),
      );
      this.showListing(outputs.find((file) => file.kind === "listing"));
    });
  }

  /** @param {OutputFile | undefined} file */
  showListing(file) {
    this.listed.hidden = !file;
    this.listing.textContent = file ? new TextDecoder().decode(file.bytes) : "";
  }

  run() {
    return this.ask(async () => {
      this.terminal.open();
      this.terminal.terminal.reset();
      this.running(true);
      this.state.textContent = "starting";
      try {
        const { entry, board, notice } = await this.toolchain.call("machine.start", {
          files: this.program(),
          board: this.board.select.value,
          speed: /** @type {"real" | "full"} */ (this.speed.select.value),
        });
        this.state.textContent = `runs on ${board} from ${hex(entry, 4)}H`;
        this.notice.textContent = notice;
        this.terminal.terminal.focus();
      } catch (error) {
        this.running(false);
        this.state.textContent = "";
        throw error;
      }
    });
  }

  halt() {
    return this.ask(async () => {
      await this.toolchain.call("machine.stop", {});
      this.running(false);
      this.state.textContent = "stopped";
    });
  }

  /** @param {boolean} running */
  running(running) {
    if (this.stop) this.stop.disabled = !running;
    if (this.reset) this.reset.disabled = !running;
  }

  /** @param {string} keys */
  async type(keys) {
    if (this.stop?.disabled) return;
    await this.toolchain.call("machine.input", { bytes: keys }).catch(() => undefined);
  }

  /** @param {Extract<import("../worker.js").Event, { event: "machine" }>} event */
  follow(event) {
    if (event.bytes) this.terminal.write(event.bytes);
    if (event.state && event.state !== "running") {
      this.state.textContent =
        event.state === "halted" ? "waits for keys, or has halted" : event.state;
      if (event.state === "stopped") this.running(false);
    }
  }
}
