// The chess board: squares as a grid for keyboard and screen reader, pieces that are set and moved
// by mouse, finger and keys, and arrows over them.

import { h, replace, svg } from "./dom.js";
import { LETTERS, drawing, nameOf } from "./pieces.js";
import { FILES, SQUARES } from "./position.js";

/** @typedef {import("../worker.js").PieceLetter} PieceLetter */
/** @typedef {{ from: string, to: string, kind: string, label: string, current: boolean }} Arrow */
/** @typedef {[square: string, piece: PieceLetter | null][]} Changes */
/** @typedef {{ onSelect: (square: string) => void, onPut: (changes: Changes) => void }} Wishes */

/** Corners for the number of a square, the preferred one first. */
const CORNERS = ["top right", "top left", "bottom right", "bottom left"];
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** Pixels that a pointer moves before a press becomes a drag. */
const SLACK = 6;

export class BoardView {
  /** @param {Wishes} wishes */
  constructor(wishes) {
    this.wishes = wishes;
    /** @type {Map<string, PieceLetter>} */
    this.pieces = new Map();
    /** @type {Map<string, string>} */
    this.notes = new Map();
    this.selected = "";
    this.focused = "e4";
    this.flipped = false;
    /** @type {PieceLetter | "erase" | null} */
    this.tool = null;
    /** @type {Arrow[]} */
    this.drawn = [];
    /** @type {Map<string, HTMLElement>} */
    this.cells = new Map();
    this.arrows = svg("svg", { viewBox: "0 0 8 8", class: "arrows", "aria-hidden": "true" });
    this.grid = h("div", {
      role: "grid",
      class: "squares",
      "aria-label": "Chess board",
      "aria-describedby": "board-keys",
      keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      pointerdown: (/** @type {PointerEvent} */ event) => this.press(event),
    });
    this.tools = h("div", { class: "tools", role: "group", "aria-label": "Pieces to set" });
    this.element = h("div", { class: "board frame" }, this.grid, this.arrows);
    this.layOut();
    this.drawTools();
  }

  /** The squares in the order in which they are shown. */
  order() {
    return this.flipped ? [...SQUARES].reverse() : SQUARES;
  }

  layOut() {
    const order = this.order();
    const rows = [];
    this.cells.clear();
    for (let row = 0; row < 8; row++) {
      const cells = order.slice(row * 8, row * 8 + 8).map((square) => this.makeCell(square, order));
      rows.push(h("div", { role: "row", class: "row" }, ...cells));
    }
    replace(this.grid, ...rows);
    this.draw();
  }

  /**
   * @param {string} square
   * @param {string[]} order
   */
  makeCell(square, order) {
    const index = order.indexOf(square);
    const dark = (FILES.indexOf(square[0]) + Number(square[1])) % 2 === 1;
    const cell = h("div", {
      role: "gridcell",
      class: `square ${dark ? "dark" : "light"}`,
      "data-square": square,
    });
    if (index % 8 === 0) cell.dataset.rank = square[1];
    if (index >= 56) cell.dataset.file = square[0];
    this.cells.set(square, cell);
    return cell;
  }

  /**
   * Shows pieces, the square in question, and what is to be said of squares (such as "loses 3").
   * @param {Map<string, PieceLetter>} pieces
   * @param {string} selected
   * @param {Map<string, string>} notes
   */
  show(pieces, selected, notes) {
    if (selected !== this.selected) this.focused = selected || this.focused;
    this.pieces = pieces;
    this.selected = selected;
    this.notes = notes;
    this.draw();
  }

  draw() {
    for (const [square, cell] of this.cells) {
      const piece = this.pieces.get(square);
      const note = this.notes.get(square);
      const label = [square, piece ? nameOf(piece) : "empty", note && `loses ${note}`].filter(
        Boolean,
      );
      cell.setAttribute("aria-label", label.join(", "));
      cell.setAttribute("aria-selected", String(square === this.selected));
      cell.tabIndex = square === this.focused ? 0 : -1;
      cell.classList.toggle("full", Boolean(piece));
      replace(
        cell,
        piece && drawing(piece),
        note && h("span", { class: "loss", "aria-hidden": "true" }, note),
      );
    }
    this.drawArrows();
  }

  /** @param {Arrow[]} arrows */
  setArrows(arrows) {
    this.drawn = arrows;
    this.drawArrows();
  }

  /** @param {string} square */
  centre(square) {
    const index = this.order().indexOf(square);
    return { x: (index % 8) + 0.5, y: Math.floor(index / 8) + 0.5 };
  }

  drawArrows() {
    replace(this.arrows, ...this.drawn.map((arrow) => this.drawArrow(arrow)));
    for (const square of this.notes.keys()) {
      const badge = this.cells.get(square)?.querySelector(".loss");
      if (badge) badge.setAttribute("data-corner", this.freeCorner(square));
    }
  }

  /**
   * The corner of a square that is farthest from all arrows, top right if none comes near.
   * @param {string} square
   */
  freeCorner(square) {
    const { x, y } = this.centre(square);
    const room = (/** @type {string} */ corner) => {
      const [right, top] = [corner.includes("right"), corner.includes("top")];
      const point = { x: x + (right ? 0.35 : -0.35), y: y + (top ? -0.35 : 0.35) };
      const lines = this.drawn.map(({ from, to }) => [this.centre(from), this.centre(to)]);
      return Math.min(0.5, ...lines.map(([from, to]) => distance(point, from, to)));
    };
    return CORNERS.reduce((best, corner) => (room(corner) > room(best) ? corner : best));
  }

  /**
   * Moves a piece to a square where it captures, as an animation if the reader wants any.
   * @param {string} from
   * @param {string} to
   */
  async capture(from, to) {
    const piece = this.pieces.get(from);
    if (!piece) return;
    this.pieces = new Map(this.pieces).set(to, piece);
    this.pieces.delete(from);
    this.notes = new Map();
    this.draw();
    const cell = this.cells.get(to);
    if (!cell || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [start, end] = [this.centre(from), this.centre(to)];
    const size = this.grid.clientWidth / 8;
    const moved = `translate(${(start.x - end.x) * size}px, ${(start.y - end.y) * size}px)`;
    cell.classList.add("moving");
    const flight = cell
      .querySelector(".piece")
      ?.animate([{ transform: moved }, { transform: "none" }], { duration: 600, easing: "ease" });
    // A piece that is replaced while it moves has no end of its flight.
    await flight?.finished.catch(() => undefined);
    cell.classList.remove("moving");
  }

  /** @param {Arrow} arrow */
  drawArrow(arrow) {
    const from = this.centre(arrow.from);
    const to = this.centre(arrow.to);
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
    const tip = { x: to.x - along.x * 0.3, y: to.y - along.y * 0.3 };
    const neck = { x: tip.x - along.x * 0.3, y: tip.y - along.y * 0.3 };
    const wing = { x: -along.y * 0.16, y: along.x * 0.16 };
    const left = { x: neck.x + wing.x, y: neck.y + wing.y };
    const right = { x: neck.x - wing.x, y: neck.y - wing.y };
    const at = { x: from.x + along.x * 0.42, y: from.y + along.y * 0.42 };
    return svg(
      "g",
      { class: `arrow ${arrow.kind}${arrow.current ? " current" : ""}` },
      svg("line", { x1: from.x, y1: from.y, x2: neck.x, y2: neck.y }),
      svg("path", {
        d: `M${tip.x} ${tip.y}L${left.x} ${left.y}L${right.x} ${right.y}Z`,
      }),
      svg("circle", { cx: at.x, cy: at.y, r: 0.17 }),
      svg("text", { x: at.x, y: at.y }, arrow.label),
    );
  }

  drawTools() {
    const tool = (/** @type {PieceLetter | "erase"} */ name, /** @type {string} */ label) =>
      h(
        "button",
        {
          type: "button",
          class: "tool",
          "aria-label": label,
          title: label,
          "aria-pressed": String(this.tool === name),
          "data-tool": name,
          click: () => this.choose(name),
          pointerdown: (/** @type {PointerEvent} */ event) => this.pressTool(event, name),
        },
        name === "erase" ? "✕" : drawing(name),
      );
    replace(
      this.tools,
      ...LETTERS.map((letter) => tool(letter, nameOf(letter))),
      tool("erase", "Take pieces away"),
    );
  }

  /** @param {PieceLetter | "erase"} name */
  choose(name) {
    this.tool = this.tool === name ? null : name;
    for (const element of this.tools.children) {
      element.setAttribute("aria-pressed", String(element.getAttribute("data-tool") === this.tool));
    }
    this.grid.classList.toggle("setting", this.tool !== null);
  }

  /** Turns the board around. */
  flip() {
    this.flipped = !this.flipped;
    this.layOut();
  }

  /**
   * Does with a square what the chosen tool does, or selects it.
   * @param {string} square
   */
  use(square) {
    if (this.tool === null) return this.wishes.onSelect(square);
    const again = this.pieces.get(square) === this.tool;
    this.wishes.onPut([[square, this.tool === "erase" || again ? null : this.tool]]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const square = this.focused;
    const order = this.order();
    const index = order.indexOf(square);
    const step = STEPS[/** @type {keyof typeof STEPS} */ (event.key)];
    if (step) this.focusOn(order, (index % 8) + step[0], Math.floor(index / 8) + step[1]);
    else if (event.key === "Home") this.focusOn(order, 0, Math.floor(index / 8));
    else if (event.key === "End") this.focusOn(order, 7, Math.floor(index / 8));
    else if (event.key === "Enter") this.wishes.onSelect(square);
    else if (event.key === " ") this.use(square);
    else if (event.key === "Delete" || event.key === "Backspace")
      this.wishes.onPut([[square, null]]);
    else if (/^[pnbrqkPNBRQK]$/.test(event.key)) {
      this.wishes.onPut([[square, /** @type {PieceLetter} */ (event.key)]]);
    } else return;
    event.preventDefault();
  }

  /**
   * @param {string[]} order
   * @param {number} column
   * @param {number} row
   */
  focusOn(order, column, row) {
    if (column < 0 || column > 7 || row < 0 || row > 7) return;
    const before = this.cells.get(this.focused);
    if (before) before.tabIndex = -1;
    this.focused = order[row * 8 + column];
    const cell = this.cells.get(this.focused);
    if (!cell) return;
    cell.tabIndex = 0;
    cell.focus();
  }

  /** @param {PointerEvent} event */
  press(event) {
    const cell = event.target instanceof Element ? event.target.closest("[data-square]") : null;
    const square = cell?.getAttribute("data-square");
    if (!square || event.button !== 0) return;
    const piece = this.tool === null ? this.pieces.get(square) : undefined;
    this.follow(event, piece, (target) => {
      if (target === square) {
        this.focused = square;
        this.use(square);
        this.cells.get(square)?.focus();
      } else if (piece) {
        /** @type {[string, PieceLetter | null][]} */
        const changes = [[square, null]];
        if (target) changes.push([target, piece]);
        this.wishes.onPut(changes);
      }
    });
  }

  /**
   * @param {PointerEvent} event
   * @param {PieceLetter | "erase"} name
   */
  pressTool(event, name) {
    if (name === "erase" || event.button !== 0) return;
    this.follow(event, name, (target) => target && this.wishes.onPut([[target, name]]));
  }

  /**
   * Follows a pointer until it is let go, with the piece under it, and calls back with the square
   * there.
   * @param {PointerEvent} start
   * @param {PieceLetter | undefined} piece
   * @param {(target: string | null) => void} done
   */
  follow(start, piece, done) {
    const end = new AbortController();
    /** @type {HTMLElement | null} */
    let ghost = null;
    const move = (/** @type {PointerEvent} */ event) => {
      if (event.pointerId !== start.pointerId) return;
      const far = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > SLACK;
      if (!ghost && piece && far) {
        ghost = h("div", { class: "ghost", "aria-hidden": "true" }, drawing(piece));
        document.body.append(ghost);
      }
      if (ghost) ghost.style.translate = `${event.clientX}px ${event.clientY}px`;
    };
    const stop = (/** @type {PointerEvent} */ event) => {
      if (event.pointerId !== start.pointerId) return;
      ghost?.remove();
      end.abort();
      if (event.type === "pointercancel") return;
      const under = document
        .elementFromPoint(event.clientX, event.clientY)
        ?.closest("[data-square]");
      done(under?.getAttribute("data-square") ?? null);
    };
    window.addEventListener("pointermove", move, { signal: end.signal });
    window.addEventListener("pointerup", stop, { signal: end.signal });
    window.addEventListener("pointercancel", stop, { signal: end.signal });
    start.preventDefault();
  }
}

/**
 * The distance of a point from a stretch.
 * @param {{ x: number, y: number }} point
 * @param {{ x: number, y: number }} from
 * @param {{ x: number, y: number }} to
 */
function distance(point, from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const along = ((point.x - from.x) * dx + (point.y - from.y) * dy) / (dx * dx + dy * dy || 1);
  const at = Math.max(0, Math.min(1, along));
  return Math.hypot(point.x - from.x - at * dx, point.y - from.y - at * dy);
}

/** What the keys do, for all who can't see it. */
export function boardKeys() {
  return h(
    "p",
    { id: "board-keys", class: "hint" },
    "Arrow keys move, Enter looks at a square, p n b r q k set Black's pieces, " +
      "with Shift White's, Delete takes away.",
  );
}
