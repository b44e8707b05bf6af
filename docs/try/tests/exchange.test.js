// Task 1 in Chromium: board, FEN, link, residues and exchanges, by mouse, finger and keys. What the
// page shows is compared with what the native programs print.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pages, becomes, cells } from "./browser.js";
import { native, residues } from "./native.js";

const FAULT = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - - 0 1";
const PINS = "2kr4/6q1/8/5n2/2Kp4/3N3B/5Q2/6B1 w - - 0 1";
const BEHAVIOURS = ["original", "corrected", "fast"];

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

/** @param {string} text */
const number = (text) => Number(text.replace(/\s/g, "").replace(/\(.*/, ""));
/** @param {string} fen */
const link = (fen, square = "e4", behaviour = "corrected") =>
  `#view=exchange&fen=${fen.replaceAll(" ", "_")}&square=${square}&behaviour=${behaviour}`;

/**
 * The table of residues, once all three columns are there: row by name.
 * @param {import("playwright-core").Page} page
 */
async function comparison(page) {
  const table = page.locator("table.comparison");
  await table.filter({ hasNotText: "…" }).waitFor();
  return new Map((await cells(table)).map(([name, ...rest]) => [name, rest]));
}

test("residues, T-states and array of every piece are those of sargon residues", async () => {
  const answers = await Promise.all(BEHAVIOURS.map((name) => residues(FAULT, name)));
  const page = await pages.visit(link(FAULT));
  for (const { square } of answers[0].squares) {
    await page.locator(`[data-square=${square}]`).click();
    await page.getByRole("heading", { level: 2, name: `${square}:` }).waitFor();
    const table = await comparison(page);
    const own = answers.map(({ squares }) => squares.find((one) => one.square === square));
    assert.deepEqual(
      table.get("Z80 code, run")?.map(number),
      own.map((one) => one?.board),
      square,
    );
    assert.deepEqual(
      table.get("Reference")?.map(number),
      own.map((one) => one?.reference),
      square,
    );
    assert.deepEqual(
      table.get("T-states")?.map(number),
      own.map((one) => one?.t_states),
      square,
    );
    await page
      .locator("details", { hasText: "14 bytes" })
      .evaluate((box) => box.setAttribute("open", ""));
    const rows = (await cells(page.locator("table.bytes"))).slice(1);
    const half = (/** @type {string} */ text) => (text === "–" ? 0 : Number(text));
    const bytes = [1, 3].flatMap((at) => rows.map((row) => half(row[at]) * 16 + half(row[at + 1])));
    assert.deepEqual(bytes, own[1]?.array, square);
  }
  pages.clean();
});

test("minimax and swap are those of sargon differences", async () => {
  for (const fen of [FAULT, PINS]) {
    const page = await pages.visit(link(fen));
    const lines = (await native("sargon", "differences", fen)).split("\n");
    const rows = lines.flatMap((line) => /^([a-h][1-8]) . +(\d+) +(\d+) +(\d+)/.exec(line) ?? []);
    assert.ok(rows.length > 0, "the program lists squares");
    for (let at = 0; at < rows.length; at += 5) {
      await page.locator(`[data-square=${rows[at + 1]}]`).click();
      await page.getByRole("heading", { level: 2, name: `${rows[at + 1]}:` }).waitFor();
      const table = await comparison(page);
      assert.deepEqual(table.get("Minimax")?.[1], rows[at + 3], `${fen} ${rows[at + 1]}`);
      assert.deepEqual(table.get("Swap")?.[1], rows[at + 4], `${fen} ${rows[at + 1]}`);
    }
    await page.close();
  }
  pages.clean();
});

test("the steps are those of sargon explain, as a table and as arrows", async () => {
  const explained = (await native("sargon", "explain", FAULT, "e4")).split("\n");
  const wanted = explained.flatMap((line) => {
    const found = /^\d +(\S.*?) {2,}([\d-]+) +([\d-]+) +([\d-]+) +([\d-]+) {2,}/.exec(line);
    return found && /takes|calls|stops|help/.test(found[1]) ? [found.slice(1, 6)] : [];
  });
  assert.ok(wanted.length > 1, "the program prints steps");
  const page = await pages.visit(link(FAULT));
  await page.locator(".step-table tbody tr").first().waitFor();
  const rows = (await cells(page.locator(".step-table tbody"))).map((row) => row.slice(1));
  assert.deepEqual(
    rows.map((row) => row.slice(0, 5)),
    wanted.map((row) => row.map((cell) => (cell === "-" ? "–" : cell))),
  );
  assert.deepEqual(
    rows.map((row) => row[5]),
    rows.map(() => "same"),
  );
  await becomes(() => page.locator(".arrow").count(), wanted.length);
  await page.getByRole("button", { name: "Next ▶" }).click();
  await becomes(() => page.locator(".arrow").count(), 1);
  await page.keyboard.press("Enter");
  await becomes(() => page.locator(".arrow").count(), 2);
  await page.getByRole("button", { name: "Step 1" }).press("Space");
  await becomes(() => page.locator(".arrow").count(), 1);
  pages.clean();
});

test("pieces are set, moved and taken away by mouse", async () => {
  const page = await pages.visit(link("8/8/8/8/8/8/8/8 w - - 0 1"));
  const at = (/** @type {string} */ square) => page.locator(`[data-square=${square}]`);
  await page.getByRole("button", { name: "White rook" }).click();
  await at("e1").click();
  await page.getByRole("button", { name: "White rook" }).click();
  await page.getByRole("button", { name: "Black knight" }).dragTo(at("e5"));
  await becomes(async () => page.url().split("fen=")[1].split("_")[0], "8/8/8/4n3/8/8/8/4R3");
  await at("e1").dragTo(at("e2"));
  await becomes(async () => page.url().split("fen=")[1].split("_")[0], "8/8/8/4n3/8/8/4R3/8");
  await at("e5").click();
  assert.deepEqual((await comparison(page)).get("Z80 code, run")?.map(number), [3, 3, 3]);
  await at("e2").dragTo(page.getByRole("heading", { level: 1 }));
  await becomes(async () => page.url().split("fen=")[1].split("_")[0], "8/8/8/4n3/8/8/8/8");
  pages.clean();
});

test("pieces are set and moved by finger", async () => {
  const page = await pages.visit(link("8/8/8/8/8/8/8/8 w - - 0 1"), {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
  });
  await page.getByRole("button", { name: "Black queen" }).tap();
  await page.locator("[data-square=d4]").tap();
  await becomes(async () => page.url().split("fen=")[1].split("_")[0], "8/8/8/8/3q4/8/8/8");
  await page.getByRole("button", { name: "Black queen" }).tap();
  await page.locator("[data-square=d4]").tap();
  await page.getByRole("heading", { name: "d4: Black queen" }).waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(wide, 390);
  pages.clean();
});

test("pieces are set and taken away by keys, and a square is chosen", async () => {
  const page = await pages.visit(link("8/8/8/8/8/8/8/8 w - - 0 1", "a1"));
  await page.locator("[data-square=a1]").focus();
  for (const key of [
    "ArrowUp",
    "ArrowRight",
    "N",
    "ArrowLeft",
    "End",
    "k",
    "Home",
    "q",
    "Delete",
    "p",
  ]) {
    await page.keyboard.press(key === "N" ? "Shift+N" : key);
  }
  await becomes(async () => page.url().split("fen=")[1].split("_")[0], "8/8/8/8/8/8/pN5k/8");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "a2: Black pawn" }).waitFor();
  await becomes(
    () => page.locator("[data-square=b2]").getAttribute("aria-label"),
    "b2, White knight",
  );
  pages.clean();
});

test("a wrong FEN is refused in the program's words, and as text", async () => {
  const page = await pages.visit(link(FAULT));
  await page.getByLabel("FEN").fill("<img src=x onerror=alert(1)>/8 w");
  await page.locator("#fen-problem").filter({ hasText: /\S/ }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  await page.getByLabel("FEN").fill(PINS);
  await page.keyboard.press("Enter");
  await becomes(() => page.locator("#fen-problem").textContent(), "");
  await becomes(
    () => page.locator("[data-square=f2]").getAttribute("aria-label"),
    "f2, White queen",
  );
  pages.clean();
});

test("going back leads to the square and the position before, and forward again", async () => {
  const page = await pages.visit(link(FAULT));
  const title = (/** @type {string} */ text) =>
    page.getByRole("heading", { level: 2, name: text }).waitFor();
  await title("e4: Black knight");
  await page.locator("[data-square=e5]").click();
  await title("e5: White knight");
  await page.locator("[data-square=e5]").click();
  await page.locator("[data-square=f5]").dragTo(page.locator("[data-square=g4]"));
  await page.locator("[data-square=g4]").click();
  await title("g4: Black bishop");
  // What is typed in the field at once is one entry.
  const fen = page.getByLabel("FEN");
  for (const typed of ["4k3/8/8/3p4/8/2N5/8/4K3", "4k3/8/8/3p4/8/8/8/4K3"]) {
    await fen.fill(typed);
    await becomes(() => fen.inputValue(), `${typed} w - - 0 1`);
  }
  await page.goBack();
  await title("g4: Black bishop");
  await page.goBack();
  await page.goBack();
  await becomes(
    () => page.locator("[data-square=f5]").getAttribute("aria-label"),
    "f5, Black bishop",
  );
  await title("e5: White knight");
  await page.goBack();
  await title("e4: Black knight");
  await page.goForward();
  await title("e5: White knight");
  pages.clean();
});

test("the link carries the state, and going back leads to the task before", async () => {
  const page = await pages.visit(link(PINS, "d4", "original"));
  await page.getByRole("heading", { name: "d4: Black pawn" }).waitFor();
  assert.ok(await page.getByRole("radio", { name: "original" }).isChecked());
  await page.getByRole("link", { name: "Write Z80 code" }).press("Enter");
  await page.locator("#program .cm-editor").waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "d4: Black pawn" }).waitFor();
  assert.ok(await page.locator("#program").isHidden());
  pages.clean();
});
