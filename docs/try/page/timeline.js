// The time line of a debugged run: the instructions that were seen, from left to right. Dragging it
// moves the board there, back or forward.

import { grouped, h } from "./dom.js";

export class TimeLine {
  /** @param {(step: number) => Promise<unknown>} go */
  constructor(go) {
    this.go = go;
    this.first = 0;
    this.last = 0;
    this.now = 0;
    this.moving = false;
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: 0,
      value: 0,
      input: () => void this.follow(),
    });
    this.text = h("output", { class: "hint" });
    this.element = h("label", { class: "field wide", hidden: true }, "Time", this.slider, this.text);
  }

  clear() {
    this.element.hidden = true;
    this.first = Number.POSITIVE_INFINITY;
    this.last = 0;
  }

  /** @param {number} step */
  show(step) {
    this.now = step;
    this.first = Math.min(this.first, step);
    this.last = Math.max(this.last, step);
    this.element.hidden = false;
    this.slider.min = String(this.first);
    this.slider.max = String(this.last);
    // While it is dragged, it is ahead of the board.
    if (!this.moving) this.slider.value = String(step);
    this.text.textContent = `${grouped(step - this.first)} of ${grouped(this.last - this.first)}`;
    this.slider.setAttribute("aria-valuetext", `instruction ${this.text.textContent}`);
  }

  /** Moves the board to where the slider is: of several places on the way only the last. */
  async follow() {
    if (this.moving) return;
    this.moving = true;
    for (let tries = 0, step = -1; Number(this.slider.value) !== this.now && tries < 2; ) {
      tries = Number(this.slider.value) === step ? tries + 1 : 0;
      step = Number(this.slider.value);
      await this.go(step);
    }
    this.moving = false;
    this.slider.value = String(this.now);
  }
}
