// The extension as VS Code takes it: packaged by vsce, its grammar read by VS Code's own engine, and its entry point run beside a stand-in for the
// editor. The packages are where NODE_PATH says; VSIX names the package to write.
"use strict";

const assert = require("node:assert/strict");
const child = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const { test: plain } = require("node:test");
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const ROOT = path.join(__dirname, "../../..");
const manifest = require("./package.json");

/** A test that fails when it takes too long; nothing here takes a minute. */
const test = (name, body) => plain(name, { timeout: 60_000 }, body);

test("vsce packages it, with what it needs and nothing else", () => {
  const packages = process.env.NODE_PATH;
  const folder = path.dirname(packages);
  for (const name of fs.readdirSync(__dirname)) {
    if (!/node_modules|\.vsix$/.test(name)) fs.copyFileSync(path.join(__dirname, name), path.join(folder, name));
  }
  fs.copyFileSync(path.join(ROOT, "LICENSE-MIT"), path.join(folder, "LICENSE"));
  const vsce = path.join(packages, "@vscode/vsce/vsce");
  const run = (...args) => child.execFileSync(process.execPath, [vsce, ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" });
  const said = run("package", "--allow-missing-repository", "--out", process.env.VSIX);
  assert.ok(fs.statSync(process.env.VSIX).size > 50_000, said);
  const files = run("ls").trim().split("\n");
  for (const name of ["extension.js", "package.json", "tdl.tmLanguage.json", "language-configuration.json", "LICENSE",
    "node_modules/vscode-languageclient/node.js", "node_modules/vscode-languageserver-protocol/node.js"]) {
    assert.ok(files.includes(name), `${name} in ${files.slice(0, 20)}`);
  }
  assert.deepEqual(files.filter((name) => /\.test\.js$|package-lock|vsce|textmate|\.d\.ts$/.test(name)), []);
});

async function grammar() {
  await loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const file = path.join(__dirname, manifest.contributes.grammars[0].path);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new OnigScanner(patterns),
      createOnigString: (text) => new OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  });
  return registry.loadGrammar("source.tdl");
}

test("the grammar colours a line as the language reads it, and every source of the project", async () => {
  const tdl = await grammar();
  const line = "LOOP:\tMVI A,0FFH ; 'x'";
  const scope = (column) => {
    const { tokens } = tdl.tokenizeLine(line, INITIAL);
    return tokens.find((one) => one.startIndex <= column && column < one.endIndex).scopes.at(-1);
  };
  const at = (word) => scope(line.indexOf(word));
  assert.equal(at("LOOP"), "entity.name.function.tdl");
  assert.equal(at("MVI"), "keyword.mnemonic.tdl");
  assert.equal(at("A,"), "variable.language.register.tdl");
  assert.equal(at("0FFH"), "constant.numeric.tdl");
  assert.equal(at("'x'"), "comment.line.semicolon.tdl");
  const listed = child.execFileSync("git", ["-C", ROOT, "ls-files", "sargon-src/*.asm", "firmware/z80/*.asm"], { encoding: "utf8" });
  let instructions = 0;
  for (const name of listed.trim().split("\n")) {
    let stack = INITIAL;
    for (const text of fs.readFileSync(path.join(ROOT, name), "utf8").split("\n")) {
      const { tokens, ruleStack, stoppedEarly } = tdl.tokenizeLine(text, stack);
      assert.ok(!stoppedEarly, `${name}: ${text}`);
      instructions += tokens.filter((one) => one.scopes.includes("keyword.mnemonic.tdl")).length;
      stack = ruleStack;
    }
  }
  assert.ok(instructions > 1000, `${instructions} instructions`);
});

/** Loads the entry point with stand-ins for the editor and its client. */
function activated() {
  const known = {};
  const settings = {};
  for (const [name, { default: value }] of Object.entries(manifest.contributes.configuration.properties)) {
    settings[name.replace(/^tdl\./, "")] = value;
  }
  const make = (...names) => class { constructor(...args) { names.forEach((name, at) => (this[name] = args[at])); } };
  const keep = (kind) => (type, what) => ((known[kind] = { type, what }), { dispose() {} });
  const vscode = {
    workspace: { getConfiguration: () => ({ get: (name) => settings[name] }) },
    tasks: { registerTaskProvider: keep("tasks") },
    debug: {
      registerDebugAdapterDescriptorFactory: keep("adapters"),
      registerDebugConfigurationProvider: keep("configurations"),
    },
    ProcessExecution: make("command", "args"),
    DebugAdapterExecutable: make("command", "args"),
    Task: make("definition", "scope", "name", "source", "execution", "matcher"),
    TaskScope: { Workspace: 2 },
    TaskGroup: { Build: "build" },
  };
  class LanguageClient {
    constructor(id, name, server, options) { known.client = { server, options }; }
    start() { known.started = true; }
  }
  const load = Module._load;
  Module._load = (name, ...rest) =>
    name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
  try {
    require("./extension.js").activate({ subscriptions: [] });
  } finally {
    Module._load = load;
  }
  return known;
}

test("the entry point starts the programs that the documentation names", () => {
  const known = activated();
  assert.deepEqual(known.client.server, { command: "tdlasm", args: ["lsp"] });
  assert.ok(known.started);
  const { type, what } = known.adapters;
  assert.equal(type, manifest.contributes.debuggers[0].type);
  assert.deepEqual({ ...what.createDebugAdapterDescriptor() }, { command: "hw-tests", args: ["dap"] });
  const plain = known.configurations.what.resolveDebugConfiguration(undefined, {});
  assert.equal(plain.program, "${file}");
  const [project, file] = known.tasks.what.provideTasks();
  assert.deepEqual(project.execution.args, ["asm", "--message-format", "short"]);
  assert.deepEqual(file.execution.args, ["asm", "--message-format", "short", "${file}"]);
  assert.equal(file.matcher, `$${manifest.contributes.problemMatchers[0].name}`);
  assert.equal(known.tasks.type, manifest.contributes.taskDefinitions[0].type);
});

test("launch snippets have only arguments that the manifest describes", () => {
  const [tdl] = manifest.contributes.debuggers;
  const described = Object.keys(tdl.configurationAttributes.launch.properties);
  for (const { body } of tdl.configurationSnippets) {
    const odd = Object.keys(body).filter((name) => !["type", "request", "name", ...described].includes(name));
    assert.deepEqual(odd, []);
  }
  assert.deepEqual(manifest.contributes.breakpoints, [{ language: manifest.contributes.languages[0].id }]);
});
