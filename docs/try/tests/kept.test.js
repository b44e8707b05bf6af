// Nothing is lost: files and their undo history outlive a reload and a closed tab, and what is
// taken away can be brought back.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { Pages, becomes, modifier, modules } from "./browser.js";

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

/** Waits until the page says that everything is stored. */
async function saved(/** @type {import("playwright-core").Page} */ page) {
  await page.locator("#saved", { hasText: "Saved in this browser." }).waitFor();
}

/**
 * Types at the start of the program.
 * @param {import("playwright-core").Page} page
 * @param {string} words
 */
async function typeAt(page, words) {
  await page.bringToFront();
  await page.locator("#program .cm-content").focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.keyboard.insertText(words);
}

/** A browser in which all stores throw, as in a frame without an origin. */
function refuseAll() {
  for (const name of ["indexedDB", "localStorage", "sessionStorage"]) {
    const get = () => {
      throw new DOMException("no storage here", "SecurityError");
    };
    Object.defineProperty(window, name, { get });
  }
}

/** A browser whose database can't be opened, and which has no room elsewhere. */
function refuseOpening() {
  IDBFactory.prototype.open = () => {
    throw new DOMException("no storage here", "InvalidStateError");
  };
  Storage.prototype.setItem = () => {
    throw new DOMException("no storage here", "QuotaExceededError");
  };
}

/**
 * The text of the only file of a ZIP.
 * @param {string} path
 */
async function textIn(path) {
  /** @type {typeof import("fflate")} */
  const { strFromU8, unzipSync } = modules("fflate");
  const texts = Object.values(unzipSync(await readFile(path)));
  assert.equal(texts.length, 1);
  return strFromU8(texts[0]);
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

test("what is typed is there after a reload at once, and after the choice of another evaluator", async () => {
  const page = await pages.visit("#view=program");
  await ready(page);
  const original = await text(page);
  await page.locator("#program .cm-content").focus();
  await page.keyboard.press(`${modifier}+Home`);
  // IndexedDB has no time to write, as when the page goes while it is busy.
  const loaded = page.waitForEvent("load");
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new Error("too late");
    };
    document.execCommand("insertText", false, "; at once");
    location.reload();
  });
  await loaded;
  await ready(page);
  await becomes(() => text(page), `; at once${original}`);
  await saved(page);
  await stored(page, "; at once");

  await page.goto(`${pages.server.url}#view=evaluator&behaviour=corrected`);
  await page.locator("#evaluator select[data-loaded=corrected]").waitFor();
  await page.locator("#evaluator .cm-content").focus();
  await page.keyboard.press(`${modifier}+Home`);
  await page.evaluate(async () => {
    document.execCommand("insertText", false, "; of corrected");
    // The editor has noticed, and has not kept it yet.
    while (document.querySelector("#saved")?.textContent !== "Saving…") {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    location.hash = location.hash.replace("corrected", "original");
  });
  await page.locator("#evaluator select[data-loaded=original]").waitFor();
  await page.locator("#evaluator").getByText("As in the repository.").waitFor();
  await page.locator("#evaluator").getByLabel("Evaluator", { exact: true }).selectOption("corrected");
  await page.locator("#evaluator").getByText("Changed: xchng.asm").waitFor();
  assert.match(await text(page), /^; of corrected/);
  pages.clean();
});

test("a browser that refuses storage shows the whole page, and that nothing is saved", async () => {
  for (const refuse of [refuseAll, refuseOpening]) {
    const page = await pages.visit("#view=program", {}, (one) => one.addInitScript(refuse));
    await ready(page);
    const problem = page.locator("#saving").getByRole("alert");
    await problem.filter({ hasText: "Not saved: no storage here" }).waitFor();
    const original = await text(page);
    await typeMine(page, "program");
    await problem.filter({ hasText: "Not saved: no storage here" }).waitFor();
    const [copy] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save a copy as a ZIP" }).click(),
    ]);
    assert.match(await textIn(await copy.path()), /^; mine/);
    await page.getByRole("button", { name: "Assemble", exact: true }).click();
    await page.locator("#program").getByText("CRC-32").waitFor();
    await page.getByRole("link", { name: "Try a position" }).click();
    await page.locator("#exchange").getByText("residue").first().waitFor();
    await page.getByRole("link", { name: "Write Z80 code" }).click();
    await becomes(() => text(page), `; mine${original}`);
    await page.close();
  }
  pages.clean();
});

test("storage that is full is reported until there is room again", async () => {
  const page = await pages.visit("#view=program");
  await ready(page);
  await saved(page);
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    Object.assign(window, { room: () => (IDBObjectStore.prototype.put = put) });
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("the disk is full", "QuotaExceededError");
    };
  });
  await typeMine(page, "program");
  const problem = page.locator("#saving").getByRole("alert");
  await problem.filter({ hasText: "Not saved: the disk is full" }).waitFor();
  assert.equal(await page.locator("#saved").textContent(), "");
  await page.evaluate(() => /** @type {any} */ (window).room());
  await page.keyboard.insertText(" and more");
  await saved(page);
  await problem.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Save a copy as a ZIP" }).waitFor({ state: "hidden" });
  await stored(page, "; mine and more");
  pages.clean();
});

test("two tabs with the same files lose nothing: the user chooses", async () => {
  const one = await pages.visit("#view=program");
  await ready(one);
  const original = await text(one);
  const other = await one.context().newPage();
  await other.goto(`${pages.server.url}#view=program`);
  await ready(other);
  await typeAt(one, "; one");
  await stored(one, "; one");
  await typeAt(other, "; two");
  const choice = (/** @type {import("playwright-core").Page} */ page, /** @type {string} */ name) =>
    page.locator("#saving").getByRole("button", { name });
  await choice(other, "Take the other version").waitFor();
  await stored(other, "; one");
  await stored(other, "; two");

  // The choice outlives the tabs.
  await other.reload();
  await ready(other);
  await becomes(() => text(other), `; one${original}`);
  await choice(other, "Take the other version").click();
  await becomes(() => text(other), `; two${original}`);
  await other.locator("#saving .note button").first().waitFor({ state: "detached" });
  await saved(other);
  await other.locator("#program .cm-content").focus();
  await other.keyboard.press(`${modifier}+z`);
  await becomes(() => text(other), `; one${original}`);
  await other.keyboard.press(`${modifier}+Shift+z`);
  await saved(other);

  // The first tab has not seen that, and now has the choice, too.
  await typeAt(one, "; three ");
  await choice(one, "Keep what this tab has").click();
  await saved(one);
  await becomes(() => text(one), `; three ; one${original}`);
  await one.reload();
  await ready(one);
  await becomes(() => text(one), `; three ; one${original}`);
  assert.equal(await one.locator("#saving .note button").count(), 0);
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
    buffer: await readFile(path),
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
