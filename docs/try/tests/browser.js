// Chromium with the built page, for all tests. Errors, warnings of the console and requests to
// anywhere else are collected, and a test that causes one fails.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { packages } from "../build.js";
import { built } from "./native.js";
import { serve } from "./serve.js";

export const modules = createRequire(join(packages(), "here.js"));
/** @type {typeof import("playwright-core")} */
const { chromium } = modules("playwright-core");

/** Milliseconds that the page has for what is asked of it. */
export const PATIENCE = Number(process.env.TRY_PATIENCE ?? 60_000);

/** A running Chromium and a server of the page. */
export class Pages {
  /**
   * @param {string} [folder]
   * @param {string} [base]
   * @param {number} [pause] Milliseconds after each 64 KiB of a file.
   */
  static async open(folder = built, base = "/", pause = 0) {
    const server = await serve(folder, base, pause);
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox"],
    });
    return new Pages(server, browser);
  }

  /**
   * @param {Awaited<ReturnType<typeof serve>>} server
   * @param {import("playwright-core").Browser} browser
   */
  constructor(server, browser) {
    this.server = server;
    this.browser = browser;
    /** @type {string[]} */
    this.faults = [];
  }

  /**
   * Opens the page with a fragment, and waits for the toolchain.
   * @param {string} fragment
   * @param {import("playwright-core").BrowserContextOptions} [options]
   * @param {(page: import("playwright-core").Page) => Promise<unknown>} [before]
   */
  async visit(fragment = "", options = {}, before = async () => {}) {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 900 },
      acceptDownloads: true,
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("console", (message) => {
      const isFault = ["error", "warning"].includes(message.type());
      // Of tests without a service worker.
      const isOurs = message.text().includes("registration blocked by Playwright");
      if (isFault && !isOurs) this.faults.push(message.text());
    });
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      const own =
        origin === new URL(this.server.url).origin || ["data:", "blob:"].includes(protocol);
      if (!own) this.faults.push(`request to ${request.url()}`);
    });
    await before(page);
    await page.goto(this.server.url + fragment);
    await page.locator("html[data-toolchain=ready]").waitFor({ state: "attached" });
    return page;
  }

  /** Fails if the page complained of anything since the last call. */
  clean() {
    const faults = this.faults.splice(0);
    assert.deepEqual(faults, []);
  }

  async close() {
    await this.browser.close();
    this.server.close();
  }
}

/**
 * Waits until a value is as it should be, and fails with the last one otherwise.
 * @template T
 * @param {() => Promise<T>} read
 * @param {T} wanted
 */
export async function becomes(read, wanted) {
  const end = Date.now() + PATIENCE;
  let last = await read();
  while (JSON.stringify(last) !== JSON.stringify(wanted) && Date.now() < end) {
    await new Promise((resolve) => setImmediate(resolve));
    last = await read();
  }
  assert.deepEqual(last, wanted);
}

/**
 * The texts of a table's cells, row by row.
 * @param {import("playwright-core").Locator} table
 */
export function cells(table) {
  return table
    .locator("tr")
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => (cell.textContent ?? "").trim())),
    );
}

/** The key that goes with letters for commands. */
export const modifier = process.platform === "darwin" ? "Meta" : "Control";
