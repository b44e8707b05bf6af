// The test files of hw-tests in the Test Explorer.
"use strict";

const child = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");

const GLOB = "**/*.test.toml";
const SKIPPED = "{**/node_modules/**,**/target/**}";
/** Milliseconds between two looks at the results of a run. */
const POLL_INTERVAL = 200;

/** The folder in which hw-tests runs for a test file, and the file's name there. */
function place({ uri }) {
  const cwd = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
  return { cwd, name: path.relative(cwd, uri.fsPath) };
}

/**
 * Runs a program to its end, or until it is cancelled; its exit code and what it wrote.
 * @param {string[]} command the program and its arguments
 * @param {string} cwd
 * @param {vscode.CancellationToken} [token]
 * @param {(text: string) => void} [onOutput]
 * @returns {Promise<{ code: number | null, out: string, errors: string }>}
 */
function execute(command, cwd, token, onOutput) {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const running = child.spawn(program, args, { cwd });
    const cancelling = token?.onCancellationRequested(() => running.kill());
    const written = { out: "", errors: "" };
    const keep = (stream, key) =>
      stream.setEncoding("utf8").on("data", (text) => ((written[key] += text), onOutput?.(text)));
    keep(running.stdout, "out");
    keep(running.stderr, "errors");
    running.on("error", (error) =>
      reject(new Error(`${error.message}; see the setting tdl.tester`)),
    );
    running.on("close", (code) => (cancelling?.dispose(), resolve({ code, ...written })));
  });
}

/** The objects of a text with one a line of JSON; an incomplete last line is ignored. */
const objects = (text) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** The place in a source that ends a finding, as in `MUL+3 (mul.asm:17)`, if that file exists. */
function sourceOf(finding, item) {
  const [, name, line] = /\(([^()]+):(\d+)\)$/.exec(finding) ?? [];
  const file = name && path.resolve(path.dirname(item.uri.fsPath), name);
  if (file && fs.existsSync(file))
    return new vscode.Location(vscode.Uri.file(file), new vscode.Position(Number(line) - 1, 0));
}

/** The messages of a case that did not pass. */
function messages({ verdict, reason, differences = [], case: failing }, item) {
  const input = [reason, failing].filter(Boolean).join("\n\n");
  const made = differences.map(({ subject, expected, actual, location: at, advice }) => {
    const finding = at ? `${subject} at ${at}` : subject;
    const message =
      expected === undefined
        ? new vscode.TestMessage(advice ? `${finding}: ${advice}` : finding)
        : vscode.TestMessage.diff(`${subject}: expected ${expected}, got ${actual}`, expected, actual);
    message.location = sourceOf(finding, item);
    return message;
  });
  if (input || made.length === 0) made.push(new vscode.TestMessage(input || verdict));
  for (const message of made) message.location ??= new vscode.Location(item.uri, item.range);
  return made;
}

/** A function that calls `onCase` for each result appended to a file since its last call. */
function reader(file, onCase) {
  let read = 0;
  return () => {
    const added = fs.existsSync(file) ? objects(fs.readFileSync(file, "utf8")).slice(read) : [];
    read += added.length;
    added.filter((one) => one.case).forEach((one) => onCase(one.case));
  };
}

/** Runs cases of one file, and reports each as soon as it has a result. */
async function runFile(run, file, items, setting, token) {
  const { cwd, name } = place(file);
  const cases = new Map(items.map((item) => [item.id, item]));
  const waiting = new Set(items);
  const failed = new Set();
  const onCase = (result) => {
    const id = result.id.slice(name.length + 2);
    const item = cases.get(id) ?? cases.get(id.replace(/ part \d+\/\d+$/, ""));
    if (!item || failed.has(item)) return;
    waiting.delete(item);
    if (result.verdict === "pass") return run.passed(item);
    if (result.verdict === "skipped") return run.skipped(item);
    failed.add(item);
    run[result.verdict === "fail" ? "failed" : "errored"](item, messages(result, item));
  };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tdl-"));
  const results = path.join(folder, "results.jsonl");
  const read = reader(results, onCase);
  const polling = setInterval(read, POLL_INTERVAL);
  try {
    const only = items.length === 1 ? [`--case=${items[0].id}`] : [];
    const command = [...setting("tester"), "--results", results, ...only, "--", name];
    items.forEach((item) => run.started(item));
    const show = (text) => run.appendOutput(text.replace(/\r?\n/g, "\r\n"));
    const { errors } = await execute(command, cwd, token, show);
    read();
    for (const item of waiting) {
      if (item.description) run.skipped(item);
      else if (!token.isCancellationRequested)
        run.errored(item, new vscode.TestMessage(errors || "no result"));
    }
  } finally {
    clearInterval(polling);
    fs.rmSync(folder, { recursive: true });
  }
}

/** Debugs a case, until its session ends or the run is cancelled. */
async function debug(file, { id }, token) {
  const name = `${file.label}: ${id}`;
  const session = { type: "tdl", request: "launch", name, program: file.uri.fsPath, case: id };
  const ended = new Promise((resolve) => {
    const listening = vscode.debug.onDidTerminateDebugSession((one) => {
      if (one.name === name) resolve(listening.dispose());
    });
  });
  const folder = vscode.workspace.getWorkspaceFolder(file.uri);
  if (!(await vscode.debug.startDebugging(folder, session))) return;
  token.onCancellationRequested(() => vscode.debug.stopDebugging());
  await ended;
}

/** Lists the cases of a test file below its item, which is created if there is none. */
async function list(tests, uri, setting, token) {
  const id = uri.toString();
  const label = vscode.workspace.asRelativePath(uri);
  const file = tests.items.get(id) ?? tests.createTestItem(id, label, uri);
  tests.items.add(file);
  const { cwd, name } = place(file);
  const command = [...setting("tester"), "--list=json", "--", name];
  const failed = (error) => ({ code: null, out: "", errors: error.message });
  const { code, out, errors } = await execute(command, cwd, token).catch(failed);
  file.error = code === 0 ? undefined : errors;
  const items = objects(out).map((one) => {
    const item = tests.createTestItem(one.name, one.name, uri);
    item.range = new vscode.Range(one.line - 1, 0, one.line - 1, 0);
    item.tags = one.tags.map((tag) => new vscode.TestTag(tag));
    item.description = one.skip ?? undefined;
    return item;
  });
  file.children.replace(items);
}

/** The selected cases of each file. */
function selected(tests, { include, exclude = [] }) {
  const cases = new Map();
  const of = (file) => cases.get(file) ?? cases.set(file, new Set()).get(file);
  const add = (item) => {
    if (exclude.includes(item)) return;
    if (item.parent) of(item.parent).add(item);
    else (of(item), item.children.forEach(add));
  };
  (include ?? tests.items).forEach(add);
  return [...cases].map(([file, items]) => [file, [...items]]);
}

/** Creates the controller, with the test files of the workspace, and others once open. */
exports.create = (setting) => {
  const tests = vscode.tests.createTestController("tdl", "Z80 routines");
  const listFile = (uri, token) => list(tests, uri, setting, token);
  const listAll = async (token) => {
    const found = await vscode.workspace.findFiles(GLOB, SKIPPED, undefined, token);
    const ids = new Set(found.map(String));
    tests.items.forEach(({ id }) => ids.has(id) || tests.items.delete(id));
    for (const uri of found) await listFile(uri, token);
  };
  tests.refreshHandler = listAll;
  tests.resolveHandler = async (item) => {
    if (!item) await listAll();
  };

  const handler = (each) => async (request, token) => {
    const run = tests.createTestRun(request);
    const broken = selected(tests, request).filter(([file]) => file.error);
    for (const [file] of broken) await listFile(file.uri, token);
    for (const [file, items] of selected(tests, request)) {
      if (token.isCancellationRequested) break;
      if (file.error) run.errored(file, new vscode.TestMessage(file.error));
      else if (items.length > 0)
        await each(run, file, items, token).catch(({ message }) =>
          items.forEach((item) => run.errored(item, new vscode.TestMessage(message))),
        );
    }
    run.end();
  };
  const runCases = (run, file, items, token) => runFile(run, file, items, setting, token);
  const debugCases = async (_run, file, items, token) => {
    for (const item of items) if (!token.isCancellationRequested) await debug(file, item, token);
  };
  tests.createRunProfile("Run", vscode.TestRunProfileKind.Run, handler(runCases), true);
  tests.createRunProfile("Debug", vscode.TestRunProfileKind.Debug, handler(debugCases), true);

  const watcher = vscode.workspace.createFileSystemWatcher(GLOB);
  watcher.onDidCreate((uri) => listFile(uri));
  watcher.onDidChange((uri) => listFile(uri));
  watcher.onDidDelete((uri) => tests.items.delete(uri.toString()));
  const open = ({ uri }) => {
    const isTest = uri.scheme === "file" && uri.path.endsWith(".test.toml");
    if (isTest && !tests.items.get(uri.toString())) return listFile(uri);
  };
  vscode.workspace.textDocuments.forEach(open);
  return [tests, watcher, vscode.workspace.onDidOpenTextDocument(open)];
};
