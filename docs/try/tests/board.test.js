// Task 4 in Chromium: a board behind a fake navigator.serial, which is `hw-tests simulate board` with the
// real
// protocol.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bridge, fakeSerial } from "./bridge.js";
import { Pages, becomes, cells } from "./browser.js";
import { native, simulator } from "./native.js";

/** @type {Pages} */
let pages;
/** @type {Awaited<ReturnType<typeof simulator>>} */
let board;
/** @type {Awaited<ReturnType<typeof bridge>>} */
let line;
/**
 * A board at its own clock, on which a run lasts long enough to be broken.
 * @type {Awaited<ReturnType<typeof simulator>>}
 */
let slow;
/** @type {Awaited<ReturnType<typeof bridge>>} */
let loose;
before(async () => {
  pages = await Pages.open();
  board = await simulator("--free");
  line = await bridge(board.port);
  slow = await simulator();
  loose = await bridge(slow.port);
});
after(async () => {
  await pages.close();
  line.close();
  loose.close();
  board.end();
  slow.end();
});

/** The task with the port chosen, which a user does by a click or by Enter. */
async function visit(at = line) {
  const page = await pages.visit("#view=board", { bypassCSP: true }, (blank) =>
    blank.addInitScript(fakeSerial, at.url),
  );
  const hint = page.getByText("First choose the serial port");
  await hint.waitFor();
  const choose = page.getByRole("button", { name: "Choose a port…" });
  await choose.press("Enter");
  await page
    .locator("#board")
    .getByText(/^Open: /)
    .waitFor();
  const ready = page.getByRole("button", { name: "Who is there?" });
  await ready.and(page.locator(":enabled")).waitFor();
  assert.equal(await hint.count(), 0);
  return page;
}

/** @param {import("playwright-core").Page} page */
const said = (page) => page.locator("#board p[role=status]").first();
/** @param {import("playwright-core").Page} page */
const problem = (page) => page.locator("#board .problem").first();

test("a board is written, verified and judged, with the verdicts of hw-tests run", async () => {
  const page = await visit();
  await page.getByRole("button", { name: "Who is there?" }).press("Enter");
  await said(page)
    .filter({ hasText: /monitor/i })
    .waitFor();
  await page.getByRole("button", { name: "Write the evaluator" }).click();
  const image = await page.evaluate(() => document.querySelector("#board")?.textContent ?? "");
  assert.ok(image);
  await page
    .getByRole("button", { name: "Write the evaluator" })
    .and(page.locator(":enabled"))
    .waitFor();
  await page.getByRole("button", { name: "Verify" }).press("Space");
  await page.getByRole("button", { name: "Verify" }).and(page.locator(":enabled")).waitFor();
  assert.equal(await problem(page).textContent(), "");
  await page.locator("#board .corpus input").fill("document");
  await page.locator("#board").getByRole("button", { name: "Run the corpus" }).click();
  await page.locator("#board .corpus [role=status]").filter({ hasText: "PASS" }).waitFor();
  const rows = (await native("hw-tests", "run", "--tag", "document"))
    .split("\n")
    .map((text) => text.trim().split(/\s+/));
  for (const row of (await cells(page.locator("#board .corpus table"))).slice(1)) {
    const wanted = rows.find((other) => other[0] === row[0]);
    assert.deepEqual(
      row.slice(0, 4),
      [0, 1, 3, 4].map((at) => wanted?.[at]),
      row[0],
    );
  }
  await page.context().close();
  pages.clean();
  // The board hears one host at a time.
  await page.context().close();
});

/**
 * A run of the corpus whose board is unplugged as soon as cases are done.
 * @param {import("playwright-core").Page} page
 */
async function unplugWhileRunning(page) {
  await page.locator("#board .corpus input").fill("pin");
  await page.locator("#board").getByRole("button", { name: "Run the corpus" }).click();
  await page.locator("#board .corpus progress[value]").waitFor();
  loose.unplug();
  await page.locator("#board").getByText("The port has gone").waitFor();
}

test("a board that is unplugged ends the run with a message, and can be chosen again", async () => {
  const page = await visit(loose);
  await unplugWhileRunning(page);
  const verdict = page.locator("#board .corpus [role=status]");
  await verdict.filter({ hasText: "the device has been lost" }).waitFor();
  assert.doesNotMatch((await verdict.textContent()) ?? "", /PASS/);
  loose.plug();
  await page.getByRole("button", { name: "Choose a port…" }).and(page.locator(":enabled")).click();
  const open = page.locator("#board").getByText(/^Open: /);
  await open.waitFor();
  await page.context().close();
  pages.clean();
});

test("a terminal talks to the board", async () => {
  const page = await visit();
  await page.getByRole("button", { name: "Open the terminal" }).press("Enter");
  board.reset();
  await page.locator("#board .xterm-rows").filter({ hasText: /\S/ }).waitFor();
  await page.keyboard.press("F6");
  await page.context().close();
  pages.clean();
  // The board hears one host at a time.
  await page.context().close();
});

test("a program of one's own is written to the board and runs there", async () => {
  // At its own clock, it goes on sending while the line passes from the worker to the terminal.
  const page = await visit(loose);
  await page.getByRole("link", { name: "Write Z80 code" }).click();
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  // Written before the page had time to store what was chosen.
  await page.getByLabel("Example").evaluate((/** @type {HTMLSelectElement} */ example) => {
    example.value = "Primes below 1000";
    example.dispatchEvent(new Event("change"));
    const buttons = [...document.querySelectorAll("button")];
    buttons.find(({ textContent }) => textContent === "Write your program")?.click();
  });
  await page.getByRole("link", { name: "Connect a board" }).click();
  await said(page)
    .filter({ hasText: /bytes at 8000h, verified on the board; started at 8000h/ })
    .waitFor();
  assert.match((await said(page).textContent()) ?? "", /^primes\.asm: /);
  const isPrime = (/** @type {number} */ n) =>
    Array.from({ length: n - 2 }, (_, k) => k + 2).every((k) => n % k);
  const primes = Array.from({ length: 998 }, (_, n) => n + 2).filter(isPrime);
  // A row of the terminal may end within a number.
  const rows = page.locator("#board .xterm-rows");
  const digits = async () => ((await rows.textContent()) ?? "").replace(/\s/g, "");
  await becomes(async () => (await digits()).includes(primes.join("")), true);
  // At its end the monitor of the board is back.
  await page.getByRole("button", { name: "Who is there?" }).click();
  await said(page)
    .filter({ hasText: /monitor/i })
    .waitFor();
  await page.context().close();
  pages.clean();
});

test("a browser without Web Serial is told which one has it", async () => {
  const page = await pages.visit("#view=board", {}, (blank) =>
    blank.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "serial")),
  );
  await page.locator("#board .note").filter({ hasText: "Chrome" }).waitFor();
  await page.context().close();
  pages.clean();
});
