// Draws the four pictures of docs/TRY.md from the page as it is built: `node
// docs/try/tests/pictures.js`.

import { fileURLToPath } from "node:url";
import { bridge, fakeSerial } from "./bridge.js";
import { Pages } from "./browser.js";
import { simulator } from "./native.js";

const POSITION = "fen=r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K_w_-_-_0_1&square=e4";
const OPTIONS = { viewport: { width: 1180, height: 780 } };

const pages = await Pages.open();

/**
 * @param {import("playwright-core").Page} page
 * @param {string} name
 */
async function draw(page, name) {
  const path = fileURLToPath(new URL(`../../pictures/try-${name}.png`, import.meta.url));
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.screenshot({ path });
  await page.context().close();
}

const exchange = await pages.visit(`#view=exchange&${POSITION}`, OPTIONS);
await exchange.locator("table.comparison").filter({ hasNotText: "…" }).waitFor();
await draw(exchange, "exchange");

const evaluator = await pages.visit(`#view=evaluator&${POSITION}`, OPTIONS);
await evaluator.locator("#evaluator [class*=tok-]").first().waitFor();
await evaluator.getByRole("button", { name: "Measure on the position" }).click();
await evaluator.locator("#evaluator .cm-times span").first().waitFor();
await evaluator.getByRole("button", { name: "Stop at XCHNG" }).click();
await evaluator.locator("#evaluator .cm-runs-next").waitFor();
await draw(evaluator, "evaluator");

const program = await pages.visit("#view=program", OPTIONS);
await program.locator("#program [class*=tok-]").first().waitFor();
await program.getByRole("button", { name: "Assemble", exact: true }).click();
await program.getByRole("button", { name: /Download .*\.hex/ }).waitFor();
await program.getByRole("button", { name: "Run", exact: true }).click();
await program.locator("#program .xterm-rows").filter({ hasText: "HELLO" }).waitFor();
await draw(program, "program");

const simulated = await simulator("--free");
const line = await bridge(simulated.port);
const board = await pages.visit("#view=board", { ...OPTIONS, bypassCSP: true }, (blank) =>
  blank.addInitScript(fakeSerial, line.url),
);
await board.getByRole("button", { name: "Choose a port…" }).click();
await board
  .locator("#board")
  .getByText(/^Open: /)
  .waitFor();
await board
  .getByRole("button", { name: "Write the evaluator" })
  .and(board.locator(":enabled"))
  .click();
await board
  .getByRole("button", { name: "Write the evaluator" })
  .and(board.locator(":enabled"))
  .waitFor();
await board.locator("#board").getByRole("button", { name: "Run the corpus" }).click();
await board.locator("#board .corpus table").waitFor();
await draw(board, "board");
line.close();
simulated.end();
await pages.close();
