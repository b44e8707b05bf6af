// Words that explain themselves: a term opens its meaning on hover, focus, click and touch. The
// meanings are those of docs/GLOSSARY.md.

import { h } from "./dom.js";

const MEANINGS = {
  residue:
    "The points that the owner of a square loses when the captures on it are played out. A pawn " +
    "is worth 1, knight and bishop 3, rook 5, queen 9, king 10.",
  "attackers array":
    "14 bytes in the Z80's memory: how many White pieces can capture on the square and their " +
    "values in capture order, then the same for Black.",
  "T-states": "Clock cycles of the Z80. The classic board runs 7,372,800 a second.",
  pinned: "A piece that may not leave the line to its own king or queen.",
  XCHNG: "The routine of the evaluator that plays the captures on a square out.",
  reference: "The same evaluation in another program, written to check the Z80 code.",
  minimax: "The same captures, with both sides free to stop at the best moment.",
  swap: "Static exchange evaluation by the swap algorithm of modern chess engines.",
  corpus: "Test positions and arrays, each with the result of an independent reference.",
};

/** @type {HTMLElement | undefined} */
let tip;

/**
 * Shows a text below an element, until another one or `closeTip`.
 * @param {Element} element
 * @param {string} text
 */
export function openTip(element, text) {
  tip ??= document.body.appendChild(h("div", { id: "meaning", class: "meaning", popover: "auto" }));
  tip.textContent = text;
  const { left, bottom } = element.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - 330))}px`;
  tip.style.top = `${bottom + 4}px`;
  if (!tip.matches(":popover-open")) tip.showPopover();
}

export function closeTip() {
  if (tip?.matches(":popover-open")) tip.hidePopover();
}

/**
 * A term with its meaning.
 * @param {keyof typeof MEANINGS} word
 * @param {string} [text]
 */
export function term(word, text = word) {
  const open = () => openTip(element, MEANINGS[word]);
  const element = h(
    "button",
    {
      type: "button",
      class: "term",
      "data-term": word,
      "aria-description": MEANINGS[word],
      click: open,
      pointerenter: open,
      pointerleave: (/** @type {PointerEvent} */ event) => event.pointerType === "mouse" && closeTip(),
      focus: () => element.matches(":focus-visible") && open(),
      blur: closeTip,
    },
    text,
  );
  return element;
}
