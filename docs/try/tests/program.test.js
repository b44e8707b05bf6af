// Task 3 in Chromium: files, assembling, downloads, a run with a terminal, by mouse and by keys.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Pages, becomes, modifier } from "./browser.js";
import { native } from "./native.js";

const CRC = fileURLToPath(new URL("../page/examples/crc.asm", import.meta.url));
const HELLO = fileURLToPath(new URL("../page/examples/hello.asm", import.meta.url));

/** @type {Pages} */
let pages;
/** @type {string} */
let folder;
before(async () => {
  pages = await Pages.open();
  folder = await mkdtemp(join(tmpdir(), "tdl-try-"));
});
after(async () => {
  await pages.close();
  await rm(folder, { recursive: true });
});

async function visit() {
  const page = await pages.visit("#view=program");
  await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
  return page;
}

/**
 * What a download button gives.
 * @param {import("playwright-core").Page} page
 * @param {RegExp} name
 */
async function downloaded(page, name) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name }).click(),
  ]);
  return readFile(await download.path());
}

test("HEX, BIN and listing are those of tdlasm", async () => {
  const page = await visit();
  await page.getByRole("button", { name: "Assemble", exact: true }).click();
  await page.getByRole("button", { name: /Download .*\.hex/ }).waitFor();
  for (const kind of ["hex", "bin"]) {
    const file = join(folder, `hello.${kind}`);
    await native("tdlasm", "asm", HELLO, "-o", file);
    assert.deepEqual(
      await downloaded(page, new RegExp(`Download .*\\.${kind}$`)),
      await readFile(file),
      kind,
    );
  }
  assert.equal((await downloaded(page, /Download .*\.elf$/)).subarray(1, 4).toString(), "ELF");
  const listing = join(folder, "hello.lst");
  await native("tdlasm", "asm", HELLO, "-o", join(folder, "x.hex"), "--listing", listing);
  const shown = await page.locator("#program .listing").textContent();
  const code = (/** @type {string | null} */ text) =>
    (text ?? "").split("\n").filter((line) => /^8[0-9A-F]{3} /.test(line));
  assert.deepEqual(code(shown), code(await readFile(listing, "utf8")));
  pages.clean();
});

test("a program runs with a terminal, and is left by key", async () => {
  const page = await visit();
  await page.getByRole("button", { name: "Run", exact: true }).press("Enter");
  const screen = () => page.locator("#program .xterm-rows").textContent();
  await page.locator("#program .xterm-rows").filter({ hasText: "HELLO FROM THE Z80" }).waitFor();
  await page.keyboard.type("abc");
  await page.locator("#program .xterm-rows").filter({ hasText: "abc" }).waitFor();
  await page.keyboard.press("F6");
  await becomes(
    () => page.evaluate(() => document.activeElement?.textContent ?? ""),
    "Clear the terminal",
  );
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.locator("#program").getByText("stopped").waitFor();
  assert.match((await screen()) ?? "", /abc/);
  pages.clean();
});

test("files are opened and dropped, and a file inserts another", async () => {
  const page = await visit();
  const main = join(folder, "main.asm");
  await writeFile(
    main,
    [".INSERT part", ".LOC 8000H", "START: MVI A,COUNT", "JMP 0", ".END START", ""].join("\n"),
  );
  await writeFile(join(folder, "part.asm"), "COUNT == 5\n");
  await page.locator("input[type=file]").first().setInputFiles([main, join(folder, "part.asm")]);
  await page.getByLabel("Main file").selectOption("main.asm");
  await becomes(() => page.locator("#program .count").textContent(), "Assembles without messages.");
  await page.evaluate(() => {
    const files = new DataTransfer();
    files.items.add(new File(["        .LOC 8000H\n        RET\n        .END\n"], "dropped.asm"));
    const drop = (/** @type {string} */ type) =>
      new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true });
    for (const type of ["dragover", "drop"])
      document.querySelector("main")?.dispatchEvent(drop(type));
  });
  await becomes(
    () => page.locator("#program").getByLabel("File", { exact: true }).inputValue(),
    "dropped.asm",
  );
  pages.clean();
});

test("a file with a mistake is not assembled, and its message leads to the place", async () => {
  const page = await visit();
  await page.locator("#program .cm-content").focus();
  await page.keyboard.press(`${modifier}+a`);
  await page.keyboard.insertText("        NOSUCH  1\n        .END\n");
  await page.getByRole("button", { name: "Assemble", exact: true }).press("Enter");
  const place = page.locator("#program .messages button").first();
  await place.press("Enter");
  await becomes(
    () => page.evaluate(() => document.activeElement?.className.includes("cm-content") ?? false),
    true,
  );
  assert.equal(await page.getByRole("button", { name: /Download .*\.(hex|bin|elf)$/ }).count(), 0);
  pages.clean();
});

/** @param {number} limit */
function primesBelow(limit) {
  const isPrime = (/** @type {number} */ n) =>
    n > 1 && Array.from({ length: n - 2 }, (_, k) => k + 2).every((k) => n % k);
  return Array.from({ length: limit }, (_, n) => n).filter(isPrime);
}

test("the examples run: all primes below 1000, and the check value of CRC-16/XMODEM", async () => {
  const page = await visit();
  const rows = page.locator("#program .xterm-rows");
  for (const [name, wanted] of [
    ["Primes below 1000", primesBelow(1000).slice(-5).join(" ")],
    ["A CRC with its tests", "31C3"],
  ]) {
    await page.getByLabel("Example").selectOption(name);
    await page.locator("#program .count").filter({ hasText: "without messages" }).waitFor();
    await page.getByLabel("Speed").selectOption("full");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    // A row of the terminal may end within a number.
    const text = async () => ((await rows.textContent()) ?? "").replace(/\s/g, "");
    await becomes(async () => (await text()).includes(wanted.replaceAll(" ", "")), true);
  }
  pages.clean();
});

test("a program's test file runs in the page, with the verdicts of hw-tests test", async () => {
  const page = await visit();
  assert.ok(await page.getByRole("button", { name: "Run the tests" }).isHidden());
  await page.getByLabel("Example").selectOption("A CRC with its tests");
  await page.getByRole("button", { name: "Run the tests" }).click();
  const tests = page.locator("#program .tests");
  await tests.getByText("PASS: 3 of 3 tests pass.").waitFor();
  // A polynomial that is wrong in its low byte.
  await becomes(() => page.getByLabel("Main file").inputValue(), "crc.asm");
  await page.locator("#program .cm-content").focus();
  const changed = (await readFile(CRC, "utf8")).replace("XRI     21H", "XRI     20H");
  await page.keyboard.press(`${modifier}+a`);
  await page.keyboard.insertText(changed);
  await page.getByRole("button", { name: "Run the tests" }).click();
  await tests.getByText("FAIL: ").waitFor();
  await writeFile(join(folder, "crc.asm"), changed);
  const cases = join(folder, "crc.test.toml");
  await writeFile(cases, await readFile(CRC.replace(".asm", ".test.toml"), "utf8"));
  const wanted = (await native("hw-tests", "test", cases)).match(/DE: expected .*/)?.[0];
  assert.ok(wanted);
  await tests.getByText(wanted).waitFor();
  await tests.getByRole("button", { name: "crc.test.toml:4" }).click();
  await page.locator("#program .cm-activeLine", { hasText: "[[case]]" }).waitFor();
  await page.keyboard.press(`${modifier}+a`);
  await page.keyboard.insertText("sources = 3\n");
  await page.getByRole("button", { name: "Run the tests" }).click();
  await tests.getByText("crc.test.toml:1:11").waitFor();
  pages.clean();
});

test("a program is stepped from its first instruction", async () => {
  const page = await visit();
  await page.getByRole("button", { name: "Stop at the first instruction" }).click();
  await page.locator("#program .cm-runs-next", { hasText: "SP,0FF00H" }).waitFor();
  await page.getByRole("button", { name: "Step i" }).press("Enter");
  await page.locator("#program .cm-runs-next", { hasText: "H,TEXT" }).waitFor();
  await page.getByRole("button", { name: "Back b", exact: true }).press("Enter");
  await page.locator("#program .cm-runs-next", { hasText: "SP,0FF00H" }).waitFor();
  for (const [text, problem] of [
    ["€", "missing value before '€'"],
    ["für", "unknown name 'für'"],
    ["[é]", "unknown name 'é'"],
  ]) {
    await page.getByLabel("Expression to watch").fill(text);
    await page.keyboard.press("Enter");
    await page.locator("#program .problem", { hasText: problem }).waitFor();
  }
  await page.getByRole("button", { name: "Step i" }).press("Enter");
  await page.locator("#program .cm-runs-next", { hasText: "H,TEXT" }).waitFor();
  pages.clean();
});
