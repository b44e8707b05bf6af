// Firefox, driven by WebDriver BiDi: the page loads, looks at an exchange, works without the server
// once it is loaded, and says that it has no Web Serial.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "../build.js";
import { PATIENCE, modules } from "./browser.js";
import { built, residues } from "./native.js";
import { serve } from "./serve.js";

const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const FEN = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - - 0 1";

/** @type {import("puppeteer-core").Browser} */
let browser;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
before(async () => {
  if (!existsSync(FIREFOX) && !process.env.CI) return;
  /** @type {typeof import("puppeteer-core").default} */
  const puppeteer = modules("puppeteer-core");
  server = await serve(built);
  browser = await puppeteer.launch({ browser: "firefox", executablePath: FIREFOX, headless: true });
});
after(async () => {
  await browser?.close();
  server?.close();
});

test("Firefox shows the residues of sargon residues", async (context) => {
  if (!browser) return context.skip("no Firefox here");
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`${server.url}#view=exchange&fen=${FEN.replaceAll(" ", "_")}&square=e4`);
  const wanted = await Promise.all(
    ["original", "corrected", "fast"].map(async (name) => {
      const { squares } = await residues(FEN, name);
      return String(squares.find(({ square }) => square === "e4")?.board);
    }),
  );
  await page.waitForFunction(() => {
    const table = document.querySelector("table.comparison");
    return table && !table.textContent?.includes("…");
  });
  const shown = await page.$$eval("table.comparison tbody tr:first-child td", (cells) =>
    cells.map((cell) => (cell.textContent ?? "").replace(/ .*/, "")),
  );
  assert.deepEqual(shown, wanted);
  await page.close();
});

test("Firefox works without the server once the page is loaded", async (context) => {
  if (!browser) return context.skip("no Firefox here");
  const own = await serve(built);
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(own.url);
  await page.waitForSelector("#stored", { visible: true });
  own.close();
  await page.reload();
  await page.waitForFunction(() =>
    document.querySelector("#exchange .verdict")?.textContent?.includes("answers"),
  );
  await page.close();
});

test("Firefox takes a newer build while it loads the page", async (context) => {
  if (!browser) return context.skip("no Firefox here");
  const folder = await mkdtemp(join(tmpdir(), "tdl-try-"));
  await cp(built, folder, { recursive: true });
  const own = await serve(folder, "/", 30);
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(own.url);
  for (const name of ["one", "two"]) {
    await page.waitForSelector("#stored:not([hidden])");
    await build(folder, `https://example.org/${name}/`);
    await page.reload();
    await page.waitForSelector("html[data-toolchain=ready]");
    const url = await page.$eval('meta[property="og:url"]', (tag) => tag.getAttribute("content"));
    assert.equal(url, `https://example.org/${name}/`);
  }
  await page.close();
  own.close();
  await rm(folder, { recursive: true });
});

test("Firefox shows the real board's task, or which browser has Web Serial", async (context) => {
  if (!browser) return context.skip("no Firefox here");
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`${server.url}#view=board`);
  const has = await page.evaluate(() => "serial" in navigator);
  await page.waitForFunction(
    (wanted) => document.querySelector("#board")?.textContent?.includes(wanted),
    {},
    has ? "Choose a port" : "Chrome",
  );
  console.log(`Firefox ${await browser.version()}: ${has ? "Web Serial" : "no Web Serial"}`);
  await page.close();
});
