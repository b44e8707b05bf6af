// The way of a new user: opens the page, plays the fault, changes one line, sees the corpus fail,
// opens the failing case, undoes, shares.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pages, becomes, modifier } from "./browser.js";

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

test("a new user plays the fault, breaks the code, sees why, undoes and shares", async () => {
  const page = await pages.visit("", {
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const verdict = page.locator("#exchange .verdict");
  await verdict.filter({ hasText: "The original program answers" }).waitFor();
  await page.getByRole("button", { name: "▶ Play" }).click();
  await page.locator("#exchange .live [role=status]", { hasText: "XCHNG returns" }).first().waitFor();
  await page.getByRole("button", { name: "■ Stop" }).click();

  await page.getByRole("link", { name: "Write Z80 code" }).click();
  await page.getByRole("link", { name: "Sargon’s evaluator" }).click();
  const evaluator = page.locator("#evaluator");
  await evaluator.getByLabel("Evaluator", { exact: true }).selectOption("corrected");
  await evaluator.locator("select[data-loaded=corrected]").waitFor();
  // With this the attackers are taken for the defenders.
  await evaluator.locator(".cm-scroller").hover();
  await page.mouse.wheel(0, 400);
  await evaluator.locator(".cm-line", { hasText: "JRC ..SET" }).first().click();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.insertText("        JRNC ..SET");
  await evaluator.getByText("Changed: xchng.asm").waitFor();
  await becomes(() => evaluator.locator(".count").textContent(), "Assembles without messages.");

  await page.getByRole("button", { name: "Run the corpus" }).click();
  await evaluator.locator(".corpus [role=status]", { hasText: "FAIL" }).waitFor();
  await evaluator.getByRole("link", { name: "Look at" }).click();
  await verdict
    .filter({ hasText: "Your changed program (corrected) answers" })
    .filter({ hasText: "Right is" })
    .waitFor();

  await page.goBack();
  await evaluator.locator(".cm-content").focus();
  await page.keyboard.press(`${modifier}+z`);
  await evaluator.getByText("As in the repository.").waitFor();
  await page.getByRole("button", { name: "Run the corpus" }).click();
  await evaluator.locator(".corpus [role=status]", { hasText: "PASS" }).waitFor();

  await page.getByRole("button", { name: "Compare and share" }).click();
  const share = evaluator.locator("[data-link]");
  await share.click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, await share.getAttribute("data-link"));
  const other = await pages.visit(new URL(link).hash);
  await other.locator("#evaluator .challenge [data-link]").waitFor();
  pages.clean();
});
