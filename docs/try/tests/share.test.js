// Links with code: the receiver's page has the code and computes the figures again, and his own
// changes are not replaced unasked.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pages, becomes, cells, modifier } from "./browser.js";

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

/**
 * Puts a comment at the start of the evaluator's first file.
 * @param {import("playwright-core").Page} page
 * @param {string} text
 */
async function edit(page, text) {
  await page.locator("#evaluator .count").filter({ hasText: /\S/ }).waitFor();
  await page.locator("#evaluator .cm-content").focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.keyboard.insertText(text);
  await page.locator("#evaluator").getByText("Changed: xchng.asm").waitFor();
}

/** @param {import("playwright-core").Page} page */
async function figures(page) {
  await page.locator("#evaluator .challenge [data-link]").waitFor();
  return (await cells(page.locator("#evaluator .challenge table"))).slice(1);
}

/** @param {import("playwright-core").Page} page */
const first = (page) => page.locator("#evaluator .cm-line").first().textContent();

test("a challenge link carries code, and its figures are computed where it is opened", async () => {
  const page = await pages.visit("#view=evaluator&behaviour=corrected");
  await edit(page, "; shared\n");
  await page.getByRole("button", { name: "Compare and share" }).click();
  const shown = await figures(page);
  assert.deepEqual(
    shown.map(([name]) => name),
    ["your xchng.asm", "original, by its own reference", "corrected", "fast"],
  );
  assert.deepEqual(shown[0].slice(1), shown[2].slice(1), "a comment changes nothing");
  const link = await page.locator("[data-link]").getAttribute("data-link");
  const fragment = new URL(link ?? "").hash;

  const other = await pages.visit(fragment);
  assert.deepEqual(await figures(other), shown);
  await becomes(() => first(other), "; shared");

  const own = await pages.visit("#view=evaluator&behaviour=corrected");
  await edit(own, "; mine\n");
  await own.evaluate((hash) => {
    location.hash = hash;
    location.reload();
  }, fragment);
  await own.getByRole("button", { name: "Keep mine" }).click();
  await becomes(() => first(own), "; mine");

  const damaged = await pages.visit(`${fragment.slice(0, -20)}`);
  await damaged.locator("#broken", { hasText: "The code in this link is damaged" }).waitFor();
  pages.clean();
});
