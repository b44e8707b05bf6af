// What is drawn in the editor beside the text: colours of tokens, the line that runs next, T-states
// and breakpoints in the gutter.

import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, gutter } from "@codemirror/view";
import { grouped } from "./dom.js";

/** @typedef {import("../worker.js").Token} Token */
/** @typedef {Map<number, { tStates: number, passages: number }>} Times */

/** @type {import("@codemirror/state").StateEffectType<Token[]>} */
export const setTokens = StateEffect.define();
/** @type {import("@codemirror/state").StateEffectType<number>} */
export const setCurrent = StateEffect.define();
/** @type {import("@codemirror/state").StateEffectType<Times>} */
export const setTimes = StateEffect.define();
/** @type {import("@codemirror/state").StateEffectType<Set<number>>} */
export const setStops = StateEffect.define();

/**
 * @param {import("@codemirror/state").Text} doc
 * @param {Token[]} tokens
 */
function colours(doc, tokens) {
  const ranges = new RangeSetBuilder();
  let last = 0;
  for (const token of tokens) {
    if (token.line < 1 || token.line > doc.lines) continue;
    const line = doc.line(token.line);
    const from = Math.min(line.from + token.column - 1, line.to);
    const to = Math.min(from + token.length, line.to);
    if (from >= to || from < last) continue;
    const names = [token.type, ...token.modifiers].map((name) => `tok-${name}`).join(" ");
    ranges.add(from, to, Decoration.mark({ class: names }));
    last = to;
  }
  return /** @type {import("@codemirror/view").DecorationSet} */ (ranges.finish());
}

const tokenField = StateField.define({
  create: () => Decoration.none,
  update(value, change) {
    let next = value.map(change.changes);
    for (const effect of change.effects)
      if (effect.is(setTokens)) next = colours(change.state.doc, effect.value);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const currentField = StateField.define({
  create: () => Decoration.none,
  update(value, change) {
    let next = value.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(setCurrent)) continue;
      const there = effect.value >= 1 && effect.value <= change.state.doc.lines;
      next = there
        ? Decoration.set(
            Decoration.line({ class: "cm-runs-next" }).range(
              change.state.doc.line(effect.value).from,
            ),
          )
        : Decoration.none;
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** @type {StateField<Times>} */
const timesField = StateField.define({
  create: () => /** @type {Times} */ (new Map()),
  update: (value, change) =>
    change.effects.reduce((held, effect) => (effect.is(setTimes) ? effect.value : held), value),
});

/** @type {StateField<Set<number>>} */
const stopsField = StateField.define({
  create: () => /** @type {Set<number>} */ (new Set()),
  update: (value, change) =>
    change.effects.reduce((held, effect) => (effect.is(setStops) ? effect.value : held), value),
});

class TextMarker extends GutterMarker {
  /**
   * @param {string} text
   * @param {string} title
   */
  constructor(text, title) {
    super();
    this.text = text;
    this.title = title;
  }
  /** @param {TextMarker} other */
  eq(other) {
    return other.text === this.text && other.title === this.title;
  }
  toDOM() {
    const span = document.createElement("span");
    span.textContent = this.text;
    span.title = this.title;
    return span;
  }
}

/**
 * The marks as an extension; a click into the gutter of breakpoints calls back with the line.
 * @param {(line: number) => void} onStop
 */
export function marks(onStop) {
  return [
    tokenField,
    currentField,
    timesField,
    stopsField,
    gutter({
      class: "cm-stops",
      lineMarker: (view, block) =>
        view.state.field(stopsField).has(view.state.doc.lineAt(block.from).number)
          ? new TextMarker("●", "breakpoint")
          : null,
      lineMarkerChange: (update) =>
        update.transactions.some((one) => one.effects.some((effect) => effect.is(setStops))),
      initialSpacer: () => new TextMarker("●", ""),
      domEventHandlers: {
        mousedown(view, block) {
          onStop(view.state.doc.lineAt(block.from).number);
          return true;
        },
      },
    }),
    gutter({
      class: "cm-times",
      lineMarker(view, block) {
        const times = view.state.field(timesField).get(view.state.doc.lineAt(block.from).number);
        return times ? new TextMarker(grouped(times.tStates), `${times.passages} times`) : null;
      },
      lineMarkerChange: (update) =>
        update.transactions.some((one) => one.effects.some((effect) => effect.is(setTimes))),
    }),
  ];
}
