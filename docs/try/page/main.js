// The page: which task is shown, the worker that all tasks share, and the theme. Tasks beside the
// first are loaded when they are first shown.

import { Toolchain } from "./client.js";
import { h, messageOf } from "./dom.js";
import { ExchangeView } from "./exchange.js";
import { failure } from "./failure.js";
import { storePage } from "./isolation.js";
import { restore } from "./kept.js";
import { SavingView } from "./saving.js";
import { current, linkTo, onChange } from "./state.js";
import { takeShared } from "./share.js";
import { themeSwitch } from "./theme.js";

/** @typedef {import("./state.js").View} View */

const status = element("status");
const loading = element("loading");
/** Bytes of the module, which build.js writes into the page: its response may be compressed. */
const size = Number(loading.dataset.bytes);
const toolchain = new Toolchain(
  new URL("worker.js", document.baseURI),
  new URL("toolchain_bg.wasm", document.baseURI),
  (bytes) => {
    loading.querySelector("progress")?.setAttribute("value", String(bytes / size));
    loading.querySelector("span")?.replaceChildren(`${Math.floor((100 * bytes) / size)} %`);
  },
);

/** @type {Record<Exclude<View, "exchange">, (host: HTMLElement) => Promise<unknown>>} */
const LATER = {
  evaluator: async (host) => new (await import("./evaluator.js")).EvaluatorView(host, toolchain),
  program: async (host) => new (await import("./program.js")).ProgramView(host, toolchain),
  board: async (host) => new (await import("./realboard.js")).RealBoardView(host, toolchain),
};
const begun = new Set(["exchange"]);

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

function showView() {
  const { view } = current();
  for (const section of document.querySelectorAll("main > section")) {
    /** @type {HTMLElement} */ (section).hidden = section.id !== view;
  }
  for (const link of document.querySelectorAll("[data-view]")) {
    const of = /** @type {View} */ (link.getAttribute("data-view"));
    link.setAttribute("href", linkTo({ view: of }));
    if (of === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const isCode = view === "evaluator" || view === "program";
  element("code-tasks").hidden = !isCode;
  element("saving").hidden = !isCode;
  element("write-code").toggleAttribute("data-current", isCode);
  if (view !== "exchange" && !begun.has(view)) void begin(view);
}

/** @param {Exclude<View, "exchange">} view */
async function begin(view) {
  begun.add(view);
  const host = element(view);
  const waiting = h("p", { role: "status" }, "Loading…");
  host.append(waiting);
  try {
    await LATER[view](host);
    waiting.remove();
  } catch (error) {
    waiting.replaceWith(
      failure(`This part of the page could not be loaded: ${messageOf(error)}`),
    );
  }
}

toolchain.listen((event) => {
  if (event.event === "ready" || event.event === "broken") loading.hidden = true;
  if (event.event === "ready") {
    document.documentElement.dataset.toolchain = "ready";
    performance.mark("ready");
    status.textContent = `Toolchain ${event.version}, ${event.commit}`;
    void storePage().then((isStored) => (element("stored").hidden = !isStored));
  }
  if (event.event === "broken") {
    document.documentElement.dataset.toolchain = "broken";
    status.textContent = "The toolchain does not run.";
    element("broken").replaceChildren(failure(`The toolchain does not run: ${event.message}`));
  }
});
themeSwitch(/** @type {HTMLButtonElement} */ (element("theme")));
await restore();
new SavingView(element("saving"));
await takeShared(element("broken"));
new ExchangeView(element("exchange"), toolchain);
onChange(showView);
showView();
