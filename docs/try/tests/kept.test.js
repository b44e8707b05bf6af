// Nothing is lost: files and their undo history outlive a reload and a closed tab, and what is
// taken away can be brought back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pages, becomes, modifier } from "./browser.js";

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

/**
 * The first two lines of the editor, which shows no more than fits.
 * @param {import("playwright-core").Page} page
 */
const text = (page) =>
  page
    .locator("section:not([hidden]) .cm-line")
    .allTextContents()
    .then((all) => all.slice(0, 2).join("\n"));

/**
 * Waits until the browser has stored a text.
 * @param {import("playwright-core").Page} page
 * @param {string} wanted
 */
async function stored(page, wanted) {
  const read = (/** @type {string} */ part) =>
    new Promise((resolve) => {
      const open = indexedDB.open("keyval-store");
      open.onsuccess = () => {
        const all = open.result.transaction("keyval").objectStore("keyval").getAll();
        all.onsuccess = () => resolve(JSON.stringify(all.result).includes(part));
      };
    });
  await becomes(() => page.evaluate(read, wanted), true);
}

/** @param {import("playwright-core").Page} page */
async function ready(page) {
  await page.locator("section:not([hidden]) .count").filter({ hasText: /\S/ }).waitFor();
}

/**
 * Types a comment at the start of a view's editor.
 * @param {import("playwright-core").Page} page
 * @param {string} view
 */
async function typeMine(page, view) {
  await page.locator(`#${view} .cm-content`).focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.keyboard.insertText("; mine");
}

test("a program outlives a closed tab, and its edits can be undone after that", async () => {
  const page = await pages.visit("#view=program");
  await ready(page);
  const original = await text(page);
  await typeMine(page, "program");
  await stored(page, "; mine");
  const other = await page.context().newPage();
  await page.close();
  await other.goto(`${pages.server.url}#view=program`);
  await ready(other);
  await becomes(() => text(other), `; mine${original}`);
  await other.locator("#program .cm-content").focus();
  await other.keyboard.press(`${modifier}+z`);
  await becomes(() => text(other), original);
  pages.clean();
});

test("a program outlives a crash of its tab", async () => {
  const page = await pages.visit("#view=program");
  await ready(page);
  const original = await text(page);
  await typeMine(page, "program");
  await stored(page, "; mine");
  const other = await page.context().newPage();
  const crashed = page.waitForEvent("crash");
  await page.goto("chrome://crash").catch(() => undefined);
  await crashed;
  await other.goto(`${pages.server.url}#view=program`);
  await ready(other);
  await becomes(() => text(other), `; mine${original}`);
  pages.clean();
});

test("what is typed just before the page reloads itself to be isolated is there after it", async () => {
  const page = await pages.visit("#view=program");
  await ready(page);
  const original = await text(page);
  assert.equal(await page.evaluate(() => window.crossOriginIsolated), false);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.locator("#program .cm-content").focus();
  await page.keyboard.press(`${modifier}+Home`);
  // The door is opened in the same turn as the text arrives.
  await page.evaluate(() => {
    document.execCommand("insertText", false, "; last");
    location.hash = "#view=board";
  });
  await page.getByRole("button", { name: "Choose a port…" }).waitFor();
  assert.ok(await page.evaluate(() => window.crossOriginIsolated), "it was loaded again");
  await page.getByRole("link", { name: "Write Z80 code" }).click();
  await ready(page);
  await becomes(() => text(page), `; last${original}`);
  pages.clean();
});

test("Back to the original, and a removed file, are taken back", async () => {
  const page = await pages.visit("#view=evaluator&behaviour=corrected");
  await ready(page);
  const original = await text(page);
  await typeMine(page, "evaluator");
  await page.locator("#evaluator").getByText("Changed: xchng.asm").waitFor();
  await page.locator("#evaluator .menu summary").first().click();
  await page.getByRole("button", { name: "Back to the original" }).click();
  await page.locator("#evaluator").getByText("As in the repository.").waitFor();
  await becomes(() => text(page), original);
  await page.locator("#evaluator .cm-content").focus();
  await page.keyboard.press(`${modifier}+z`);
  await becomes(() => text(page), `; mine${original}`);

  await page.getByRole("link", { name: "Write Z80 code" }).click();
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  await page.getByLabel("Name of a new file").fill("other.asm");
  await page.getByRole("button", { name: "New file" }).click();
  await page.keyboard.insertText("; other");
  await page.locator("#program .menu summary").first().click();
  await page.getByRole("button", { name: "Remove this file" }).click();
  await becomes(
    () => page.locator("#program").getByLabel("File", { exact: true }).inputValue(),
    "hello.asm",
  );
  await page.getByRole("button", { name: "Bring it back" }).click();
  await becomes(() => text(page), "; other");
  await page.locator("#program .cm-content").focus();
  await page.keyboard.press(`${modifier}+z`);
  await becomes(() => text(page), "");
  pages.clean();
});

test("all files are saved as a ZIP, and a ZIP and a folder are opened", async () => {
  const page = await pages.visit("#view=program");
  await ready(page);
  await page.locator("#program .cm-content").focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.keyboard.insertText("; in the ZIP\n");
  await page.locator("#program .menu summary").first().click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save all as a ZIP" }).click(),
  ]);
  const path = await download.path();
  const other = await pages.visit("#view=program");
  await ready(other);
  const picker = other.locator("#program input[type=file]").first();
  await picker.setInputFiles({
    name: "all.zip",
    mimeType: "application/zip",
    buffer: await (await import("node:fs/promises")).readFile(path),
  });
  await becomes(async () => (await text(other)).split("\n")[0], "; in the ZIP");
  assert.equal(await other.locator("#program input[webkitdirectory]").count(), 1);
  await picker.setInputFiles({
    name: "bad.zip",
    mimeType: "application/zip",
    buffer: Buffer.from("PK, but no ZIP"),
  });
  await other.locator("#program .problem", { hasText: "bad.zip" }).waitFor();
  pages.clean();
});
