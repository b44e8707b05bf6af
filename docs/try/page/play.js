// The answer for a square in a sentence, and Play: the exchange as the Z80 works it out, with the
// captures on the board, and the registers and the attackers array after each.

import { button, h, messageOf, put, replace } from "./dom.js";
import { nameOf } from "./pieces.js";
import { arrayView, registers, roles } from "./registers.js";
import { current, linkTo } from "./state.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").DebugState} DebugState */
/** @typedef {import("../worker.js").SourceFile} SourceFile */
/** @typedef {import("../worker.js").SquareFacts} SquareFacts */
/** @typedef {import("./facts.js").Answers} Answers */

/** Milliseconds between two steps. */
const PAUSE = 1100;

/** @type {Record<Behaviour, string>} */
const NAMES = {
  original: "The original program",
  corrected: "The corrected program",
  fast: "The fast program",
};

export class PlayPanel {
  /**
   * @param {import("./client.js").Toolchain} toolchain
   * @param {import("./board.js").BoardView} board
   * @param {{ files: (name: Behaviour) => SourceFile[], onEnd: () => void }} wishes
   */
  constructor(toolchain, board, wishes) {
    this.toolchain = toolchain;
    this.board = board;
    this.wishes = wishes;
    /** Counts plays and stops: a play ends when another number is current. */
    this.round = 0;
    this.playing = false;
    /** @type {{ name: Behaviour, facts: SquareFacts }[]} */
    this.parts = [];
    this.verdict = h("p", { class: "verdict" });
    this.blame = h("div", {});
    this.start = button("▶ Play", () => void this.toggle(), { class: "main", disabled: true });
    this.said = h("p", { role: "status", class: "step" });
    this.state = h("div", { class: "debug-state" });
    this.live = h("div", { class: "live", hidden: true }, this.said, this.state);
    this.bar = h("div", { class: "bar" }, this.start);
    this.element = h(
      "div",
      { class: "play" },
      this.verdict,
      this.bar,
      this.live,
      this.blame,
    );
  }

  /** @param {Behaviour} name */
  nameOf(name) {
    return this.wishes.files(name).length ? `Your changed program (${name})` : NAMES[name];
  }

  /**
   * Shows the answer for the square, once the evaluators have it.
   * @param {string} square
   * @param {Behaviour} behaviour
   * @param {Answers} answers
   */
  show(square, behaviour, answers) {
    const of = (/** @type {Behaviour} */ name) =>
      answers[name]?.squares.find((one) => one.square === square);
    const own = of(behaviour);
    const corrected = of("corrected");
    this.start.disabled = !this.playing && !(own?.steps.length && corrected);
    if (!this.playing) this.start.textContent = "▶ Play";
    replace(this.verdict);
    replace(this.blame);
    if (!own || !corrected) return;
    const right = corrected.residue.reference;
    const isRight = own.residue.board === right;
    this.parts = [{ name: behaviour, facts: own }];
    if (!isRight && behaviour !== "corrected") {
      this.parts.push({ name: "corrected", facts: corrected });
    };
    const owner = own.piece === own.piece.toUpperCase() ? "White" : "Black";
    put(
      this.verdict,
      `${this.nameOf(behaviour)} answers that ${owner} loses `,
      h("strong", { class: isRight ? "same" : "differs" }, own.residue.board ?? "–"),
      own.residue.board === 1 ? " point" : " points",
      isRight ? ": right." : ". Right is ",
      !isRight && h("strong", { class: "same" }, right),
      !isRight && ".",
    );
    put(this.blame, !isRight && own.fault && blame(own.fault));
  }

  toggle() {
    return this.playing ? this.stop() : this.play();
  }

  /** Ends a play, and gives the board back. */
  stop() {
    if (!this.playing) return;
    this.round++;
    this.playing = false;
    this.start.textContent = "▶ Play";
    this.wishes.onEnd();
  }

  async play() {
    const round = ++this.round;
    const isOver = () => round !== this.round;
    this.playing = true;
    this.live.hidden = false;
    this.start.textContent = "■ Stop";
    const { fen, square } = current();
    let end = "";
    try {
      for (const { name, facts } of this.parts) {
        const files = this.wishes.files(name);
        const params = { fen, square, behaviour: name, ...(files.length ? { files } : {}) };
        const { states } = await this.toolchain.call("play", params);
        if (isOver()) return;
        await this.playPart(name, facts, states, isOver);
        if (isOver()) return;
      }
      const answers = this.parts.map(
        ({ name, facts }) => `${this.nameOf(name)} answers ${facts.residue.board}.`,
      );
      end = ["Play has ended.", ...answers].join(" ");
    } catch (error) {
      end = messageOf(error);
    }
    if (isOver()) return;
    this.stop();
    this.said.textContent = end;
    this.start.textContent = "▶ Play again";
  }

  /**
   * @param {Behaviour} name
   * @param {SquareFacts} facts
   * @param {DebugState[]} states
   * @param {() => boolean} isOver
   */
  async playPart(name, facts, states, isOver) {
    const who = this.nameOf(name);
    const wait = (/** @type {number} */ time) => new Promise((done) => setTimeout(done, time));
    this.wishes.onEnd();
    this.board.setArrows([]);
    this.tell(`${who}: the array is filled, XCHNG begins.`, states[0], null);
    await wait(PAUSE);
    let at = 0;
    for (const step of facts.steps) {
      if (isOver()) return;
      const before = states[at];
      if (step.action.startsWith("takes")) {
        at = Math.min(at + 1, states.length - 1);
        this.tell(`${who}: ${step.text}, ${nameOf(step.captured)} falls.`, states[at], before);
        if (step.from) await this.board.capture(step.from, step.to);
      } else {
        this.tell(`${who}: ${step.text}.`, before, before);
        const kind = `${step.side} ${step.action}`;
        if (step.from)
          this.board.setArrows([
            { from: step.from, to: step.to, kind, label: "!", current: true },
          ]);
      }
      await wait(PAUSE);
    }
    if (isOver()) return;
    const residue = facts.residue.board;
    this.tell(`${who}: XCHNG returns ${residue}.`, states[states.length - 1], states[at]);
    await wait(PAUSE * 1.5);
  }

  /**
   * @param {string} text
   * @param {DebugState} state
   * @param {DebugState | null} before
   */
  tell(text, state, before) {
    this.said.textContent = text;
    replace(this.state, roles(state), arrayView(state, before), registers(state, before));
  }
}

/** @param {NonNullable<SquareFacts["fault"]>} fault */
function blame(fault) {
  const at = `${fault.file}:${fault.line}`;
  return h(
    "p",
    { class: "reason" },
    `${fault.text} The line: `,
    h("a", { href: linkTo({ view: "evaluator", behaviour: "original", at }) }, at),
    " ",
    h("code", {}, fault.code),
  );
}
