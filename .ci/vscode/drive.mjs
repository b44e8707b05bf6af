// Drives VS Code with the extension in Chromium, as a user does: `node drive.mjs COMMAND`, which
// starts code-server. WORKSPACE is an empty folder, PACKAGES that of playwright-core; pictures go
// to PICTURES.

import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, beforeEach, test as plain } from "node:test";

const { WORKSPACE, PACKAGES, PICTURES, CHROMIUM = "/usr/bin/chromium" } = process.env;
const { chromium } = createRequire(path.join(PACKAGES, "here.js"))("playwright-core");

/** Two routines, of which one never returns. */
const SOURCE = `        .IDENT MUL
        .INTERN MUL,FOREVR
MUL:    ADD B
        RNC
        MVI A,0FFH
        RET
FOREVR: JMPR FOREVR
        .END
`;
const TESTS = `sources = ["mul.asm"]
[[case]]
name = "sum"
call = "MUL"
in = { A = 3, B = 4 }
expect = { A = 7 }
[[case]]
name = "wrong sum"
call = "MUL"
in = { A = 3, B = 4 }
expect = { A = 8 }
[[case]]
name = "no end"
call = "FOREVR"
timeout = 1000
[[case]]
name = "later"
call = "MUL"
skip = "not yet"
`;
// A task loses what a program writes in the last tenth of a second before it ends.
const SLOW_END = '#!/bin/sh\ntdlasm "$@"\ncode=$?\nsleep 3\nexit $code\n';
const FILES = {
  assembler: SLOW_END,
  ".vscode/settings.json": JSON.stringify({ "tdl.assembler": path.join(WORKSPACE, "assembler") }),
  "mul.asm": SOURCE,
  "mul.test.toml": TESTS,
  "bad.asm": "        .IDENT BAD\nBAD:    MVI A,NONE\n        .END\n",
  "x86.asm": "section .text\n_start: mov eax, 1\n",
};

const test = (name, body) => plain(name, { timeout: 300_000 }, body);

let server, browser, page;

/** Starts code-server; returns its address. */
function serve([program, ...args]) {
  server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    let log = "";
    server.stdout.on("data", (text) => {
      log += text;
      const [, address] = /listening on (http:\S+)/.exec(log) ?? [];
      if (address) resolve(address);
    });
    server.on("exit", () => reject(new Error(`code-server ended: ${log}`)));
  });
}

before(async () => {
  const url = await serve(process.argv.slice(2));
  fs.mkdirSync(path.join(WORKSPACE, ".vscode"));
  for (const [name, text] of Object.entries(FILES)) {
    fs.writeFileSync(path.join(WORKSPACE, name), text, { mode: 0o755 });
  }
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(60_000);
  await page.goto(`${url}?folder=${WORKSPACE}`);
  await page.locator(".explorer-folders-view").getByText("mul.asm").waitFor();
});
after(async () => {
  server?.kill();
  await browser?.close();
});

// What a failed test left open.
beforeEach(() => page.keyboard.press("Escape"));

const picture = async (name) =>
  PICTURES && page.screenshot({ path: path.join(PICTURES, `${name}.png`) });

/** Chooses an entry of the list that a key opens. */
async function choose(key, text, entry = text) {
  if (key) await page.keyboard.press(key);
  await page.locator(".quick-input-box input").fill(text);
  const row = `.quick-input-list .monaco-list-row[aria-label^='${entry}']`;
  await page.locator(row).first().click();
}
const command = (title) => choose("F1", `>${title}`, title);
const open = async (name) => {
  await choose("Control+P", name);
  await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
};
const language = (name) => page.locator("#status\\.editor\\.mode", { hasText: name }).waitFor();
const chooseLanguage = async (name) => {
  await page.locator("#status\\.editor\\.mode a").click();
  await choose(undefined, name);
  await language(name);
};
/** A line of the Test Explorer, by its name and state. */
const tested = (label) => page.locator(`.test-explorer .monaco-list-row[aria-label^="${label}"]`);
const problem = (text) => page.locator(".markers-panel .monaco-list-row", { hasText: text });

test("a source of the dialect is claimed, another is not, and a choice stays", async () => {
  await open("mul.asm");
  await language("TDL");
  await open("x86.asm");
  await language("Plain Text");
  await chooseLanguage("TDL");
  await open("mul.asm");
  await chooseLanguage("Plain Text");
  await page.keyboard.press("Control+S");
  await language("Plain Text");
});

test("the language server reports mistakes, and so does the task that assembles", async () => {
  await open("bad.asm");
  await command("Problems: Focus on Problems View");
  await problem("NONE is not defined").waitFor();
  await picture("problems");
  // Without the server's message.
  await chooseLanguage("Plain Text");
  await problem("NONE is not defined").waitFor({ state: "detached" });
  await choose("Control+P", "task tdl", "All tdl tasks");
  await choose(undefined, "assemble", "tdl: assemble ${file}");
  await page.getByText("assemble ${file} - Task").first().waitFor();
  await command("Problems: Focus on Problems View");
  await problem("NONE is not defined").waitFor();
});

test("tests run in the Test Explorer, with their messages", async () => {
  await page.locator(".activitybar a[aria-label^=Testing]").click();
  await tested("mul.test.toml").waitFor();
  await command("Test: Run All Tests");
  await tested("mul.test.toml (Failed)").waitFor();
  await tested("mul.test.toml").click();
  await page.keyboard.press("ArrowRight");
  for (const label of [
    "sum (Passed)",
    "wrong sum (Failed)",
    "no end (Failed)",
    "not yet (Skipped)",
  ]) {
    await tested(label).waitFor();
  }
  await page.getByText("A: expected 8, got 7").first().waitFor();
  await picture("tests");
});

test("a case is debugged at its call", async () => {
  await tested("wrong sum").hover();
  await tested("wrong sum").locator('[aria-label="Debug Test"]').click();
  await page.locator(".debug-call-stack .monaco-list-row", { hasText: "mul.asm" }).waitFor();
  await page.locator(".repl", { hasText: "call 1 of 'wrong sum', MUL: A: expected 8" }).waitFor();
  await picture("debugger");
  await command("Debug: Stop");
  await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
});
