// What a new user meets first: the fault of the original, Play, the three doors, terms that explain
// themselves, and an answer that a telephone shows without scrolling.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pages, becomes } from "./browser.js";
import { native, residues } from "./native.js";

const FAULT = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - - 0 1";
const PHONE = { viewport: { width: 390, height: 844 } };

/** @type {Pages} */
let pages;
before(async () => (pages = await Pages.open()));
after(() => pages.close());

/** @param {string} behaviour */
async function residue(behaviour) {
  const { squares } = await residues(FAULT, behaviour);
  return squares.find(({ square }) => square === "e4");
}

/** @param {import("playwright-core").Page} page */
const step = (page) => page.locator("#exchange .live [role=status]");

test("the page opens on a fault of the original, with what is right and the line that has it", async () => {
  const [wrong, right] = await Promise.all([residue("original"), residue("corrected")]);
  assert.notEqual(wrong?.board, right?.board);
  for (const options of [{}, PHONE, { viewport: { width: 768, height: 1024 } }]) {
    const page = await pages.visit("", options);
    const verdict = page.locator("#exchange .verdict");
    const text =
      `The original program answers that Black loses ${wrong?.board} points. ` +
      `Right is ${right?.board}.`;
    await becomes(() => verdict.textContent(), text);
    const play = page.getByRole("button", { name: "▶ Play" });
    for (const shown of [verdict, play]) {
      const box = await shown.boundingBox();
      const height = page.viewportSize()?.height ?? 0;
      assert.ok(box && box.y >= 0 && box.y + box.height <= height, JSON.stringify(box));
    }
    await page.context().close();
  }
  const page = await pages.visit();
  const place = page.locator("#exchange .reason a");
  const [file] = ((await place.textContent()) ?? "").split(":");
  await place.click();
  await becomes(
    () => page.locator("#evaluator").getByLabel("File", { exact: true }).inputValue(),
    file,
  );
  await page.locator("#evaluator .cm-activeLine", { hasText: /MOV\s+A,C/ }).waitFor();
  pages.clean();
});

test("Play shows captures, array and what the Z80 returns, and gives the board back", async () => {
  const explained = await native("sargon", "explain", FAULT, "e4");
  const captures = [...explained.matchAll(/^\d +(\S.* takes)/gm)].map(([, text]) => text);
  assert.ok(captures.length > 1);
  const [wrong, right] = await Promise.all([residue("original"), residue("corrected")]);
  const page = await pages.visit("", { reducedMotion: "reduce" });
  await page.getByRole("button", { name: "▶ Play" }).click();
  await step(page).filter({ hasText: "XCHNG begins" }).waitFor();
  await step(page).filter({ hasText: `original program: XCHNG returns ${wrong?.board}.` }).waitFor();
  for (const text of captures) {
    await step(page).filter({ hasText: text }).waitFor();
    // The array has a piece fewer with each capture; counts are its first bytes.
    await page.locator("#exchange .live .changed").first().waitFor();
  }
  await becomes(
    () => page.locator("[data-square=e4]").getAttribute("aria-label"),
    "e4, White queen",
  );
  await step(page).filter({ hasText: `XCHNG returns ${right?.board}.` }).waitFor();
  await page.getByRole("button", { name: "▶ Play again" }).waitFor();
  await becomes(
    () => step(page).textContent(),
    `Play has ended. The original program answers ${wrong?.board}. ` +
      `The corrected program answers ${right?.board}.`,
  );
  assert.match(
    (await page.locator("[data-square=e4]").getAttribute("aria-label")) ?? "",
    /^e4, Black knight/,
  );
  pages.clean();
});

test("a play ends though the board is turned while a piece moves", async () => {
  const page = await pages.visit(
    "#view=exchange&fen=6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1_w_-_-_0_1&square=e4",
  );
  await page.getByRole("button", { name: "▶ Play" }).and(page.locator(":enabled")).click();
  await page.locator(".square.moving").waitFor();
  await page.locator("#exchange .menu summary").first().click();
  await page.getByRole("button", { name: "Turn the board" }).click();
  await page.getByRole("button", { name: "▶ Play again" }).waitFor();
  pages.clean();
});

test("a play is stopped by another square", async () => {
  const page = await pages.visit();
  await page
    .getByRole("button", { name: "▶ Play" })
    .and(page.locator(":enabled"))
    .press("Enter");
  await step(page).filter({ hasText: "XCHNG begins" }).waitFor();
  await page.locator("[data-square=e5]").click();
  await page.getByRole("button", { name: "▶ Play" }).waitFor();
  assert.ok(await page.locator("#exchange .live").isHidden());
  pages.clean();
});

test("three doors lead to a position, to code and to a board, and fit a telephone", async () => {
  const page = await pages.visit("", PHONE);
  const doors = page.getByRole("navigation", { name: "Tasks" }).getByRole("link");
  assert.deepEqual(await doors.allTextContents(), [
    "Try a position",
    "Write Z80 code",
    "Connect a board",
  ]);
  const rows = await doors.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
  assert.equal(new Set(rows).size, 1, "in one row");
  await doors.nth(1).click();
  await page.locator("#program .cm-editor").waitFor();
  await page.getByRole("link", { name: "Sargon’s evaluator" }).click();
  await page.locator("#evaluator .cm-editor").waitFor();
  await doors.nth(2).click();
  // The page loads itself again, to be isolated.
  await page.getByRole("button", { name: "Choose a port…" }).waitFor();
  await page.goBack();
  await page.locator("#evaluator .cm-editor").waitFor();
  pages.clean();
});

test("the first screen explains residue, pinned, the year and the points where they stand", async () => {
  const page = await pages.visit();
  const exchange = page.locator("#exchange");
  await exchange.locator("table.comparison").filter({ hasNotText: "…" }).waitFor();
  for (const sentence of [
    /a chess program of 1978 for home computers with the Z80 processor/,
    /a pawn is worth 1, knight and bishop 3, rook 5, queen 9/,
    /Points that Black loses when the captures on e4 are played out, the residue/,
    /original is the program of 1978, corrected has none of its faults/,
    /Pinned on the board: .*A pinned piece may not leave the line to its own king or queen/,
  ])
    assert.match(await exchange.innerText(), sentence);
  pages.clean();
});

test("terms explain themselves by pointer, key and finger", async () => {
  const open = async (/** @type {import("playwright-core").Page} */ page) => {
    const meaning = page.locator("#meaning:popover-open");
    await meaning.filter({ hasText: "the owner of a square loses" }).waitFor();
  };
  const page = await pages.visit();
  const term = page.locator("button.term", { hasText: "residue" });
  await term.hover();
  await open(page);
  await page.mouse.move(0, 0);
  await page.locator("#meaning:popover-open").waitFor({ state: "detached" });
  await term.press("Enter");
  await open(page);
  await page.keyboard.press("Escape");
  await page.locator("#meaning:popover-open").waitFor({ state: "detached" });
  const phone = await pages.visit("", { ...PHONE, hasTouch: true, isMobile: true });
  await phone.locator("button.term", { hasText: "residue" }).tap();
  await open(phone);
  pages.clean();
});

test("no badge covers an arrow", async () => {
  for (const fen of [FAULT, "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - - 0 1"]) {
    const page = await pages.visit(`#view=exchange&fen=${fen.replaceAll(" ", "_")}&square=e4`);
    await page.locator("table.comparison").filter({ hasNotText: "…" }).waitFor();
    const covered = await page.evaluate(() => {
      const badges = [...document.querySelectorAll(".loss")].map((one) =>
        one.getBoundingClientRect(),
      );
      /** @type {string[]} */
      const found = [];
      for (const line of /** @type {NodeListOf<SVGLineElement>} */ (
        document.querySelectorAll(".arrow line")
      )) {
        const map = line.getScreenCTM();
        const length = line.getTotalLength();
        for (let at = 0; map && at <= length; at += 0.02) {
          const { x, y } = line.getPointAtLength(at).matrixTransform(map);
          const hit = badges.find(
            (box) => x > box.left && x < box.right && y > box.top && y < box.bottom,
          );
          if (hit) found.push(`${x} ${y}`);
        }
      }
      return found;
    });
    assert.deepEqual(covered, [], fen);
    await page.context().close();
  }
  pages.clean();
});
