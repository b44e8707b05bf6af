// The page's looks in Chromium: every task in both themes and three widths without findings of axe
// and without a sideways scroll; screenshots go to target/web-pictures.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Pages, modules } from "./browser.js";
import { built } from "./native.js";

const SIZES = [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
  { width: 3840, height: 2160 },
];
const FEN = "fen=r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K_w_-_-_0_1&square=e4";

/** What a task is brought to before it is looked at. */
const TASKS = {
  exchange: async (/** @type {import("playwright-core").Page} */ page) => {
    await page.locator("table.comparison").filter({ hasNotText: "…" }).waitFor();
  },
  evaluator: async (/** @type {import("playwright-core").Page} */ page) => {
    await page.locator("#evaluator [class*=tok-]").first().waitFor();
    await page.getByRole("button", { name: "Measure on the position" }).click();
    await page.locator("#evaluator .cm-times span").first().waitFor();
    await page.getByRole("button", { name: "Stop at XCHNG" }).click();
    await page.locator("#evaluator .cm-runs-next").waitFor();
    await page.getByRole("button", { name: "Run the corpus" }).click();
    await page.locator("#evaluator .corpus table").waitFor();
  },
  program: async (/** @type {import("playwright-core").Page} */ page) => {
    await page.locator("#program [class*=tok-]").first().waitFor();
    await page.getByRole("button", { name: "Assemble", exact: true }).click();
    await page.getByRole("button", { name: /Download .*\.hex/ }).waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator("#program .xterm-rows").filter({ hasText: "HELLO" }).waitFor();
  },
  board: async (/** @type {import("playwright-core").Page} */ page) => {
    // The page loads itself again first, to be isolated.
    await page.getByRole("button", { name: "Choose a port…" }).waitFor();
  },
};

/** @type {Pages} */
let pages;
const pictures = process.env.TRY_PICTURES ?? join(built, "../web-pictures");
before(async () => {
  pages = await Pages.open();
  await mkdir(pictures, { recursive: true });
});
after(() => pages.close());

for (const [task, prepare] of Object.entries(TASKS)) {
  test(`${task}: no findings of axe at any width, light and dark`, async () => {
    const axe = await readFile(modules.resolve("axe-core/axe.min.js"), "utf8");
    for (const viewport of SIZES) {
      for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
        const page = await pages.visit(`#view=${task}&${FEN}`, {
          viewport,
          colorScheme,
          bypassCSP: true,
        });
        await prepare(page);
        const name = `${task}-${viewport.width}-${colorScheme}`;
        await page.screenshot({
          path: join(pictures, `${name}.png`),
          fullPage: viewport.width < 1000,
        });
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => /** @type {any} */ (window).axe.run());
        const said = violations.map(
          (/** @type {any} */ one) =>
            `${one.id}: ${one.nodes.map((/** @type {any} */ node) => node.target).join(" ")}`,
        );
        assert.deepEqual(said, [], name);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.equal(wide, viewport.width, `${name} scrolls sideways`);
        await page.context().close();
      }
    }
    pages.clean();
  });
}

test("the theme goes from the system's to light, dark and back, and is remembered", async () => {
  const page = await pages.visit("", { colorScheme: "light" });
  const ground = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  const button = page.getByRole("button", { name: /^Theme/ });
  await button.press("Enter");
  assert.equal(await ground(), light);
  await button.press("Enter");
  assert.notEqual(await ground(), light);
  await page.reload();
  assert.match((await button.textContent()) ?? "", /dark/);
  assert.notEqual(await ground(), light);
  pages.clean();
});
