// Task 2 in Chromium: editing the evaluator, its corpus, stepping and T-states, by mouse and by
// keys.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Pages, becomes, cells, modifier } from "./browser.js";
import { native } from "./native.js";

const LINK = "#view=evaluator&fen=6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1_w_-_-_0_1&square=e4";

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

/** @param {import("playwright-core").Page} page */
async function editor(page) {
  const content = page.locator("#evaluator .cm-content");
  await content.waitFor();
  await page.locator("#evaluator .count").filter({ hasText: /\S/ }).waitFor();
  return content;
}

/**
 * The verdicts that a native run prints by tag: name, cases, pass, fail.
 * @param {string} text
 */
function tagsOf(text) {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  return rows.filter((row) => row.length === 10).map((row) => [row[0], row[1], row[3], row[4]]);
}

/** @param {import("playwright-core").Page} page */
async function tagsShown(page) {
  const rows = await cells(page.locator("#evaluator .corpus table"));
  return rows.slice(1).map((row) => row.slice(0, 4));
}

test("the corpus runs in the page with the verdicts of hw-tests run", async () => {
  const page = await pages.visit(LINK);
  await editor(page);
  await page.getByRole("button", { name: "Run the corpus" }).click();
  await page.locator("#evaluator .corpus [role=status]").filter({ hasText: "PASS" }).waitFor();
  const wanted = tagsOf(await native("hw-tests", "run"));
  const shown = await tagsShown(page);
  assert.ok(shown.length > 2, "verdicts by tag");
  for (const row of shown) {
    assert.deepEqual(
      row,
      wanted.find((other) => other[0] === row[0]),
      row[0],
    );
  }
  pages.clean();
});

test("a run is cancelled by key and says how far it came", async () => {
  const page = await pages.visit(LINK);
  await editor(page);
  await page.getByRole("button", { name: "Run the corpus" }).press("Enter");
  await page.getByRole("button", { name: "Cancel" }).press("Enter");
  await page
    .locator("#evaluator .corpus [role=status]")
    .filter({ hasText: "INCOMPLETE" })
    .waitFor();
  pages.clean();
});

test("a changed XCHNG fails where the native program says that it does", async () => {
  const page = await pages.visit(LINK);
  const content = await editor(page);
  await page.locator("#evaluator").getByLabel("File", { exact: true }).selectOption("xchng.asm");
  await content.focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.keyboard.insertText("; changed\n");
  await page.locator("#evaluator").getByText("Changed: xchng.asm").waitFor();
  // The routine answers nothing but 0 with this first line.
  await page.keyboard.press(`${modifier}+a`);
  const text =
    "        .INTERN XCHNG\n        .LOC .PROG.\nXCHNG:  MVI E,0\n        RET\n        .END\n";
  await page.keyboard.insertText(text);
  await becomes(
    () => page.locator("#evaluator .count").textContent(),
    "Assembles without messages.",
  );
  await page.getByRole("button", { name: "Run the corpus" }).click();
  await page.locator("#evaluator .corpus [role=status]").filter({ hasText: "FAIL" }).waitFor();
  const folder = await mkdtemp(join(tmpdir(), "tdl-try-"));
  try {
    await writeFile(join(folder, "xchng.asm"), text);
    const wanted = tagsOf(await native("hw-tests", "run", "--sargon-dir", folder));
    for (const row of await tagsShown(page)) {
      assert.deepEqual(
        row,
        wanted.find((other) => other[0] === row[0]),
        row[0],
      );
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  await page.locator("#evaluator .menu summary").first().click();
  await page.getByRole("button", { name: "Back to the original" }).click();
  await page.locator("#evaluator").getByText("As in the repository.").waitFor();
  pages.clean();
});

test("a mistake is reported as it is typed, and hover explains an instruction", async () => {
  const page = await pages.visit(LINK);
  const content = await editor(page);
  await content.focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.keyboard.insertText("        LXI     Q,1\n");
  const message = page.locator("#evaluator .messages li").first();
  await message.filter({ hasText: "E" }).waitFor();
  assert.match((await message.locator("button").textContent()) ?? "", /:1:\d+$/);
  await page.keyboard.press(`${modifier}+z`);
  await becomes(() => page.locator("#evaluator .messages li").count(), 0);
  assert.ok((await page.locator("#evaluator [class*=tok-]").count()) > 10, "tokens are coloured");
  await page
    .locator("#evaluator .cm-line", { hasText: /^\s+[A-Z]+\s/ })
    .first()
    .click({ position: { x: 90, y: 8 } });
  await page.locator("#evaluator .about .markdown").waitFor();
  pages.clean();
});

test("the evaluator is stepped forward and back, with registers, array and the line", async () => {
  const page = await pages.visit(LINK);
  await editor(page);
  await page.getByRole("button", { name: "Stop at XCHNG" }).click();
  const state = page.locator("#evaluator .debug-state");
  await state.getByText("Attackers array").waitFor();
  await page.locator("#evaluator .cm-runs-next").waitFor();
  const where = () => page.locator("#evaluator .debugger [role=status]").textContent();
  const first = await where();
  const line = () => page.locator("#evaluator .cm-runs-next").textContent();
  const start = await line();
  await page.getByRole("button", { name: "Over" }).press("n");
  await page
    .locator("#evaluator .debugger [role=status]")
    .filter({ hasNotText: first ?? "" })
    .waitFor();
  assert.notEqual(await line(), start);
  await page.keyboard.press("b");
  await becomes(line, start);
  pages.clean();
});

test("the time line moves the board back and forth, and watched values follow it", async () => {
  const page = await pages.visit(LINK);
  await editor(page);
  await page.getByRole("button", { name: "Stop at XCHNG" }).click();
  const panel = page.locator("#evaluator .debugger");
  const line = () => page.locator("#evaluator .cm-runs-next").textContent();
  await panel.getByLabel("Expression to watch").fill("SP");
  await page.keyboard.press("Enter");
  const watched = panel.locator(".watches code");
  const cell = panel.locator("[data-register=SP] dd");
  const counter = panel.locator("[data-register=PC] dd");
  const shown = (/** @type {string | null} */ digits) =>
    `SP = ${digits} (${Number.parseInt(digits ?? "", 16)})`;
  await becomes(() => watched.textContent(), shown(await cell.textContent()));
  const start = await line();
  const seen = [];
  for (let step = 0; step < 6; step++) {
    const before = await counter.textContent();
    await page.getByRole("button", { name: "Step i" }).and(page.locator(":enabled")).click();
    await counter.filter({ hasNotText: before ?? "" }).waitFor();
    seen.push([await line(), await cell.textContent()]);
  }
  const time = panel.getByLabel("Time");
  const [first, last] = await time.evaluate((slider) => {
    const { min, max } = /** @type {HTMLInputElement} */ (slider);
    return [Number(min), Number(max)];
  });
  assert.ok(last > first);
  await time.press("Home");
  await becomes(line, start);
  await time.press("End");
  await becomes(line, seen[5][0]);
  await becomes(() => watched.textContent(), shown(seen[5][1]));
  await panel.getByRole("button", { name: "Stop watching SP" }).click();
  await becomes(() => watched.count(), 0);
  await panel.getByLabel("Expression to watch").fill("NOSUCH");
  await page.keyboard.press("Enter");
  await panel.getByText("NOSUCH").waitFor();
  pages.clean();
});

test("registers and labels show what they stand for now", async () => {
  const page = await pages.visit(LINK);
  await editor(page);
  await page.getByRole("button", { name: "Stop at XCHNG" }).click();
  const cell = page.locator("#evaluator [data-register=SP]");
  const value = await cell.locator("dd").textContent();
  await cell.hover();
  const tip = page.locator("#meaning:popover-open");
  const decimal = Number.parseInt(value ?? "", 16);
  await tip.filter({ hasText: `SP is ${value} = ${decimal}` }).waitFor();
  await page.mouse.move(0, 0);
  await tip.waitFor({ state: "detached" });
  // The label on the line that runs next is where the Z80 is.
  const counter = await page.locator("#evaluator [data-register=PC] dd").textContent();
  await page.locator("#evaluator .cm-runs-next").getByText("XCHNG").first().hover();
  await page.locator(".cm-tooltip .value", { hasText: `XCHNG is ${counter}` }).waitFor();
  pages.clean();
});

test("T-states stand beside the lines that ran", async () => {
  const page = await pages.visit(LINK);
  await editor(page);
  await page.getByRole("button", { name: "Measure on the position" }).press("Enter");
  await page.locator("#evaluator .cm-times span").first().waitFor();
  await page.getByRole("button", { name: "Hide" }).click();
  await becomes(() => page.locator("#evaluator .cm-times span").count(), 0);
  pages.clean();
});
