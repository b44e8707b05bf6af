// The extension as VS Code takes it: packaged by vsce, its grammar read by VS Code's own engine,
// and its entry point run beside a stand-in for the editor. The packages are where NODE_PATH says;
// VSIX names the package to write.
"use strict";

const assert = require("node:assert/strict");
const child = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { test: plain } = require("node:test");
const { loadWASM, OnigScanner, OnigString } = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const ROOT = path.join(__dirname, "../../..");
const manifest = require("./package.json");
const { activated } = require("./stub.test.js");

/** A test that fails when it takes too long; nothing here takes a minute. */
const test = (name, body) => plain(name, { timeout: 60_000 }, body);

test("vsce packages it, with what it needs and nothing else", () => {
  const packages = process.env.NODE_PATH;
  const folder = path.dirname(packages);
  for (const name of fs.readdirSync(__dirname)) {
    if (!/node_modules|\.vsix$/.test(name))
      fs.copyFileSync(path.join(__dirname, name), path.join(folder, name));
  }
  fs.copyFileSync(path.join(ROOT, "LICENSE-MIT"), path.join(folder, "LICENSE"));
  const vsce = path.join(packages, "@vscode/vsce/vsce");
  const run = (...args) =>
    child.execFileSync(process.execPath, [vsce, ...args], {
      cwd: folder,
      encoding: "utf8",
      stdio: "pipe",
    });
  const said = run("package", "--allow-missing-repository", "--out", process.env.VSIX);
  assert.ok(fs.statSync(process.env.VSIX).size > 50_000, said);
  const files = run("ls").trim().split("\n");
  for (const name of [
    "extension.js",
    "language.js",
    "tasks.js",
    "testing.js",
    "package.json",
    "tdl.tmLanguage.json",
    "language-configuration.json",
    "LICENSE",
    "node_modules/vscode-languageclient/node.js",
    "node_modules/vscode-languageserver-protocol/node.js",
  ]) {
    assert.ok(files.includes(name), `${name} in ${files.slice(0, 20)}`);
  }
  assert.deepEqual(
    files.filter((name) => /\.test\.js$|package-lock|vsce|textmate|\.d\.ts$/.test(name)),
    [],
  );
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

test("the grammar colours lines as the language reads them, and every source here", async () => {
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
  const listed = child.execFileSync(
    "git",
    ["-C", ROOT, "ls-files", "sargon-src/*.asm", "firmware/z80/*.asm"],
    { encoding: "utf8" },
  );
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

/** A document as the editor opens it. */
const opened = (fileName, text = "", languageId = "plaintext") => ({
  fileName,
  languageId,
  uri: { scheme: "file", path: fileName },
  getText: () => text,
});

test("a project file or the dialect's marks claim a source, from no other extension", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "vscode-"));
  fs.mkdirSync(path.join(folder, "project/lib"), { recursive: true });
  fs.writeFileSync(path.join(folder, "project/tdl.toml"), "");
  const at = (name) => path.join(folder, name);
  const mark = "\t.LOC .PROG.";
  const ours = [
    opened(at("project/lib/a.asm")),
    ...[mark, "M:\t.ident mul", " .INTERN X", "\t.LOC 1000H", ".DEFINE M[X]=[", "\t.phex"].map(
      (text) => opened(at("b.ASM"), `; a comment\n${text}\n`),
    ),
  ];
  const others = [
    opened(at("project/lib/a.txt")),
    opened(at("c.asm"), mark, "nasm"),
    // Of nasm, MASM, GNU's, SDCC's, ca65's, MACRO-11 and Z80 assemblers by Zilog's mnemonics.
    ...["section .data", "\t.MODEL small\n.DATA", '\t.loc 1 5 0\n\t.ident "GCC"', "\t.blkb 3"].map(
      (text) => opened(at("d.asm"), text),
    ),
    ...[".define X 5", "\t.IDENT /V01/", "\tORG 100H\nX:\tEQU 5", "; .LOC .PROG.", "X.LOC 5"].map(
      (text) => opened(at("e.asm"), text),
    ),
  ];
  const known = activated(folder);
  [...ours, ...others].forEach(known.open);
  fs.rmSync(folder, { recursive: true });
  assert.deepEqual(
    known.languages.map(([document]) => document.getText()),
    ours.map((one) => one.getText()),
  );
  assert.ok(known.languages.every(([, language]) => language === "tdl"));
  assert.equal(manifest.contributes.languages[0].extensions, undefined);
});

test("a new source is claimed when it is saved, and never again after another choice", () => {
  const known = activated("/none");
  let text = "";
  const document = { ...opened("/none/new.asm"), getText: () => text };
  known.open(document);
  assert.equal(known.languages.length, 0);
  text = "\t.LOC 5\n";
  known.workspace.onDidSaveTextDocument.fire(document);
  assert.equal(known.languages.length, 1);
  known.open(document);
  known.workspace.onDidSaveTextDocument.fire(document);
  assert.equal(known.languages.length, 1);
});

test("the documented programs are started, the server with the first source", () => {
  const known = activated("/none");
  known.open(opened("/none/a.txt"));
  assert.equal(known.clients.length, 0);
  for (const name of ["a.asm", "b.asm"]) known.open(opened(`/none/${name}`, "", "tdl"));
  assert.deepEqual(known.clients, [{ command: "tdlasm", args: ["lsp"] }]);
  const { type, what } = known.adapters;
  assert.equal(type, manifest.contributes.debuggers[0].type);
  const { command, args } = what.createDebugAdapterDescriptor();
  assert.deepEqual([command, ...args], ["hw-inspect", "dap"]);
  const plain = known.configurations.what.resolveDebugConfiguration(undefined, {});
  assert.equal(plain.program, "${file}");
});

test("tasks assemble, test and run, with matchers and groups", () => {
  const known = activated("/none", { runner: ["rcflash", "run", "--port", "bench"] });
  const { type, what } = known.tasks;
  const [definition] = manifest.contributes.taskDefinitions;
  assert.equal(type, definition.type);
  const line = ({ execution: { command, args } }) => [command, ...args].join(" ");
  const offered = what.provideTasks();
  assert.deepEqual(offered.map(line), [
    "tdlasm asm --message-format short",
    "tdlasm asm --message-format short ${file}",
    "hw-tests test .",
    "rcflash run --port bench ${file}",
  ]);
  assert.deepEqual(
    offered.map(({ name }) => name),
    ["assemble the project", "assemble ${file}", "test the project", "run ${file}"],
  );
  assert.deepEqual(
    offered.map(({ group }) => group),
    ["build", "build", "test", undefined],
  );
  const named = manifest.contributes.problemMatchers.map(({ name }) => `$${name}`);
  const used = offered.flatMap(({ matchers }) => matchers);
  assert.deepEqual([...new Set(used)].sort(), named.sort());
  const asked = { type, command: "assemble", file: "a.asm", output: "a.hex", args: ["--pabs"] };
  const odd = Object.keys(asked).filter((name) => name !== "type" && !definition.properties[name]);
  assert.deepEqual(odd, []);
  const made = what.resolveTask({ definition: asked });
  assert.equal(line(made), "tdlasm asm --message-format short -o a.hex a.asm --pabs");
  assert.throws(() => what.resolveTask({ definition: { type, command: "erase" } }), /"erase"/);
});

test("launch snippets have only arguments that the manifest describes", () => {
  const [tdl] = manifest.contributes.debuggers;
  const described = Object.keys(tdl.configurationAttributes.launch.properties);
  for (const { body } of tdl.configurationSnippets) {
    const odd = Object.keys(body).filter(
      (name) => !["type", "request", "name", ...described].includes(name),
    );
    assert.deepEqual(odd, []);
  }
  assert.deepEqual(manifest.contributes.breakpoints, [
    { language: manifest.contributes.languages[0].id },
  ]);
});
