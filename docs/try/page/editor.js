// The editor of TDL sources: several files, one shown; messages, colours, hovers and completions
// are the toolchain's.

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyField,
  historyKeymap,
  isolateHistory,
} from "@codemirror/commands";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { debounce, h } from "./dom.js";
import { markdown } from "./markdown.js";
import { marks, setCurrent, setStops, setTimes, setTokens } from "./marks.js";

/** @typedef {import("../worker.js").Message} Message */
/** @typedef {import("../worker.js").Place} Place */
/** @typedef {import("../worker.js").SourceFile} SourceFile */
/**
 * @typedef {{ label: string, onEdit: () => void, onShow: (file: string) => void,
 *   onCursor: (place: Place) => void, onStops: () => void,
 *   value?: (word: string) => Promise<string> }} Wishes
 */

/** Milliseconds of quiet after which the cursor's place is reported. */
const REST = 300;

export class Editor {
  /**
   * @param {HTMLElement} host
   * @param {import("./client.js").Toolchain} toolchain
   * @param {Wishes} wishes
   */
  constructor(host, toolchain, wishes) {
    this.toolchain = toolchain;
    this.wishes = wishes;
    /** @type {Map<string, EditorState>} */
    this.states = new Map();
    /** @type {Message[]} */
    this.messages = [];
    /** @type {Map<string, import("./marks.js").Times>} */
    this.times = new Map();
    /** @type {Map<string, Set<number>>} */
    this.stops = new Map();
    /** @type {{ file: string, line: number } | null} */
    this.next = null;
    this.file = "";
    this.view = new EditorView({ parent: host, state: this.fresh("") });
  }

  /**
   * @param {string} text
   * @param {unknown} [undo] The history that `histories` returned for the same text.
   */
  fresh(text, undo) {
    const cursor = debounce(REST, () =>
      this.wishes.onCursor(this.placeAt(this.view.state.selection.main.head)),
    );
    const config = {
      extensions: [
        marks((line) => this.toggleStop(line)),
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        autocompletion({ override: [(context) => this.complete(context)] }),
        hoverTooltip((view, position) => this.hover(view, position)),
        EditorView.contentAttributes.of({
          "aria-label": this.wishes.label,
          tabindex: "0",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.edited();
          if (update.docChanged || update.selectionSet) cursor();
        }),
        keymap.of([
          { key: "F12", run: () => this.define() },
          {
            key: "F9",
            run: (view) =>
              this.toggleStop(view.state.doc.lineAt(view.state.selection.main.head).number),
          },
          ...completionKeymap,
          ...lintKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
      ],
    };
    const selection = { ranges: [{ anchor: 0, head: 0 }], main: 0 };
    try {
      const json = { doc: text, selection, history: undo };
      if (undo) return EditorState.fromJSON(json, config, { history: historyField });
    } catch {
      // A history of another version of the page: the text is what counts.
    }
    return EditorState.create({ ...config, doc: text });
  }

  /**
   * Takes other files, and shows the first or the one that was shown. A file that was there before
   * is changed as by an edit, which can be undone.
   * @param {SourceFile[]} files
   * @param {(file: string) => unknown} [undo] Histories of files that replace all others.
   */
  setFiles(files, undo) {
    this.keep();
    const shown = this.file;
    const before = undo ? new Map() : this.states;
    const state = (/** @type {SourceFile} */ { name, text }) => {
      const there = before.get(name);
      if (!there) return this.fresh(text, undo?.(name));
      if (there.doc.toString() === text) return there;
      // Undone by itself, however soon it follows what was typed.
      const annotations = isolateHistory.of("full");
      const changes = { from: 0, to: there.doc.length, insert: text };
      return there.update({ changes, annotations }).state;
    };
    this.states = new Map(files.map((file) => [file.name, state(file)]));
    this.messages = [];
    this.times.clear();
    this.next = null;
    this.file = "";
    this.show(this.states.has(shown) ? shown : (files[0]?.name ?? ""));
  }

  /** All files with their texts as they are now. */
  files() {
    this.keep();
    return [...this.states].map(([name, state]) => ({ name, text: state.doc.toString() }));
  }

  /** The undo history of each file that has one, to be stored. */
  histories() {
    this.keep();
    const json = (/** @type {EditorState} */ state) =>
      state.toJSON({ history: historyField }).history;
    const all = [...this.states].map(([name, state]) => [name, json(state)]);
    return Object.fromEntries(all.filter(([, it]) => it.done.length || it.undone.length));
  }

  keep() {
    if (this.states.has(this.file)) this.states.set(this.file, this.view.state);
  }

  /**
   * Shows a file, and a place in it.
   * @param {string} file
   * @param {number} [line]
   * @param {number} [column]
   */
  show(file, line, column = 1) {
    this.keep();
    const state = this.states.get(file);
    if (!state) return false;
    if (file !== this.file) {
      this.file = file;
      this.view.setState(state);
      this.decorate();
      this.wishes.onShow(file);
    }
    if (line !== undefined && line <= this.view.state.doc.lines) {
      const at = this.view.state.doc.line(Math.max(line, 1));
      const anchor = Math.min(at.from + column - 1, at.to);
      this.view.dispatch({
        selection: { anchor },
        effects: EditorView.scrollIntoView(anchor, { y: "center" }),
      });
    }
    return true;
  }

  edited() {
    this.times.delete(this.file);
    this.wishes.onEdit();
  }

  /** Puts on the file that is shown what is known about it. */
  decorate() {
    this.view.dispatch({
      effects: [
        setTimes.of(this.times.get(this.file) ?? new Map()),
        setStops.of(this.stops.get(this.file) ?? new Set()),
        setCurrent.of(this.next?.file === this.file ? this.next.line : 0),
      ],
    });
    const { doc } = this.view.state;
    const own = this.messages.filter((message) => message.file === this.file);
    const diagnostics = own.map((message) => {
      const from = offset(doc, message.line, message.column);
      const to = Math.max(from, offset(doc, message.endLine, message.endColumn));
      const severity =
        message.severity === "note" ? /** @type {const} */ ("info") : message.severity;
      return {
        from,
        to,
        severity,
        message: [`${message.code}: ${message.message}`, message.help].filter(Boolean).join("\n"),
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** @param {Message[]} messages */
  setMessages(messages) {
    this.messages = messages;
    this.decorate();
  }

  /** Asks for the colours of the file that is shown, by the text that was checked last. */
  async colour() {
    const { file } = this;
    const { doc } = this.view.state;
    if (file.endsWith(".toml")) return;
    const { tokens } = await this.toolchain.call("tokens", { file });
    if (file === this.file && doc === this.view.state.doc)
      this.view.dispatch({ effects: setTokens.of(tokens) });
  }

  /** @param {Map<string, import("./marks.js").Times>} times */
  setTimes(times) {
    this.times = times;
    this.decorate();
  }

  /**
   * Marks the line that runs next.
   * @param {{ file: string, line: number } | null} place
   */
  setNext(place) {
    this.next = place;
    if (place) this.show(place.file, place.line);
    this.decorate();
  }

  /** @param {number} line */
  toggleStop(line) {
    const lines = this.stops.get(this.file) ?? new Set();
    if (!lines.delete(line)) lines.add(line);
    this.stops.set(this.file, lines);
    this.decorate();
    this.wishes.onStops();
    return true;
  }

  /** All breakpoints, as the worker takes them. */
  breakpoints() {
    return [...this.stops].flatMap(([file, lines]) => [...lines].map((line) => ({ file, line })));
  }

  /**
   * @param {number} position
   * @returns {Place}
   */
  placeAt(position) {
    const line = this.view.state.doc.lineAt(position);
    return { file: this.file, line: line.number, column: position - line.from + 1 };
  }

  /**
   * @param {EditorView} view
   * @param {number} position
   */
  async hover(view, position) {
    const { doc } = view.state;
    const word = view.state.wordAt(position);
    const [found, value] = await Promise.all([
      this.toolchain.call("hover", this.placeAt(position)).catch(() => null),
      word && this.wishes.value?.(doc.sliceString(word.from, word.to)),
    ]);
    if (!found && !(word && value)) return null;
    const dom = found ? markdown(found.markdown) : h("div", { class: "markdown" });
    if (value) dom.prepend(h("pre", { class: "value" }, value));
    return {
      pos: found ? offset(doc, found.from.line, found.from.column) : (word?.from ?? position),
      end: found ? offset(doc, found.to.line, found.to.column) : (word?.to ?? position),
      above: true,
      create: () => ({ dom }),
    };
  }

  /** @param {import("@codemirror/autocomplete").CompletionContext} context */
  async complete(context) {
    const word = context.matchBefore(/[\w.%$?@]+/);
    if (!word && !context.explicit) return null;
    const place = this.placeAt(context.pos);
    const { items } = await this.toolchain.call("completion", place).catch(() => ({ items: [] }));
    return {
      from: word ? word.from : context.pos,
      options: items.map((item) => ({
        label: item.label,
        detail: item.detail,
        apply: item.insert,
        info: item.documentation,
      })),
    };
  }

  /** Goes to where the name at the cursor is defined. */
  define() {
    const place = this.placeAt(this.view.state.selection.main.head);
    void this.toolchain.call("definition", place).then(
      (found) => {
        if (found && this.show(found.file, found.line, found.column)) this.view.focus();
      },
      () => undefined,
    );
    return true;
  }
}

/**
 * @param {import("@codemirror/state").Text} doc
 * @param {number} line
 * @param {number} column
 */
function offset(doc, line, column) {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(at.from + Math.max(column, 1) - 1, at.to);
}
