// A run of the corpus, on the simulated board or a real one: progress, verdicts by tag, the first
// difference.

import { button, grouped, h, messageOf, put, replace } from "./dom.js";
import { linkTo } from "./state.js";

/** @typedef {import("../worker.js").CorpusSummary} CorpusSummary */
/** @typedef {{ id: number, reply: Promise<CorpusSummary> }} Run */

/** Cases that are listed at most. */
const MOST = 200;

export class CorpusPanel {
  /**
   * @param {import("./client.js").Toolchain} toolchain
   * @param {{ begin: (filter: string[]) => Run, cancel?: () => void }} wishes
   */
  constructor(toolchain, wishes) {
    this.toolchain = toolchain;
    this.wishes = wishes;
    /** @type {Run | null} */
    this.run = null;
    this.start = button("Run the corpus", () => void this.begin(), { class: "main" });
    this.end = button("Cancel", () => void this.cancel(), { disabled: true });
    this.filter = h("input", { type: "text", placeholder: "all", size: 12 });
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Cases done", hidden: true });
    this.said = h("p", { role: "status", class: "text" });
    this.result = h("div", {
      class: "wide-table",
      tabindex: "0",
      role: "region",
      "aria-label": "Verdicts",
    });
    this.element = h(
      "div",
      { class: "corpus" },
      h(
        "div",
        { class: "bar" },
        this.start,
        this.end,
        h("label", { class: "field" }, h("span", {}, "Only cases with"), this.filter),
      ),
      this.bar,
      this.said,
      this.result,
    );
    /** @type {import("../worker.js").CaseOutcome[]} */
    this.failed = [];
    toolchain.listen((event) => {
      if (event.event !== "corpus" || event.request !== this.run?.id) return;
      this.progress(event.done, event.total);
      this.failed.push(...event.cases.filter(({ verdict }) => verdict !== "pass"));
    });
  }

  /**
   * @param {number} done
   * @param {number} total
   */
  progress(done, total) {
    this.bar.max = total;
    this.bar.value = done;
    this.bar.textContent = `${done} of ${total}`;
  }

  async begin() {
    const filter = this.filter.value.split(/[\s,]+/).filter(Boolean);
    this.busy(true);
    this.failed = [];
    this.said.textContent = "Running…";
    this.said.className = "text";
    replace(this.result);
    try {
      this.run = this.wishes.begin(filter);
      this.show(await this.run.reply);
    } catch (error) {
      this.said.textContent = messageOf(error);
    } finally {
      this.run = null;
      this.busy(false);
    }
  }

  async cancel() {
    if (!this.run) return;
    if (this.wishes.cancel) this.wishes.cancel();
    else await this.toolchain.call("stop", { request: this.run.id });
  }

  /** @param {boolean} running */
  busy(running) {
    this.start.disabled = running;
    this.end.disabled = !running;
    this.bar.hidden = !running;
    if (running) this.bar.removeAttribute("value");
  }

  /** @param {CorpusSummary} summary */
  show(summary) {
    const { counts } = summary;
    const verdict = counts.pass === counts.cases ? "PASS" : counts.fail ? "FAIL" : "INCOMPLETE";
    this.said.textContent =
      `${verdict}: ${counts.pass} of ${counts.cases} cases passed, ` +
      `${grouped(counts.values)} squares compared, ` +
      `in ${summary.seconds.toFixed(1)} s; build ${summary.build}; ${summary.ended}`;
    this.said.className = verdict === "PASS" ? "same" : "differs";
    if (summary.first) put(this.result, firstDifference(summary.first, this.failed));
    if (this.failed.length) put(this.result, failures(this.failed));
    put(
      this.result,
      h(
        "table",
        {},
        h("caption", {}, "Verdicts by tag"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ...["tag", "cases", "pass", "fail", "other"].map((name) =>
              h("th", { scope: "col" }, name),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          ...summary.byTag.map((row) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, row.tag),
              ...[row.cases, row.pass, row.fail, row.other].map((value) => h("td", {}, value)),
            ),
          ),
        ),
      ),
    );
  }
}

/**
 * The link to a case's position, and the first square that differs.
 * @param {import("../worker.js").CaseOutcome} one
 */
function positionOf({ fen, square }) {
  return linkTo({ view: "exchange", fen, ...(square ? { square } : {}) });
}

/**
 * The first difference, with a link to its position, or to the first one that differs: cases of
 * arrays have none.
 * @param {NonNullable<CorpusSummary["first"]>} first
 * @param {import("../worker.js").CaseOutcome[]} failed
 */
function firstDifference(first, failed) {
  const seen = first.fen ? first : failed.find(({ fen }) => fen);
  return h(
    "div",
    { class: "note" },
    h("p", {}, h("strong", {}, `First that did not pass: ${first.id} (${first.verdict})`)),
    first.reason && h("p", { class: "text" }, first.reason),
    h("ul", {}, ...first.differences.slice(0, 20).map((line) => h("li", {}, line))),
    seen &&
      h(
        "p",
        {},
        h(
          "a",
          { href: positionOf(seen) },
          first.fen ? "Look at its position" : `Look at the position of ${seen.id}`,
        ),
      ),
  );
}

/**
 * The cases that did not pass, with links to their positions.
 * @param {import("../worker.js").CaseOutcome[]} cases
 */
function failures(cases) {
  const shown = cases.slice(0, MOST);
  const item = (/** @type {import("../worker.js").CaseOutcome} */ one) =>
    h(
      "li",
      {},
      one.fen ? h("a", { href: positionOf(one) }, one.id) : one.id,
      ` (${one.verdict}) `,
      h("span", { class: "hint" }, one.reason?.slice(0, 300)),
    );
  const more = cases.length - shown.length;
  return h(
    "details",
    {},
    h("summary", {}, `All that did not pass: ${cases.length}`),
    h("ul", {}, ...shown.map(item)),
    more > 0 && h("p", {}, `and ${more} more`),
  );
}
