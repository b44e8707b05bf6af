// The state of a halted Z80 as tables: registers, attackers array, the article's names, calls.

import { h, hex, put } from "./dom.js";

/** @typedef {import("../worker.js").DebugState} DebugState */

/**
 * @param {DebugState} state
 * @param {DebugState | null} before
 */
export function registers(state, before) {
  const one = (/** @type {[string, number]} */ [name, value]) => {
    const digits = name.replace("'", "").length > 1 ? 4 : 2;
    const changed = before && before.registers[name] !== value;
    return h(
      "div",
      { class: changed ? "cell changed" : "cell", "data-register": name },
      h("dt", {}, name),
      h("dd", {}, `${hex(value, digits)}H`),
    );
  };
  return h(
    "div",
    {},
    h("h3", {}, "Registers"),
    h(
      "dl",
      { class: "cells" },
      ...Object.entries(state.registers).map(one),
      h("div", { class: "cell" }, h("dt", {}, "flags"), h("dd", {}, state.flags || "none")),
    ),
  );
}

/**
 * @param {DebugState} state
 * @param {DebugState | null} before
 */
export function arrayView(state, before) {
  if (!state.array) return null;
  const names = ["count", "pawns", "knights", "bishops", "rooks", "queen", "king"];
  const side = (/** @type {string} */ title, /** @type {number} */ from) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, title),
      ...names.map((_, index) => {
        const value = state.array?.bytes[from + index] ?? 0;
        const changed = before?.array && before.array.bytes[from + index] !== value;
        return h("td", { class: changed ? "changed" : "" }, hex(value, 2));
      }),
    );
  return h(
    "div",
    { class: "wide-table", tabindex: "0", role: "region", "aria-label": "Attackers array" },
    h(
      "table",
      { class: "bytes" },
      h("caption", {}, `Attackers array at ${hex(state.array.address, 4)}H`),
      h(
        "thead",
        {},
        h("tr", {}, h("td", {}), ...names.map((name) => h("th", { scope: "col" }, name))),
      ),
      h("tbody", {}, side("White", 0), side("Black", 7)),
    ),
  );
}

/** @param {DebugState} state */
export function roles(state) {
  if (state.roles.length === 0) return null;
  return h(
    "dl",
    { class: "cells roles" },
    ...state.roles.map((role) =>
      h(
        "div",
        { class: "cell" },
        h("dt", {}, `${role.meaning} (${role.register})`),
        h("dd", {}, role.value),
      ),
    ),
  );
}

/** @param {DebugState} state */
export function calls(state) {
  if (state.calls.length === 0) return null;
  const list = h("ol", { class: "calls" });
  for (const call of state.calls)
    put(list, h("li", {}, `${call.routine}, called from ${call.site}`));
  return h("details", {}, h("summary", {}, `Calls (${state.calls.length})`), list);
}
