// Test files of the user's program, run on the simulated processor: a verdict for each case, with a
// link to its line.

import { button, choice, grouped, h, messageOf, replace, setOptions } from "./dom.js";

/** @typedef {import("../worker.js").SourceFile} SourceFile */

/** Words for a verdict. */
const WORDS = { pass: "passes", fail: "fails", skipped: "skipped" };

/** @param {SourceFile} file */
export function isTest({ name }) {
  return name.endsWith(".toml");
}

export class TestsPanel {
  /**
   * @param {import("./client.js").Toolchain} toolchain
   * @param {{ files: () => SourceFile[], onLine: (file: string, line: number) => void }} wishes
   */
  constructor(toolchain, wishes) {
    this.toolchain = toolchain;
    this.wishes = wishes;
    this.running = 0;
    this.file = choice("Test file", [], () => this.forget());
    this.start = button("Run the tests", () => void this.run());
    this.cancel = button(
      "Cancel",
      () => void this.toolchain.call("stop", { request: this.running }),
      { disabled: true },
    );
    this.said = h("p", { role: "status", class: "text" });
    this.list = h("ul", { class: "messages" });
    this.element = h(
      "div",
      { hidden: true, class: "tests" },
      h("h2", {}, "Test"),
      h("div", { class: "bar" }, this.file.element, this.start, this.cancel),
      this.said,
      this.list,
    );
  }

  /** @param {SourceFile[]} files */
  setFiles(files) {
    const names = files.filter(isTest).map(({ name }) => name);
    this.element.hidden = names.length === 0;
    setOptions(
      this.file.select,
      names.map((name) => [name, name]),
    );
    this.forget();
  }

  forget() {
    this.said.textContent = "";
    this.said.classList.remove("problem");
    replace(this.list);
  }

  async run() {
    this.forget();
    const test = this.file.select.value;
    this.start.disabled = true;
    this.cancel.disabled = false;
    this.said.textContent = "Running…";
    try {
      const run = this.toolchain.start("test", { files: this.wishes.files(), test });
      this.running = run.id;
      this.show(test, await run.reply);
    } catch (error) {
      this.said.textContent = messageOf(error);
      this.said.classList.add("problem");
    }
    this.start.disabled = false;
    this.cancel.disabled = true;
  }

  /**
   * @param {string} test
   * @param {import("../worker.js").Methods["test"]["result"]} result
   */
  show(test, { total, tests }) {
    const passed = tests.filter(({ verdict }) => verdict === "pass").length;
    const failed = tests.filter(({ verdict }) => verdict === "fail").length;
    const word = failed ? "FAIL" : passed === total ? "PASS" : "INCOMPLETE";
    this.said.textContent = `${word}: ${passed} of ${total} tests pass.`;
    this.said.classList.toggle("problem", failed > 0);
    replace(
      this.list,
      ...tests.map(({ name, line, verdict, reason, tStates }) =>
        h(
          "li",
          { class: verdict === "fail" ? "error" : "" },
          button(`${test}:${line}`, () => this.wishes.onLine(test, line)),
          h("span", { class: "text" }, `${WORDS[verdict]}: ${name}`),
          tStates !== null && h("span", { class: "hint" }, `${grouped(tStates)} T-states`),
          reason && h("span", { class: "hint text" }, reason),
        ),
      ),
    );
  }
}
