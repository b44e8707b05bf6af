// The page as it is published: below a path, by a server that sends no headers, with tags for where
// its link is pasted.

import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "../build.js";
import { Pages } from "./browser.js";
import { built } from "./native.js";

const ADDRESS = "https://example.org/z80/try";

/** @type {Pages} */
let pages;
/** @type {string} */
let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tdl-try-"));
  for (const file of ["toolchain.js", "toolchain_bg.wasm"])
    await copyFile(join(built, file), join(folder, file));
  await build(folder, ADDRESS);
  pages = await Pages.open(folder, "/z80/try/");
});
after(async () => {
  await pages.close();
  await rm(folder, { recursive: true });
});

test("all parts of the page work below a path, and isolation too", async () => {
  const page = await pages.visit();
  assert.match(page.url(), /\/z80\/try\//);
  await page.locator("#exchange .verdict", { hasText: "answers" }).waitFor();
  await page.getByRole("link", { name: "Write Z80 code" }).click();
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  await page.getByRole("link", { name: "Connect a board" }).click();
  await page.getByRole("button", { name: "Choose a port…" }).waitFor();
  assert.ok(await page.evaluate(() => window.crossOriginIsolated));
  pages.clean();
});

test("a pasted link has title, description and picture, if the address was given", async () => {
  const page = await pages.visit();
  const content = (/** @type {string} */ tag) =>
    page.locator(`meta[property="og:${tag}"]`).getAttribute("content");
  assert.equal(await content("title"), await page.title());
  assert.equal(
    await content("description"),
    await page.locator("meta[name=description]").getAttribute("content"),
  );
  assert.equal(await content("url"), `${ADDRESS}/`);
  const picture = (await content("image")) ?? "";
  assert.ok(picture.startsWith(`${ADDRESS}/`));
  const response = await page.request.get(pages.server.url + picture.slice(ADDRESS.length + 1));
  const bytes = await response.body();
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  // Width and height as in the header of a PNG: pages show a large picture from 300 by 157 on.
  assert.ok(bytes.readUInt32BE(16) >= 1000 && bytes.readUInt32BE(20) >= 500);
  const local = await Pages.open();
  const without = await local.visit();
  assert.equal(await without.locator('meta[property^="og:"]').count(), 0);
  await local.close();
  pages.clean();
});
