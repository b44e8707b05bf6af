// The corpus by the code in the editor beside the evaluators that ship, and a link with that code.
// All figures are those of runs in this page.

import { button, download, grouped, h, messageOf, put, replace } from "./dom.js";
import { packed } from "./packed.js";
import { linkWith } from "./share.js";
import { BEHAVIOURS } from "./state.js";
import { term } from "./words.js";

/** @typedef {import("../worker.js").Behaviour} Behaviour */
/** @typedef {import("../worker.js").CorpusSummary} CorpusSummary */
/** @typedef {import("../worker.js").SourceFile} SourceFile */

export class ChallengePanel {
  /**
   * @param {import("./client.js").Toolchain} toolchain
   * @param {() => { behaviour: Behaviour, files?: SourceFile[] }} program
   */
  constructor(toolchain, program) {
    this.toolchain = toolchain;
    this.program = program;
    this.start = button("Compare and share", () => void this.run());
    this.said = h("p", { role: "status", class: "text" });
    this.result = h("div", { class: "wide-table" });
    this.element = h("div", { class: "challenge" }, this.start, this.said, this.result);
  }

  async run() {
    const own = this.program();
    this.start.disabled = true;
    replace(this.result);
    this.said.textContent = "Running…";
    try {
      const rows = h("tbody", {});
      const head = h("tr", {}, h("td", {}), h("th", { scope: "col" }, "right"));
      put(head, h("th", { scope: "col" }, term("T-states"), " a position"));
      put(this.result, h("table", {}, h("thead", {}, head), rows));
      const first = own.files ? `your ${own.files.map(({ name }) => name).join(", ")}` : "";
      if (first) put(rows, row(first, await this.corpus(own)));
      for (const behaviour of BEHAVIOURS) {
        const name = behaviour === "original" ? "original, by its own reference" : behaviour;
        put(rows, row(name, await this.corpus({ behaviour })));
      }
      this.said.textContent = "";
      await this.offer(own.files ?? []);
    } catch (error) {
      this.said.textContent = messageOf(error);
    }
    this.start.disabled = false;
  }

  /** @param {{ behaviour: Behaviour, files?: SourceFile[] }} program */
  corpus(program) {
    return this.toolchain.call("corpus", program);
  }

  /** @param {SourceFile[]} files */
  async offer(files) {
    const link = await linkWith(files, true);
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(link ?? "");
        this.said.textContent = "Copied: whoever opens it has the figures computed again.";
      } catch {
        this.said.textContent = link;
      }
    };
    const save = () => download("evaluator.zip", packed(files));
    put(
      this.result,
      link
        ? button("Copy the challenge link", () => void copy(), { "data-link": link })
        : button("Too long for a link: save the files", save),
    );
  }
}

/**
 * @param {string} name
 * @param {CorpusSummary} summary
 */
function row(name, { counts, tStates }) {
  const isRight = counts.pass === counts.cases;
  const right = `${grouped(counts.pass)} of ${grouped(counts.cases)}`;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    h("td", { class: isRight ? "same" : "differs" }, right),
    h("td", {}, tStates === null ? "–" : grouped(tStates)),
  );
}
