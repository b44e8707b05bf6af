// How the page is loaded: the progress of the first time, and afterwards without a network.

import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "../build.js";
import { Pages } from "./browser.js";
import { built } from "./native.js";

/** @param {import("playwright-core").Page} page */
const stored = (page) => page.getByText("it works offline").waitFor();

/** Waits until all parts of the page have worked. */
async function useAll(/** @type {import("playwright-core").Page} */ page) {
  await page.locator("#exchange .verdict", { hasText: "answers" }).waitFor();
  await page.getByRole("link", { name: "Write Z80 code" }).click();
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  await page.getByRole("link", { name: "Sargon’s evaluator" }).click();
  await page.locator("#evaluator .count").filter({ hasText: "without messages" }).waitFor();
  await page.getByRole("link", { name: "Connect a board" }).click();
  await page.getByRole("button", { name: "Choose a port…" }).waitFor();
}

test("the first load shows its progress at the top, until the toolchain is there", async () => {
  const pages = await Pages.open(built, "/", 30);
  for (const width of [390, 768, 1440]) {
    const context = await pages.browser.newContext({ viewport: { width, height: 800 } });
    const page = await context.newPage();
    await page.goto(pages.server.url, { waitUntil: "commit" });
    const bar = page.getByRole("progressbar", { name: "Loading" });
    const values = [];
    while (values.length < 3) {
      const value = Number(await bar.getAttribute("value"));
      if (value > (values.at(-1) ?? 0)) values.push(value);
    }
    assert.ok(values[0] > 0 && values[2] < 1, `${values}`);
    const painted = () => performance.getEntriesByName("first-contentful-paint").length;
    assert.equal(await page.evaluate(painted), 1, "painted before the toolchain is there");
    assert.match((await page.locator("#loading").innerText()) ?? "", /Loading +\d+ %/);
    const height = () =>
      page.locator("header").evaluate((header) => header.getBoundingClientRect().height);
    const before = await height();
    const box = await bar.boundingBox();
    assert.ok(box && box.y + box.height < before, JSON.stringify(box));
    await page.locator("html[data-toolchain=ready]").waitFor({ state: "attached" });
    assert.ok(await bar.isHidden());
    assert.equal(await height(), before, "nothing below moves");
    await context.close();
  }
  await pages.close();
});

test("once loaded, all parts of the page work without a server, and nothing was loaded twice", async () => {
  const pages = await Pages.open();
  const page = await pages.visit();
  await stored(page);
  const modules = pages.server.asked.filter((file) => /\.wasm$|^page\//.test(file));
  assert.deepEqual(modules, [...new Set(modules)]);
  pages.server.close();
  await page.reload();
  await page.locator("html[data-toolchain=ready]").waitFor({ state: "attached" });
  await useAll(page);
  assert.ok(await page.evaluate(() => window.crossOriginIsolated));
  await pages.close();
});

test("a newer build replaces the one that the browser has stored", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tdl-try-"));
  await cp(built, folder, { recursive: true });
  const pages = await Pages.open(folder);
  const page = await pages.visit();
  await stored(page);
  const tags = page.locator('meta[property="og:title"]');
  assert.equal(await tags.count(), 0);
  await build(folder, "https://example.org/");
  for (const isOnline of [true, false]) {
    if (!isOnline) pages.server.close();
    await page.reload();
    assert.equal(await tags.count(), 1);
    await stored(page);
  }
  assert.equal((await page.evaluate(() => caches.keys())).length, 1);
  await pages.close();
  await rm(folder, { recursive: true });
});
