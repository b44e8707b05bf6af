// Task 2, the evaluator's source: edit it, run the corpus with it, step through it, see its
// T-states by line.

import { ChallengePanel } from "./challenge.js";
import { CorpusPanel } from "./corpus.js";
import { DebugPanel } from "./debugger.js";
import { button, choice, download, grouped, h, menu, messageOf, put } from "./dom.js";
import { keep, kept, keptHistory, onReplaced, storeWaiting, storesLater } from "./kept.js";
import { packed } from "./packed.js";
import { Sources } from "./sources.js";
import { BEHAVIOURS, current, onChange, update } from "./state.js";
import { term } from "./words.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").SourceFile} SourceFile */

export class EvaluatorView {
  /**
   * @param {HTMLElement} host
   * @param {import("./client.js").Toolchain} toolchain
   */
  constructor(host, toolchain) {
    this.toolchain = toolchain;
    /** @type {SourceFile[]} */
    this.originals = [];
    /** @type {Behaviour | null} The evaluator whose files are in the editor. */
    this.loaded = null;
    this.keepLater = storesLater(() => this.keep());
    this.sources = new Sources(toolchain, {
      label: "Source of the evaluator",
      sources: () => ({ files: this.sources.editor.files(), behaviour: current().behaviour }),
      onEdit: () => this.edited(),
      onStops: () => void this.debug.setStops(),
      value: (word) => this.debug.value(word),
      onChecked: (errors) => void this.answer(errors),
    });
    this.corpus = new CorpusPanel(toolchain, {
      begin: (filter) =>
        toolchain.start("corpus", { ...this.program(), ...(filter.length ? { filter } : {}) }),
    });
    this.challenge = new ChallengePanel(toolchain, () => this.program());
    this.debug = new DebugPanel(toolchain, {
      what: "Stop at XCHNG for the square",
      begin: () => ({ fen: current().fen, square: current().square, ...this.program() }),
      stops: () => this.sources.editor.breakpoints(),
      onPlace: (place) => this.sources.editor.setNext(place),
    });
    this.behaviour = choice(
      "Evaluator",
      BEHAVIOURS.map((name) => [name, name]),
      (name) => update({ behaviour: /** @type {Behaviour} */ (name) }),
    );
    this.position = h("code", {}, `${current().square} of ${current().fen}`);
    this.answered = h("p", { role: "status", class: "text" });
    this.measured = h("p", { role: "status", class: "text" });
    this.changed = h("span", { role: "status", class: "hint" });
    this.build(host);
    onChange((state, changed) => {
      if (changed.has("behaviour")) void this.load();
      if (changed.has("fen") || changed.has("square")) void this.answer(0);
      if (changed.has("at")) this.showPlace();
      this.position.textContent = `${state.square} of ${state.fen}`;
    });
    onReplaced((name) => {
      if (name === this.loaded)
        void this.sources.setFiles(this.withChanges(this.loaded)).then(() => this.sayChanged());
    });
    const isChallenge = /[#&]challenge=yes/.test(location.hash);
    void this.load().then(() => (isChallenge ? this.challenge.run() : undefined));
  }

  /** @param {HTMLElement} host */
  build(host) {
    const left = h(
      "div",
      { class: "column" },
      h(
        "div",
        { class: "bar" },
        this.behaviour.element,
        this.sources.files,
        menu(
          "More",
          button("Back to the original", () => this.restore()),
          button("Save all as a ZIP", () =>
            download("evaluator.zip", packed(this.sources.editor.files())),
          ),
        ),
        this.changed,
      ),
      this.sources.element,
    );
    const right = h(
      "div",
      { class: "column" },
      h("h2", {}, term("corpus", "Corpus")),
      this.corpus.element,
      this.challenge.element,
      h("h2", {}, term("T-states"), " by line"),
      h(
        "div",
        { class: "bar" },
        button("Measure on the position", () => void this.measure()),
        button("Hide", () => this.sources.editor.setTimes(new Map())),
      ),
      this.measured,
      h("h2", {}, "Step by step"),
      h("p", { class: "hint" }, "Position: ", this.position),
      this.answered,
      this.debug.element,
    );
    put(host, h("div", { class: "two wide" }, left, right));
  }

  /** The evaluator as it is in the editor: only files that were changed go along. */
  program() {
    const files = this.changedFiles();
    return { behaviour: current().behaviour, ...(files.length ? { files } : {}) };
  }

  changedFiles() {
    const files = this.sources.editor.files();
    return files.filter(({ name, text }) => this.originalOf(name) !== text);
  }

  /** @param {string} name */
  originalOf(name) {
    return this.originals.find((file) => file.name === name)?.text;
  }

  async load() {
    const { behaviour } = current();
    this.behaviour.select.value = behaviour;
    this.debug.forget();
    this.measured.textContent = "";
    try {
      const { files } = await this.toolchain.call("sources", { behaviour });
      if (behaviour !== current().behaviour) return;
      // What was typed belongs to the evaluator before.
      storeWaiting();
      this.loaded = behaviour;
      // A file for routines of one's own, which no program here inserts: it is there all the same.
      this.originals = files.filter(({ name }) => name !== "names.asm");
      await this.sources.setFiles(this.withChanges(behaviour), (file) =>
        keptHistory(behaviour, file),
      );
      this.behaviour.select.dataset.loaded = behaviour;
      this.sayChanged();
      this.showPlace();
    } catch (error) {
      this.changed.textContent = messageOf(error);
    }
  }

  /**
   * The evaluator's files with the changes that are kept.
   * @param {Behaviour} behaviour
   */
  withChanges(behaviour) {
    const changed = new Map(kept(behaviour).map(({ name, text }) => [name, text]));
    return this.originals.map(({ name, text }) => ({ name, text: changed.get(name) ?? text }));
  }

  /** Shows the line that the link names. */
  showPlace() {
    const [file, line] = current().at.split(":");
    if (line) this.sources.editor.show(file, Number(line));
  }

  edited() {
    this.keepLater();
    if (this.debug.state) this.debug.forget();
  }

  keep() {
    if (!this.loaded) return;
    keep(this.loaded, this.changedFiles(), this.sources.editor.histories());
    this.sayChanged();
  }

  sayChanged() {
    const names = this.changedFiles().map(({ name }) => name);
    const text = names.length ? `Changed: ${names.join(", ")}` : "As in the repository.";
    if (this.changed.textContent !== text) this.changed.textContent = text;
  }

  restore() {
    void this.sources.setFiles(this.originals).then(() => this.keep());
  }

  /**
   * Says what the evaluator in the editor answers for the position and square in question.
   * @param {number} errors
   */
  async answer(errors) {
    const { fen, square } = current();
    this.answered.textContent = "";
    if (errors) return;
    try {
      const { squares, boardError } = await this.toolchain.call("examine", {
        fen,
        square,
        ...this.program(),
      });
      const residue = squares.find((one) => one.square === square)?.residue;
      if (square !== current().square || fen !== current().fen) return;
      const board = boardError ?? `this code says ${residue?.board}`;
      this.answered.textContent = residue
        ? `On ${square} ${board}, the reference ${residue.reference}.`
        : `Nobody stands on ${square}.`;
    } catch (error) {
      this.answered.textContent = messageOf(error);
    }
  }

  async measure() {
    const { fen } = current();
    this.measured.textContent = "Running…";
    try {
      const { files, total } = await this.toolchain.call("tstates", { fen, ...this.program() });
      this.sources.editor.setTimes(
        new Map(
          files.map((file) => [file.name, new Map(file.lines.map((line) => [line.line, line]))]),
        ),
      );
      this.measured.textContent =
        `${grouped(total)} T-states in all, ` +
        "the serial line among them; the gutter has them by line.";
    } catch (error) {
      this.measured.textContent = messageOf(error);
    }
  }
}
