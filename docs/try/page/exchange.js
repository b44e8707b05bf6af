// Task 1, a position: board, answer and Play; pieces, FEN and samples to set up another; and what
// the three evaluators find on a square.

import { BoardView, boardKeys } from "./board.js";
import { Facts } from "./facts.js";
import { button, choice, debounce, h, menu, messageOf, put } from "./dom.js";
import { kept, onKept } from "./kept.js";
import { PlayPanel } from "./play.js";
import { EMPTY, START, fenOf, piecesOf } from "./position.js";
import { linkWith } from "./share.js";
import { BEHAVIOURS, current, linkTo, onChange, update } from "./state.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").Examination} Examination */
/** @typedef {import("../worker.js").PieceLetter} PieceLetter */

/** Positions to begin with: name, FEN, square. */
const SAMPLES = /** @type {[string, string, string][]} */ ([
  ["A fault of the original", "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - - 0 1", "e4"],
  ["Two knights and a bishop", "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - - 0 1", "e4"],
  [
    "Rook, queen and queen on one file",
    "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1",
    "e5",
  ],
  ["Pinned pieces", "2kr4/6q1/8/5n2/2Kp4/3N3B/5Q2/6B1 w - - 0 1", "d4"],
  ["Start of a game", START, "e4"],
  ["Empty board", EMPTY, "e4"],
]);

const NOT_LOADED = "The evaluator is not loaded.";

export class ExchangeView {
  /**
   * @param {HTMLElement} host
   * @param {import("./client.js").Toolchain} toolchain
   */
  constructor(host, toolchain) {
    this.toolchain = toolchain;
    /** @type {Partial<Record<Behaviour, Examination>>} */
    this.answers = {};
    this.round = 0;
    this.board = new BoardView({
      onSelect: (square) => update({ square }),
      onPut: (changes) => this.putPieces(changes),
    });
    this.play = new PlayPanel(toolchain, this.board, {
      files: kept,
      onEnd: () => this.draw(true),
    });
    this.facts = new Facts((arrows) => this.play.playing || this.board.setArrows(arrows));
    this.problem = h("p", { class: "problem", role: "alert", id: "fen-problem" });
    this.assumed = h("p", { class: "hint", role: "status", id: "fen-assumed" });
    this.fen = h("input", {
      type: "text",
      id: "fen",
      spellcheck: "false",
      autocomplete: "off",
      "aria-describedby": "fen-problem fen-assumed",
      input: debounce(250, () => void this.typed()),
      change: () => void this.typed(),
    });
    this.own = h("p", { class: "note", hidden: true });
    this.said = h("span", { role: "status", class: "hint" });
    put(
      this.play.bar,
      menu(
        "More",
        button("Copy link", () => void this.copyLink()),
        button("Turn the board", () => this.board.flip()),
      ),
      this.said,
    );
    this.later = debounce(60, () => void this.examine());
    this.build(host);
    onChange((_, changed) => this.follow(changed));
    onKept(() => this.showPosition());
    toolchain.listen((event) => event.event === "broken" && this.draw());
    this.showPosition();
  }

  /** @param {HTMLElement} host */
  build(host) {
    put(
      host,
      h(
        "p",
        { class: "intro" },
        "Sargon is a chess program of 1978 for home computers with the Z80 processor. For each " +
          "piece it works out how many points its owner loses if the captures on its square are " +
          "played out; a pawn is worth 1, knight and bishop 3, rook 5, queen 9. That code runs " +
          "in this page: watch it, change it, test it, write your own.",
      ),
      h(
        "div",
        { class: "two exchange" },
        h("div", { class: "column" }, this.board.element, this.setup()),
        h(
          "div",
          { class: "column" },
          h("div", { class: "answer" }, this.facts.title, this.facts.summary, this.play.element),
          h(
            "div",
            { class: "details" },
            this.own,
            this.behaviours(),
            h(
              "p",
              { class: "hint" },
              "original is the program of 1978, corrected has none of its faults, and fast has " +
                "the corrected results in the least time.",
            ),
            this.facts.element,
          ),
        ),
      ),
    );
  }

  /** What sets a position up. */
  setup() {
    const names = SAMPLES.map(([name], index) => [String(index), name]);
    const samples = choice(
      "Position",
      /** @type {[string, string][]} */ ([["", "Choose…"], ...names]),
      (value) => {
        const sample = SAMPLES[Number(value)];
        if (value !== "" && sample) update({ fen: sample[1], square: sample[2] });
        samples.select.value = "";
      },
    );
    return h(
      "div",
      { class: "setup" },
      this.board.tools,
      boardKeys(),
      h("label", { class: "field wide" }, h("span", {}, "FEN"), this.fen),
      this.problem,
      this.assumed,
      h(
        "div",
        { class: "bar" },
        samples.element,
      ),
    );
  }

  behaviours() {
    const box = h("fieldset", { class: "behaviours" }, h("legend", {}, "Evaluator in detail"));
    for (const name of BEHAVIOURS) {
      const change = () => update({ behaviour: name });
      const radio = h("input", { type: "radio", name: "behaviour", value: name, change });
      put(box, h("label", {}, radio, name));
    }
    this.radios = /** @type {HTMLInputElement[]} */ ([...box.querySelectorAll("input")]);
    return box;
  }

  async copyLink() {
    try {
      const link = await linkWith(kept(current().behaviour), false);
      await navigator.clipboard.writeText(link ?? location.href);
      this.said.textContent = link ? "Copied." : "Copied without your code, which is too long.";
    } catch {
      this.said.textContent = "The browser's address line has the link.";
    }
  }

  /** Takes what stands in the field for the FEN; fields that it lacks are completed. */
  async typed() {
    const typed = this.fen.value.trim();
    if (typed === current().fen) return;
    try {
      const { fen, assumed } = await this.toolchain.call("normalise", { fen: typed });
      if (typed !== this.fen.value.trim()) return;
      update({ fen }, "fen");
      this.assumed.textContent = assumed && `Assumed: ${assumed}.`;
    } catch (error) {
      if (typed === this.fen.value.trim()) this.fail(error);
    }
  }

  /** @param {unknown} error */
  fail(error) {
    this.problem.textContent = messageOf(error);
    this.fen.setAttribute("aria-invalid", "true");
  }

  /** @param {[string, PieceLetter | null][]} changes */
  putPieces(changes) {
    const { fen } = current();
    const pieces = piecesOf(fen) ?? new Map();
    for (const [square, piece] of changes) {
      if (piece) pieces.set(square, piece);
      else pieces.delete(square);
    }
    update({ fen: fenOf(pieces, fen) });
  }

  /** @param {Set<string>} changed */
  follow(changed) {
    this.play.stop();
    this.play.live.hidden = true;
    if (changed.has("fen")) this.showPosition();
    else this.draw();
  }

  /** Shows the pieces at once, and asks for what is to be said of them. */
  showPosition() {
    const { fen } = current();
    if (this.fen.value.trim() !== fen) this.fen.value = fen;
    this.answers = {};
    this.facts.broken = "";
    this.problem.textContent = "";
    this.assumed.textContent = "";
    this.fen.removeAttribute("aria-invalid");
    this.draw();
    this.later();
  }

  /** Asks all evaluators, the one in detail first. Answers for an older position are dropped. */
  async examine() {
    const round = ++this.round;
    const { fen, behaviour } = current();
    const order = [behaviour, ...BEHAVIOURS.filter((other) => other !== behaviour)];
    for (const name of order) {
      const files = kept(name);
      const params = { fen, behaviour: name, ...(files.length ? { files } : {}) };
      try {
        const answer = await this.toolchain.call("examine", params);
        if (round !== this.round || fen !== current().fen) return;
        this.answers[name] = answer;
        this.draw();
      } catch (error) {
        if (round !== this.round || fen !== current().fen) return;
        if (!files.length) return this.fail(error);
        this.facts.broken = messageOf(error);
        this.draw();
      }
    }
  }

  /** @param {boolean} [isPlay] Whether the play itself has the board drawn. */
  draw(isPlay = false) {
    if (this.toolchain.broken) this.facts.broken = NOT_LOADED;
    const { fen, square, behaviour } = current();
    const pieces = piecesOf(fen) ?? new Map();
    const answer = this.answers[behaviour];
    const notes = new Map();
    for (const facts of answer?.squares ?? []) {
      const loss = facts.residue.board ?? facts.residue.reference;
      if (loss > 0) notes.set(facts.square, String(loss));
    }
    for (const radio of this.radios ?? []) radio.checked = radio.value === behaviour;
    if (isPlay || !this.play.playing) this.board.show(pieces, square, notes);
    this.facts.show(square, pieces.get(square), behaviour, this.answers);
    this.play.show(square, behaviour, this.answers);
    this.showOwn(behaviour);
  }

  /** @param {Behaviour} behaviour */
  showOwn(behaviour) {
    const names = kept(behaviour).map(({ name }) => name);
    this.own.hidden = names.length === 0;
    this.own.textContent = `With your changes of ${names.join(", ")}. `;
    put(this.own, h("a", { href: linkTo({ view: "evaluator" }) }, "Edit"));
  }
}
