// Faults that users met: each has its test here.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pages, becomes, modifier } from "./browser.js";

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

/** The routine answers nothing but 0 with this text. */
const NOTHING =
  "        .INTERN XCHNG\n        .LOC .PROG.\nXCHNG:  MVI E,0\n        RET\n        .END\n";

/**
 * @param {import("playwright-core").Page} page
 * @param {string} text
 */
async function write(page, text) {
  await page.locator("section:not([hidden]) .cm-content").focus();
  await page.keyboard.press(`${modifier}+a`);
  await page.keyboard.insertText(text);
}

test("a failing case opens on the square that differs, with the changed code", async () => {
  const page = await pages.visit("#view=evaluator&behaviour=corrected");
  await page.locator("#evaluator .count").filter({ hasText: /\S/ }).waitFor();
  await write(page, NOTHING);
  await page.locator("#evaluator").getByText("Changed: xchng.asm").waitFor();
  await page.locator("#evaluator .corpus input").fill("document");
  await page.getByRole("button", { name: "Run the corpus" }).click();
  const first = page.locator("#evaluator .corpus .note");
  const text = (await first.locator("li").first().textContent()) ?? "";
  const square = /^([a-h][1-8]):/.exec(text)?.[1];
  assert.ok(square, "the first difference names its square");
  await first.getByRole("link", { name: "Look at its position" }).click();
  await page.getByRole("heading", { level: 2, name: `${square}:` }).waitFor();
  await page.locator("#exchange .note", { hasText: "your changes of xchng.asm" }).waitFor();
  await page
    .locator("#exchange .verdict", { hasText: "Your changed program (corrected) answers" })
    .filter({ hasText: /loses 0 points\. Right is [1-9]/ })
    .waitFor();
  pages.clean();
});

test("an error stands once, with its line breaks, and each file has its own count", async () => {
  const page = await pages.visit("#view=program");
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  await write(page, "        MVI Q,1\n        .END\n");
  await page.locator("#program .messages li").waitFor();
  await page.getByRole("button", { name: "Assemble", exact: true }).click();
  await page.locator("#program").getByText("Not assembled.").waitFor();
  const shown = await page.locator("#program").innerText();
  assert.equal(shown.match(/error U01/g)?.length, 1, shown);
  await becomes(
    () =>
      page
        .locator("#program")
        .getByLabel("File", { exact: true })
        .locator("option")
        .allTextContents(),
    ["hello.asm (1)"],
  );
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const problem = page.locator("#program .problem[role=alert]");
  await problem.filter({ hasText: "does not assemble" }).waitFor();
  assert.match((await problem.innerText()) ?? "", /\n/);
  await write(page, "START:  JMP START\n        .END START\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await becomes(() => problem.textContent(), "");
  pages.clean();
});

test("a placement alone is taken as a FEN, and what was assumed is shown", async () => {
  const page = await pages.visit();
  await page.getByLabel("FEN").fill("4k3/8/8/3p4/8/2N5/8/4K3");
  const assumed = page.locator("#fen-assumed");
  await becomes(() => assumed.textContent(), "Assumed: White to move, no castling, no en passant.");
  await becomes(() => page.getByLabel("FEN").inputValue(), "4k3/8/8/3p4/8/2N5/8/4K3 w - - 0 1");
  await page.locator("[data-square=d5]").click();
  await page.locator("#exchange .verdict", { hasText: "Black loses 1 point: right." }).waitFor();
  pages.clean();
});

test("a part that is missing can be loaded later", async () => {
  // A browser that has not stored the page.
  const page = await pages.visit("", { serviceWorkers: "block" });
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Write Z80 code" }).click();
  const failure = page.locator("#program .failure");
  await failure.waitFor();
  await failure.getByRole("button", { name: "Try again" }).click();
  await failure.getByText("No connection").waitFor();
  await page.context().setOffline(false);
  await failure.getByRole("button", { name: "Try again" }).click();
  await page.locator("#program .cm-editor").waitFor();
  pages.faults.length = 0;
});

test("a toolchain that can't be loaded is reported, and can be tried again", async () => {
  for (const part of ["worker.js", "toolchain_bg.wasm"]) {
    const page = await (
      await pages.browser.newContext({ serviceWorkers: "block" })
    ).newPage();
    await page.route(`**/${part}`, (route) => route.abort());
    await page.goto(pages.server.url);
    const failure = page.locator("#broken .failure");
    await failure.filter({ hasText: "The toolchain does not run" }).waitFor();
    await becomes(() => page.getByText("being loaded").count(), 0);
    await page.unroute(`**/${part}`);
    await failure.getByRole("button", { name: "Try again" }).click();
    await page.locator("html[data-toolchain=ready]").waitFor({ state: "attached" });
    await page.locator("#exchange .verdict", { hasText: "answers" }).waitFor();
    assert.equal(await failure.count(), 0);
    await page.context().close();
  }
});

test("messages of a program of 2 MB are in view when it is assembled", async () => {
  const wrong = Array.from({ length: 60 }, (_, n) => `        MVI A,NAME${n}\n`).join("");
  const comment = `;${"a line that is nothing but a comment ".repeat(2)}\n`;
  const body = comment.repeat(Math.floor((2 * 1024 * 1024 - 2 * wrong.length) / comment.length));
  const buffer = Buffer.from(`${body}${wrong}        .END\n`);
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 768, height: 1024 },
    { width: 1440, height: 900 },
  ]) {
    const page = await pages.visit("#view=program", { viewport });
    await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
    const file = { name: "large.asm", mimeType: "text/plain", buffer };
    await page.locator("#program input[type=file]").first().setInputFiles(file);
    await becomes(() => page.locator("#program .count").textContent(), "60 errors.");
    await page.getByRole("button", { name: "Assemble", exact: true }).click();
    await page.locator("#program").getByText("Not assembled.").waitFor();
    for (const part of [".count", ".messages li:first-child"]) {
      const box = await page.locator(`#program ${part}`).boundingBox();
      const bottom = (box?.y ?? -1) + (box?.height ?? 0);
      assert.ok(box && box.y > -1 && bottom <= viewport.height, `${part} ${JSON.stringify(box)}`);
    }
    await page.locator("#program .messages").getByText("and 10 more").waitFor();
    await page.context().close();
  }
  pages.clean();
});

test("a program in ROM, or without memory, is reported before it runs", async () => {
  const page = await pages.visit("#view=program");
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  await write(page, "        .LOC 0\nSTART:  JMP START\n        .END START\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("#run-notice", { hasText: "in ROM" }).waitFor();
  await write(page, "        .LOC 7000H\nSTART:  JMP START\n        .END START\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("#program .problem", { hasText: "bytes at 7000h" }).waitFor();
  pages.clean();
});
