// Task 1, an exchange: board, FEN and link beside the answers of the three evaluators for a square.

import { BoardView, boardKeys } from "./board.js";
import { Facts } from "./facts.js";
import { button, choice, debounce, h, messageOf, put } from "./dom.js";
import { EMPTY, START, fenOf, piecesOf } from "./position.js";
import { BEHAVIOURS, current, onChange, update } from "./state.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").Examination} Examination */
/** @typedef {import("../worker.js").PieceLetter} PieceLetter */

/** Positions to begin with: name, FEN, square. */
const SAMPLES = /** @type {[string, string, string][]} */ ([
  ["Two knights and a bishop", "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - - 0 1", "e4"],
  [
    "Rook, queen and queen on one file",
    "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1",
    "e5",
  ],
  ["Pinned pieces", "2kr4/6q1/8/5n2/2Kp4/3N3B/5Q2/6B1 w - - 0 1", "d4"],
  ["A fault of 1978", "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - - 0 1", "e4"],
  ["Start of a game", START, "e4"],
  ["Empty board", EMPTY, "e4"],
]);

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
    this.facts = new Facts((arrows) => this.board.setArrows(arrows));
    this.problem = h("p", { class: "problem", role: "alert", id: "fen-problem" });
    this.fen = h("input", {
      type: "text",
      id: "fen",
      spellcheck: "false",
      autocomplete: "off",
      "aria-describedby": "fen-problem",
      input: debounce(250, () => this.typed()),
      change: () => this.typed(),
    });
    this.said = h("span", { role: "status", class: "hint" });
    this.later = debounce(60, () => void this.examine());
    this.build(host);
    onChange((_, changed) => this.follow(changed));
    this.showPosition();
  }

  /** @param {HTMLElement} host */
  build(host) {
    const samples = choice(
      "Position",
      [
        ["", "Choose…"],
        ...SAMPLES.map(([name], index) => /** @type {[string, string]} */ ([String(index), name])),
      ],
      (value) => {
        const sample = SAMPLES[Number(value)];
        if (value !== "" && sample) update({ fen: sample[1], square: sample[2] });
        samples.select.value = "";
      },
    );
    const behaviour = h(
      "fieldset",
      { class: "behaviours" },
      h("legend", {}, "Evaluator in detail"),
      ...BEHAVIOURS.map((name) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name: "behaviour",
            value: name,
            change: () => update({ behaviour: name }),
          }),
          name,
        ),
      ),
    );
    this.radios = /** @type {HTMLInputElement[]} */ ([...behaviour.querySelectorAll("input")]);
    const left = h(
      "div",
      { class: "column" },
      this.board.element,
      boardKeys(),
      h("label", { class: "field wide" }, h("span", {}, "FEN"), this.fen),
      this.problem,
      h(
        "div",
        { class: "bar" },
        samples.element,
        button("Turn the board", () => this.board.flip()),
        button("Copy link", () => void this.copyLink()),
        this.said,
      ),
    );
    put(
      host,
      h(
        "div",
        { class: "two" },
        left,
        h("div", { class: "column" }, behaviour, this.facts.element),
      ),
    );
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.said.textContent = "Copied.";
    } catch {
      this.said.textContent = "The browser's address line has the link.";
    }
  }

  /** Takes what stands in the field for the FEN. */
  typed() {
    const fen = this.fen.value.trim();
    if (fen === current().fen) return;
    if (piecesOf(fen)) update({ fen });
    else void this.refuse(fen);
  }

  /**
   * Says what is wrong with a FEN, in the program's words.
   * @param {string} fen
   */
  async refuse(fen) {
    try {
      const { fen: understood } = await this.toolchain.call("normalise", { fen });
      update({ fen: understood });
    } catch (error) {
      this.fail(error);
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
    if (changed.has("fen")) this.showPosition();
    else this.draw();
  }

  /** Shows the pieces at once, and asks for what is to be said of them. */
  showPosition() {
    const { fen } = current();
    if (this.fen.value.trim() !== fen) this.fen.value = fen;
    this.answers = {};
    this.problem.textContent = "";
    this.fen.removeAttribute("aria-invalid");
    this.draw();
    this.later();
  }

  /** Asks all evaluators, the one in detail first. Answers for an older position are dropped. */
  async examine() {
    const round = ++this.round;
    const { fen, behaviour } = current();
    const order = [behaviour, ...BEHAVIOURS.filter((other) => other !== behaviour)];
    try {
      for (const name of order) {
        const answer = await this.toolchain.call("examine", { fen, behaviour: name });
        if (round !== this.round || fen !== current().fen) return;
        this.answers[name] = answer;
        this.draw();
      }
    } catch (error) {
      if (round === this.round && fen === current().fen) this.fail(error);
    }
  }

  draw() {
    const { fen, square, behaviour } = current();
    const pieces = piecesOf(fen) ?? new Map();
    const answer = this.answers[behaviour];
    const notes = new Map();
    for (const facts of answer?.squares ?? []) {
      const loss = facts.residue.board ?? facts.residue.reference;
      if (loss > 0) notes.set(facts.square, String(loss));
    }
    for (const radio of this.radios ?? []) radio.checked = radio.value === behaviour;
    this.board.show(pieces, square, notes);
    this.facts.show(square, pieces.get(square), behaviour, this.answers);
  }
}
