// `tdlasm lsp`, judged by Microsoft's client side of the protocol and by the protocol's types.
// TDLASM names the program; the packages are where NODE_PATH says.
"use strict";

const assert = require("node:assert/strict");
const child = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { after, afterEach, beforeEach, test: plain } = require("node:test");
const lsp = require("vscode-languageserver-protocol/node");
const { complaints } = require("./typed.js");

/** A test that fails when it takes too long; nothing here takes a minute. */
const test = (name, body) => plain(name, { timeout: 60_000 }, body);

const ROOT = fs.realpathSync(path.join(__dirname, "../../../.."));
const uri = (file) => pathToFileURL(file).href;

/** The types of the results that are checked. */
const TYPES = {
  initialize: "T.InitializeResult",
  "textDocument/hover": "T.Hover | null",
  "textDocument/rangeFormatting": "T.TextEdit[] | null",
  "textDocument/documentLink": "T.DocumentLink[] | null",
  "textDocument/prepareCallHierarchy": "T.CallHierarchyItem[] | null",
  "callHierarchy/incomingCalls": "T.CallHierarchyIncomingCall[] | null",
  "callHierarchy/outgoingCalls": "T.CallHierarchyOutgoingCall[] | null",
  "textDocument/codeAction": "(T.Command | T.CodeAction)[] | null",
  "textDocument/semanticTokens/full": "T.SemanticTokens | null",
  "textDocument/definition": "T.Location[] | null",
  "textDocument/completion": "T.CompletionItem[] | null",
  "textDocument/documentSymbol": "T.SymbolInformation[] | null",
  "textDocument/foldingRange": "T.FoldingRange[] | null",
};
const seen = [];

/** A session with the program about a folder. */
class Session {
  constructor(folder) {
    this.folder = folder;
    this.process = child.spawn(process.env.TDLASM, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    const reader = new lsp.StreamMessageReader(this.process.stdout);
    this.connection = lsp.createProtocolConnection(reader, new lsp.StreamMessageWriter(this.process.stdin));
    this.versions = new Map();
    this.published = new Map();
    this.waiting = [];
    this.connection.onNotification("textDocument/publishDiagnostics", (params) => {
      seen.push({ type: "T.PublishDiagnosticsParams", value: params });
      this.published.set(params.uri, params);
      this.waiting = this.waiting.filter((wake) => !wake());
    });
    this.registered = new Promise((resolve) => {
      this.connection.onRequest("client/registerCapability", (params) => {
        seen.push({ type: "T.RegistrationParams", value: params });
        resolve(params.registrations);
      });
    });
    this.connection.listen();
  }

  async ask(method, params) {
    const value = await this.connection.sendRequest(method, params);
    if (TYPES[method]) seen.push({ type: TYPES[method], value });
    return value;
  }

  async begin(dynamicRegistration = true) {
    const capabilities = { workspace: { didChangeWatchedFiles: { dynamicRegistration } } };
    const workspaceFolders = [{ uri: uri(this.folder), name: "test" }];
    const params = { processId: process.pid, rootUri: null, capabilities, workspaceFolders };
    const result = await this.ask("initialize", params);
    await this.connection.sendNotification("initialized", {});
    return result.capabilities;
  }

  open(name, text = fs.readFileSync(path.join(this.folder, name), "utf8")) {
    const document = { uri: uri(path.join(this.folder, name)), languageId: "tdl", version: 1, text };
    this.versions.set(document.uri, 1);
    this.connection.sendNotification("textDocument/didOpen", { textDocument: document });
    return { textDocument: { uri: document.uri }, text };
  }

  replace({ textDocument }, text) {
    const version = this.versions.get(textDocument.uri) + 1;
    this.versions.set(textDocument.uri, version);
    const change = { textDocument: { ...textDocument, version }, contentChanges: [{ text }] };
    this.connection.sendNotification("textDocument/didChange", change);
  }

  /** Waits until what was published has a property. */
  until(holds) {
    return new Promise((resolve) => {
      const wake = () => holds(this.published) && (resolve(), true);
      if (!wake()) this.waiting.push(wake);
    });
  }

  /** The messages about the present version of a document. */
  async messages({ textDocument }) {
    const version = this.versions.get(textDocument.uri);
    await this.until((all) => all.get(textDocument.uri)?.version === version);
    return this.published.get(textDocument.uri).diagnostics;
  }

  /** Writes a file and tells the server. */
  write(name, text) {
    const file = path.join(this.folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    const changes = [{ uri: uri(file), type: lsp.FileChangeType.Changed }];
    this.connection.sendNotification("workspace/didChangeWatchedFiles", { changes });
  }

  async end() {
    await this.connection.sendRequest("shutdown");
    await this.connection.sendNotification("exit");
    const code = await new Promise((resolve) => this.process.once("exit", resolve));
    this.connection.dispose();
    return code;
  }
}

/** The place of a word in a text. */
function place(text, word, nth = 0) {
  let at = -1;
  for (let i = 0; i <= nth; i++) at = text.indexOf(word, at + 1);
  assert.ok(at >= 0, word);
  const before = text.slice(0, at).split("\n");
  return { line: before.length - 1, character: before.at(-1).length };
}

function applied(text, edits) {
  const lines = text.split("\n");
  const offset = ({ line, character }) =>
    lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  const sorted = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  return sorted.reduce(
    (done, { range, newText }) => done.slice(0, offset(range.start)) + newText + done.slice(offset(range.end)),
    text,
  );
}

let folder, session;

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "lsp-")));
  session = new Session(folder);
});

afterEach(() => {
  session.process.kill();
  fs.rmSync(folder, { recursive: true });
});

after(() => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), "lsp-"));
  const wrong = complaints(seen, { module: "vscode-languageserver-protocol", folder: place });
  fs.rmSync(place, { recursive: true });
  assert.ok(seen.length > 20, `${seen.length} values`);
  assert.equal(wrong.length, 0, wrong.slice(0, 5).join("\n"));
});

test("the sources of this project have no errors", async () => {
  session.folder = ROOT;
  await session.begin();
  const listed = child.execFileSync("git", ["-C", ROOT, "ls-files", "*.asm"], { encoding: "utf8" });
  // What the assembler is tested with is wrong on purpose.
  const names = listed.trim().split("\n").filter((name) => !/^assembler\/tdlasm(-tools)?\/tests/.test(name));
  assert.ok(names.length > 40, `${names.length} sources`);
  const opened = names.map((name) => session.open(name));
  const wrong = [];
  for (const [index, document] of opened.entries()) {
    for (const one of await session.messages(document)) {
      wrong.push(`${names[index]}:${one.range.start.line + 1}: ${one.message}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("the server asks for changed files to be watched, if the client can do that", async () => {
  await session.begin();
  const [{ method, registerOptions }] = await session.registered;
  assert.equal(method, "workspace/didChangeWatchedFiles");
  assert.deepEqual(registerOptions.watchers.map((one) => one.globPattern), ["**/*.{asm,ASM,z80,Z80}", "**/tdl.toml"]);
  assert.equal(await session.end(), 0);
  session = new Session(folder);
  await session.begin(false);
  session.open("a.asm", "\tNOP\n\t.END\n");
  await session.until((all) => all.size > 0);
  const asked = await Promise.race([session.registered, session.ask("workspace/symbol", { query: "" }).then(() => "none")]);
  assert.equal(asked, "none");
});

test("a project file gives names, folders and programs, and is read again when it changes", async () => {
  fs.mkdirSync(path.join(folder, "inc"));
  fs.writeFileSync(path.join(folder, "inc/names.asm"), "FIVE\t== 5\n");
  fs.writeFileSync(path.join(folder, "tail.asm"), "TAIL:\tMVI B,DEBUG\n\t.END HEAD\n");
  await session.begin();
  const head = session.open("head.asm", "\t.INSERT names.asm\nHEAD:\tMVI A,FIVE\n\tCALL TAIL\n");
  assert.ok((await session.messages(head)).length > 0);
  const project = 'include = ["inc"]\n[define]\nDEBUG = 1\n[[program]]\nfiles = ["head.asm", "tail.asm"]\n';
  session.write("tdl.toml", project);
  await session.until((all) => all.get(head.textDocument.uri).diagnostics.length === 0);
  const position = place(head.text, "TAIL");
  const [found] = await session.ask("textDocument/definition", { textDocument: head.textDocument, position });
  assert.match(found.uri, /tail\.asm$/);
  const file = uri(path.join(folder, "tdl.toml"));
  session.write("tdl.toml", `${project}nonsense = 1\n`);
  await session.until((all) => all.get(file)?.diagnostics.length === 1);
  assert.match(session.published.get(file).diagnostics[0].message, /nonsense/);
  session.write("tdl.toml", project);
  await session.until((all) => all.get(file).diagnostics.length === 0);
});

test("what messages name as the fix is one", async () => {
  await session.begin();
  for (const [wrong, fixed] of [
    ["\tLD A,B ; x\n\t.END\n", "\tMOV A,B ; x\n\t.END\n"],
    ["\tJMPP 5\n\t.END\n", "\tJMP 5\n\t.END\n"],
    ["\tMVI A,FFH\n\t.END\n", "\tMVI A,0FFH\n\t.END\n"],
    ["\tMVI A,$1F\n\t.END\n", "\tMVI A,1FH\n\t.END\n"],
    ["\tMVI A,1F\n\t.END\n", "\tMVI A,1FH\n\t.END\n"],
    ["START\tNOP\n\t.END\n", "START:\tNOP\n\t.END\n"],
    ["FIVE\tEQU 5\n\t.END\n", "FIVE = 5\n\t.END\n"],
    ["START:\tJMP STRAT\n\t.END\n", "START:\tJMP START\n\t.END\n"],
    ["A1:\tJRZ B1\n\t.BLKB 200\nB1:\t.END\n", "A1:\tJZ B1\n\t.BLKB 200\nB1:\t.END\n"],
    ["\tMOV A,(X)\n\t.END\n", "\tMOV A,0(X)\n\t.END\n"],
    ["\tNOP", "\tNOP\n        .END\n"],
    ["\tHALT\n\t.END\n", "\tHLT\n\t.END\n"],
  ]) {
    const { textDocument } = session.open("wrong.asm", wrong);
    const [message] = await session.messages({ textDocument });
    assert.ok(message, wrong);
    const params = { textDocument, range: message.range, context: { diagnostics: [message] } };
    const actions = await session.ask("textDocument/codeAction", params);
    const [action] = actions;
    assert.ok(action, `${wrong}: ${message.message}`);
    assert.equal(action.kind, "quickfix");
    const edited = applied(wrong, action.edit.changes[textDocument.uri]);
    assert.equal(edited, fixed);
    session.replace({ textDocument }, edited);
    assert.deepEqual(await session.messages({ textDocument }), [], fixed);
    const other = { ...params, context: { diagnostics: [], only: ["refactor"] } };
    assert.deepEqual(await session.ask("textDocument/codeAction", other), []);
    await session.connection.sendNotification("textDocument/didClose", { textDocument });
    session.published.clear();
  }
});

test("routines know their callers, jumps at the end and other modules among them", async () => {
  await session.begin();
  const main = session.open(
    "main.asm",
    "\t.EXTERN SAY\nSTART:\tCALL ONE\n\tCZ SAY\n\tJMPR START\nONE:\tDCR M\n\tRZ\n\tJMP SAY\n\t.INTERN START\n\t.END START\n",
  );
  const say = session.open("say.asm", "\t.INTERN SAY\nSAY:\tOUT 1\n\tJMPR SAY\n\t.END\n");
  await session.messages(say);
  const position = place(say.text, "SAY:");
  const [item] = await session.ask("textDocument/prepareCallHierarchy", { textDocument: say.textDocument, position });
  assert.equal(item.name, "SAY");
  const incoming = await session.ask("callHierarchy/incomingCalls", { item });
  const shown = incoming.map((one) => [one.from.name, one.fromRanges.map((range) => range.start.line)]);
  assert.deepEqual(shown.sort(), [["ONE", [6]], ["START", [2]]]);
  const [start] = await session.ask("textDocument/prepareCallHierarchy", {
    textDocument: main.textDocument,
    position: place(main.text, "START:"),
  });
  const outgoing = await session.ask("callHierarchy/outgoingCalls", { item: start });
  assert.deepEqual(outgoing.map((one) => one.to.name).sort(), ["ONE", "SAY"]);
});

test("inserted files are links, and a range is laid out alone", async () => {
  fs.writeFileSync(path.join(folder, "names.asm"), "FIVE\t== 5\n");
  await session.begin();
  const text = "\t.INSERT names.asm\n\t.INSERT gone.asm\nA1:   MVI A,1;x\nB1:   MVI B,1;x\n\t.END\n";
  const { textDocument } = session.open("main.asm", text);
  const links = await session.ask("textDocument/documentLink", { textDocument });
  assert.deepEqual(links.map((one) => one.target), [uri(path.join(folder, "names.asm"))]);
  assert.deepEqual(links[0].range, { start: { line: 0, character: 9 }, end: { line: 0, character: 18 } });
  const range = { start: { line: 3, character: 0 }, end: { line: 3, character: 4 } };
  const options = { tabSize: 8, insertSpaces: true };
  const edits = await session.ask("textDocument/rangeFormatting", { textDocument, range, options });
  const lines = applied(text, edits).split("\n");
  assert.equal(lines[3], "B1:     MVI B,1                 ;x");
  assert.equal(lines[2], text.split("\n")[2]);
});

test("other answers have the protocol's form, too", async () => {
  await session.begin();
  const { textDocument, text } = session.open("main.asm", "START:\tMVI A,1\n\tJMP START ; x\n\t.END\n");
  const position = place(text, "START", 1);
  for (const method of ["hover", "definition", "completion", "documentSymbol", "foldingRange"]) {
    assert.ok(await session.ask(`textDocument/${method}`, { textDocument, position }), method);
  }
});
