// What is said of a square: residues of the three evaluators, the array as pieces and as bytes, and
// the exchange step by step.

import { button, grouped, h, put, replace } from "./dom.js";
import { drawing, nameOf } from "./pieces.js";
import { BEHAVIOURS } from "./state.js";
import { term } from "./words.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").Examination} Examination */
/** @typedef {import("../worker.js").SquareFacts} SquareFacts */
/** @typedef {import("../worker.js").Capturer} Capturer */
/** @typedef {import("../worker.js").Step} Step */
/** @typedef {import("./board.js").Arrow} Arrow */
/** @typedef {Partial<Record<Behaviour, Examination>>} Answers */

const BYTES = ["count", "pawns", "knights", "bishops", "rooks", "queen", "king"];
const DASH = "–";
const LOADING = "The evaluator is being loaded…";

/** @param {number | null | undefined} value */
const points = (value) => (value === null || value === undefined ? DASH : String(value));

export class Facts {
  /** @param {(arrows: Arrow[]) => void} onArrows */
  constructor(onArrows) {
    this.onArrows = onArrows;
    this.step = 0;
    this.key = "";
    /** @type {SquareFacts | undefined} */
    this.facts = undefined;
    this.title = h("h2", {});
    this.body = h("div", { class: "facts" });
    this.summary = h("p", { role: "status", class: "unseen" });
    this.broken = "";
    this.element = h("div", {}, this.body);
  }

  /**
   * @param {string} square
   * @param {string | undefined} piece
   * @param {Behaviour} behaviour
   * @param {Answers} answers
   */
  show(square, piece, behaviour, answers) {
    const answer = answers[behaviour];
    const facts = answer?.squares.find((other) => other.square === square);
    const key = `${answer?.fen} ${square} ${behaviour}`;
    if (key !== this.key) this.step = 0;
    this.key = key;
    this.facts = facts;
    replace(
      this.title,
      piece
        ? `${square}: ${nameOf(piece)}${facts ? `, worth ${facts.value}` : ""}`
        : `${square}: empty`,
    );
    replace(this.body);
    if (answer?.boardError) put(this.body, h("p", { class: "problem" }, answer.boardError));
    if (!piece)
      put(this.body, h("p", {}, "Choose a square with a piece to see what it may cost its owner."));
    else if (!facts)
      put(this.body, h("p", { role: "status", class: "text" }, this.broken || LOADING));
    else this.fill(facts, answers);
    if (answer) put(this.body, pinList(answer));
    this.summary.textContent = facts ? `${square}: ${inWords(facts)}` : "";
    this.drawArrows();
  }

  /**
   * @param {SquareFacts} facts
   * @param {Answers} answers
   */
  fill(facts, answers) {
    this.steps = h("div", { class: "steps" });
    put(
      this.body,
      comparison(facts, answers),
      facts.reason && h("p", { class: "reason" }, facts.reason),
      facts.overflow && h("p", { class: "note" }, "A piece found no room in the attackers array."),
      facts.short &&
        h("p", { class: "note" }, "A count of the array promises more pieces than there are."),
      h("h3", {}, term("attackers array", "Attackers array")),
      hands("Attackers", facts.attackers),
      hands("Defenders", facts.defenders),
      bytes(facts.array),
      h("h3", {}, "The exchange, step by step"),
      this.steps,
    );
    this.drawSteps();
  }

  drawSteps() {
    const steps = this.facts?.steps ?? [];
    if (!this.steps) return;
    if (steps.length === 0) return replace(this.steps, h("p", {}, "Nobody attacks this square."));
    const go = (/** @type {number} */ to, /** @type {string} */ focus) => () => {
      this.step = to;
      this.drawSteps();
      this.drawArrows();
      /** @type {HTMLElement | null | undefined} */ (
        this.steps?.querySelector(`[data-go="${focus}"]`)
      )?.focus();
    };
    const at = this.step;
    replace(
      this.steps,
      h(
        "div",
        { class: "bar" },
        button("◀ Back", go(at - 1, "back"), { disabled: at === 0, "data-go": "back" }),
        button("Next ▶", go(at + 1, "next"), {
          disabled: at === steps.length,
          "data-go": "next",
        }),
        h(
          "span",
          { role: "status" },
          at === 0 ? "All steps" : `Step ${at} of ${steps.length}: ${steps[at - 1].text}`,
        ),
      ),
      stepTable(steps, at, (number) => go(number, `step${number}`)),
    );
  }

  drawArrows() {
    const steps = this.facts?.steps ?? [];
    const shown = this.step === 0 ? steps : steps.slice(0, this.step);
    this.onArrows(
      shown.flatMap((step, index) => {
        if (!step.from) return [];
        const kind = `${step.side} ${step.action}`;
        return [
          {
            from: step.from,
            to: step.to,
            kind,
            label: String(index + 1),
            current: this.step === 0 || index + 1 === this.step,
          },
        ];
      }),
    );
  }
}

/**
 * The answer in a sentence, for screen readers.
 * @param {SquareFacts} facts
 */
function inWords(facts) {
  const { board, reference } = facts.residue;
  const loss = `${nameOf(facts.piece)} loses ${points(board ?? reference)} of ${facts.value}`;
  return `${loss}; board and reference ${facts.agrees ? "agree" : "differ"}`;
}

/**
 * The table of residues: one column for each evaluator, and what modern definitions say.
 * @param {SquareFacts} facts
 * @param {Answers} answers
 */
function comparison(facts, answers) {
  const of = (/** @type {Behaviour} */ name) =>
    answers[name]?.squares.find((other) => other.square === facts.square);
  const row = (
    /** @type {string | Node} */ label,
    /** @type {(facts: SquareFacts) => Node | string} */ cell,
  ) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, label),
      ...BEHAVIOURS.map((name) => {
        const there = of(name);
        return h("td", {}, there ? cell(there) : "…");
      }),
    );
  const right = of("corrected")?.residue.reference;
  const owner = facts.piece === facts.piece.toUpperCase() ? "White" : "Black";
  const board = (/** @type {SquareFacts} */ there) =>
    h(
      "span",
      { class: there.residue.board === right ? "same" : "differs" },
      points(there.residue.board),
      there.agrees ? "" : " (differs)",
    );
  return h(
    "table",
    { class: "comparison" },
    h(
      "caption",
      {},
      `Points that ${owner} loses when the captures on ${facts.square} are played out, the `,
      term("residue"),
    ),
    h(
      "thead",
      {},
      h("tr", {}, h("td", {}), ...BEHAVIOURS.map((name) => h("th", { scope: "col" }, name))),
    ),
    h(
      "tbody",
      {},
      row("Z80 code, run", board),
      row(term("reference", "Reference"), (there) => points(there.residue.reference)),
      row(term("minimax", "Minimax"), (there) => points(there.residue.minimax)),
      row(term("swap", "Swap"), (there) => points(there.residue.swap)),
      row(term("T-states"), (there) => (there.tStates === null ? DASH : grouped(there.tStates))),
      h(
        "tr",
        {},
        h("th", { scope: "row" }, "T-states, all pieces"),
        ...BEHAVIOURS.map((name) => {
          const answer = answers[name];
          return h("td", {}, answer ? grouped(answer.tStates) : "…");
        }),
      ),
    ),
  );
}

/**
 * A side's pieces in the order in which they capture.
 * @param {string} title
 * @param {Capturer[]} pieces
 */
function hands(title, pieces) {
  const chip = (/** @type {Capturer} */ one) =>
    h(
      "li",
      { class: "chip" },
      drawing(one.piece),
      h("span", { class: "unseen" }, `${nameOf(one.piece)} on `),
      one.square ?? "one of several squares",
      one.pinned && h("span", { class: "mark pin" }, "pinned"),
      one.xray && h("span", { class: "mark" }, "stands behind"),
    );
  return h(
    "div",
    { class: "hand" },
    h("h4", {}, title),
    pieces.length ? h("ol", { class: "chips" }, ...pieces.map(chip)) : h("p", {}, "nobody"),
  );
}

/**
 * The 14 bytes as they lie in memory, by high and low half.
 * @param {SquareFacts["array"]} array
 */
function bytes(array) {
  const shown = array.board ?? array.reference;
  const half = (/** @type {number} */ value) => (value ? String(value) : DASH);
  const cells = (/** @type {number} */ index) => {
    const byte = shown[index];
    const differs = array.reference[index] !== byte;
    const first = index % 7 === 0 ? DASH : half(byte >> 4);
    return [
      h("td", { class: differs ? "differs" : "" }, first),
      h("td", { class: differs ? "differs" : "" }, half(index % 7 === 0 ? byte : byte & 15)),
    ];
  };
  const head = ["White, high", "White, low", "Black, high", "Black, low"];
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      array.board ? "14 bytes, as the board has them" : "14 bytes, by the reference",
    ),
    h(
      "table",
      { class: "bytes" },
      h("caption", { class: "unseen" }, "Bytes of the attackers array"),
      h(
        "thead",
        {},
        h("tr", {}, h("td", {}), ...head.map((name) => h("th", { scope: "col" }, name))),
      ),
      h(
        "tbody",
        {},
        ...BYTES.map((name, index) =>
          h("tr", {}, h("th", { scope: "row" }, name), ...cells(index), ...cells(index + 7)),
        ),
      ),
    ),
  );
}

/**
 * @param {Step[]} steps
 * @param {number} at
 * @param {(number: number) => () => void} go
 */
function stepTable(steps, at, go) {
  const names = ["stake", "attacker", "guard", "residue"];
  const line = (/** @type {Step} */ step, /** @type {number} */ index) => {
    const now = index + 1 === at;
    const host = figuresOf(step);
    const board = step.board && figuresOf(step.board);
    const differs = board && board.join() !== host.join();
    return h(
      "tr",
      { class: now ? "now" : "" },
      h(
        "td",
        {},
        button(String(index + 1), go(index + 1), {
          "aria-label": `Step ${index + 1}`,
          "aria-current": now ? "step" : null,
          "data-go": `step${index + 1}`,
        }),
      ),
      h("th", { scope: "row" }, step.text),
      ...host.map((value) => h("td", {}, value)),
      h(
        "td",
        { class: differs ? "differs" : board ? "same" : "" },
        differs ? board.join(" ") : board ? "same" : DASH,
      ),
    );
  };
  return h(
    "div",
    { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Steps of the exchange" },
    h(
      "table",
      { class: "step-table" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", { colspan: 2 }),
          ...[...names, "the board"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h("tbody", {}, ...steps.map(line)),
    ),
  );
}

/** @param {{ stake: number, attacker: number, defender: number | null, balance: number }} step */
function figuresOf(step) {
  return [step.stake, step.attacker, step.defender, step.balance].map(points);
}

/** @param {Examination} answer */
function pinList(answer) {
  if (answer.pins.length === 0) return null;
  const one = (/** @type {Examination["pins"][number]} */ pin) =>
    pin.by ? `${pin.square} by ${pin.by}` : `${pin.square} (${pin.direction})`;
  const pins = answer.pins.map(one).join(", ");
  return h(
    "p",
    { class: "note" },
    term("pinned", "Pinned"),
    ` on the board: ${pins}. A pinned piece may not leave the line to its own king or queen.`,
  );
}
