// The Test Explorer's side of the extension, with a stand-in for the editor and one for hw-tests.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { afterEach, beforeEach, test: plain } = require("node:test");
const { activated } = require("./stub.test.js");

const test = (name, body) => plain(name, { timeout: 60_000 }, body);

/** What `hw-tests test --list=json` and `--results` write about these cases. */
const LISTED = [
  { line: 3, name: "small sum" },
  { line: 9, name: 'say "[x]"', tags: ["fast", "slow"] },
  { line: 12, name: "later", skip: "not yet" },
  { line: 16, name: "pushes" },
  { line: 20, name: "all words" },
  { line: 26, name: "all bytes" },
];
const A = { subject: "A", expected: "8", actual: "7" };
const WROTE = {
  subject: "wrote 5AH to 9000H",
  location: "8003H, PUSHY+1 (mul.asm:5)",
  advice: "name it",
};
const RESULTS = [
  { id: "small sum", verdict: "fail", differences: [A] },
  { id: 'say "[x]"', verdict: "pass" },
  { id: "pushes", verdict: "fail", differences: [WROTE] },
  { id: "all words part 1/3", verdict: "pass" },
  { id: "all words part 2/3", verdict: "fail", reason: "input 3: A = 1", case: "[[case]]" },
  { id: "all words part 3/3", verdict: "pass" },
  { id: "all bytes", verdict: "timeout" },
];
/** Stands in for hw-tests, records its arguments; `hang.test.toml` has one result and no end. */
const STAND_IN = `
const fs = require("node:fs");
const [listed, results] = ${JSON.stringify([LISTED, RESULTS])};
const args = process.argv.slice(2);
const file = args.at(-1);
fs.appendFileSync("arguments", JSON.stringify(args) + "\\n");
if (fs.readFileSync(file, "utf8") === "broken") {
  console.error("hw-tests: " + file + ":1:12: unclosed array");
  process.exit(3);
}
if (args.includes("--list=json")) {
  for (const one of listed) console.log(JSON.stringify({ file, tags: [], skip: null, ...one }));
} else {
  console.log("skip  later: not yet");
  const to = args[args.indexOf("--results") + 1];
  const append = (one) => fs.appendFileSync(to, JSON.stringify(one) + "\\n");
  append({ head: { results: 3 } });
  const hangs = file === "hang.test.toml";
  for (const { id, ...one } of hangs ? results.slice(0, 1) : results) {
    append({ case: { id: file + "::" + id, ...one } });
  }
  if (hangs) {
    fs.writeFileSync("new", String(process.pid));
    fs.renameSync("new", "pid");
    setTimeout(() => process.exit(), 30_000);
  }
}
`;

let root;
const file = (name) => path.join(root, name);
const never = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "vscode-"));
  for (const name of ["a.test.toml", "hang.test.toml", "mul.asm"]) fs.writeFileSync(file(name), "");
  fs.writeFileSync(file("broken.test.toml"), "broken");
  fs.writeFileSync(file("stand-in.js"), STAND_IN);
});
afterEach(() => fs.rmSync(root, { recursive: true }));

/** The extension with these test files listed. */
async function opened(names, tester = [process.execPath, file("stand-in.js")]) {
  const known = activated(root, { tester });
  known.files = names.map((name) => known.Uri.file(file(name)));
  await known.tests.resolveHandler(undefined);
  return known;
}
const item = (known, name) => known.tests.items.get(`file://${file(name)}`);
const cases = (known, name, ...ids) => ids.map((id) => item(known, name).children.get(id));

/** Runs cases; returns what was reported of each, in order, without its start. */
async function ran(known, request, token = never) {
  await known.tests.profiles.Run(request, token);
  const run = known.tests.runs.at(-1);
  assert.ok(run.ended);
  return run.reported.filter(({ kind }) => kind !== "started");
}
const brief = (reported) => reported.map(({ kind, id }) => `${kind} ${id}`);
const calls = () => fs.readFileSync(file("arguments"), "utf8").trim().split("\n").map(JSON.parse);

test("the cases of each file are listed with line, tags and why they are skipped", async () => {
  const known = await opened(["a.test.toml", "broken.test.toml"]);
  const { children, label, uri, error } = item(known, "a.test.toml");
  assert.deepEqual([label, error], ["a.test.toml", undefined]);
  const found = [...children.values()].map(({ label: name, range, tags, description }) => ({
    line: range.line + 1,
    name,
    ...(tags.length > 0 && { tags: tags.map(({ id }) => id) }),
    ...(description && { skip: description }),
  }));
  assert.deepEqual(found, LISTED);
  assert.match(item(known, "broken.test.toml").error, /broken.test.toml:1:12: unclosed array/);
  known.watcher.onDidDelete.fire(uri);
  assert.equal(item(known, "a.test.toml"), undefined);
  await Promise.all(known.watcher.onDidCreate.fire(uri));
  assert.equal(item(known, "a.test.toml").children.size, LISTED.length);
});

test("a file outside the workspace is listed once it is open", async () => {
  const known = await opened([]);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vscode-"));
  fs.writeFileSync(path.join(folder, "b.test.toml"), "");
  const uri = known.Uri.file(path.join(folder, "b.test.toml"));
  await Promise.all(known.workspace.onDidOpenTextDocument.fire({ uri, fileName: uri.fsPath }));
  fs.rmSync(folder, { recursive: true });
  assert.equal(known.tests.items.get(String(uri)).children.size, LISTED.length);
});

test("results have their messages, at the source where a finding names it", async () => {
  const known = await opened(["a.test.toml"]);
  const reported = await ran(known, {});
  assert.deepEqual(brief(reported), [
    "failed small sum",
    'passed say "[x]"',
    "failed pushes",
    "passed all words",
    "failed all words",
    "errored all bytes",
    "skipped later",
  ]);
  const [sum, , pushes, , words, bytes] = reported.map(({ messages }) => messages);
  const { message, expected, actual, location } = sum[0];
  assert.deepEqual([message, expected, actual], ["A: expected 8, got 7", "8", "7"]);
  assert.deepEqual([location.uri.fsPath, location.range.line], [file("a.test.toml"), 2]);
  assert.equal(pushes[0].message, "wrote 5AH to 9000H at 8003H, PUSHY+1 (mul.asm:5): name it");
  const source = pushes[0].location;
  assert.deepEqual([source.uri.fsPath, source.range.line], [file("mul.asm"), 4]);
  assert.equal(words[0].message, "input 3: A = 1\n\n[[case]]");
  assert.equal(bytes[0].message, "timeout");
  assert.equal(known.tests.runs[0].output, "skip  later: not yet\r\n");
});

test("what is selected runs, without what is excluded", async () => {
  const known = await opened(["a.test.toml", "hang.test.toml"]);
  const [sum, pushes] = cases(known, "a.test.toml", "small sum", "pushes");
  const one = await ran(known, { include: [pushes] });
  assert.deepEqual(brief(one), ["failed pushes"]);
  assert.ok(calls().at(-1).includes("--case=pushes"));
  const include = [item(known, "a.test.toml"), sum];
  const others = await ran(known, { include, exclude: [pushes] });
  assert.deepEqual(brief(others).length, 6);
  assert.ok(
    !calls()
      .at(-1)
      .some((text) => text.startsWith("--case")),
  );
  assert.ok(!brief(others).includes("failed pushes"));
});

test("a file with an error is read again, and the error is its result", async () => {
  const known = await opened(["broken.test.toml"]);
  const [{ kind, messages }] = await ran(known, {});
  assert.equal(kind, "errored");
  assert.match(messages[0].message, /unclosed array/);
  fs.writeFileSync(file("broken.test.toml"), "");
  assert.equal((await ran(known, {})).length, 7);
});

test("cancelling ends the program; what has a result keeps it", async () => {
  const known = await opened(["hang.test.toml", "a.test.toml"]);
  let cancel;
  const onCancellationRequested = (listener) => ((cancel = listener), { dispose() {} });
  const token = { isCancellationRequested: false, onCancellationRequested };
  const running = ran(known, {}, token);
  while (
    !fs.existsSync(file("pid")) ||
    !known.tests.runs[0]?.reported.some(({ kind }) => kind === "failed")
  ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  token.isCancellationRequested = true;
  cancel();
  assert.deepEqual(brief(await running), ["failed small sum", "skipped later"]);
  const pid = Number(fs.readFileSync(file("pid"), "utf8"));
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
});

test("a program that can't be started is named with its setting", async () => {
  const known = await opened(["a.test.toml"], ["no-such-program", "test"]);
  assert.match(item(known, "a.test.toml").error, /no-such-program ENOENT.*tdl\.tester/);
});

test("cases are debugged one after the other by the extension's debugger", async () => {
  const known = await opened(["a.test.toml"]);
  const include = cases(known, "a.test.toml", "small sum", "pushes");
  const debugging = known.tests.profiles.Debug({ include }, never);
  for (const [at, name] of ["small sum", "pushes"].entries()) {
    do await new Promise(setImmediate);
    while (known.sessions.length <= at);
    assert.equal(known.sessions.length, at + 1);
    const { folder, session } = known.sessions[at];
    assert.equal(folder.uri.fsPath, root);
    const { type, request, program, case: id } = session;
    assert.deepEqual([type, request, program, id], ["tdl", "launch", file("a.test.toml"), name]);
    known.stopDebugging();
  }
  await debugging;
  assert.ok(known.tests.runs[0].ended);
});
