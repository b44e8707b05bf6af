// A stand-in for the editor, with what the extension uses of its API.
"use strict";

const Module = require("node:module");
const path = require("node:path");
const manifest = require("./package.json");

/** A class whose constructor keeps its arguments by these names. */
const record = (...names) =>
  class {
    constructor(...args) {
      names.forEach((name, at) => (this[name] = args[at]));
    }
  };

/** An event that the test fires. */
function event() {
  const listeners = new Set();
  const on = (listener) => (listeners.add(listener), { dispose: () => listeners.delete(listener) });
  on.fire = (value) => [...listeners].map((listener) => listener(value));
  return on;
}

class Uri {
  static file = (fsPath) => Object.assign(new Uri(), { fsPath, path: fsPath, scheme: "file" });
  toString() {
    return `file://${this.path}`;
  }
}

/** A collection of test items. */
class Items extends Map {
  add(item) {
    this.set(item.id, item);
  }
  replace(items) {
    this.clear();
    items.forEach((item) => this.add(item));
  }
}

/** A test controller; its runs append what is reported to `runs`. */
function controller() {
  const made = { items: new Items(), profiles: {}, runs: [] };
  made.createTestItem = (id, label, uri) => {
    const children = new Items();
    const item = { id, label, uri, children };
    children.add = (child) => children.set(child.id, Object.assign(child, { parent: item }));
    return item;
  };
  made.createRunProfile = (name, kind, handler) => (made.profiles[name] = handler);
  made.createTestRun = () => {
    const run = { reported: [], output: "", onReport: event() };
    for (const kind of ["started", "passed", "failed", "errored", "skipped"]) {
      run[kind] = (item, messages) => {
        run.reported.push({ kind, id: item.id, messages: [messages ?? []].flat() });
        run.onReport.fire(kind);
      };
    }
    run.appendOutput = (text) => (run.output += text);
    run.end = () => (run.ended = true);
    made.runs.push(run);
    return run;
  };
  return made;
}

/**
 * Loads the extension in a workspace folder, with changed settings; returns what it registered, and
 * the stand-in's state.
 */
exports.activated = (root, changed = {}) => {
  const settings = { ...changed };
  const { properties } = manifest.contributes.configuration;
  for (const [name, { default: value }] of Object.entries(properties)) {
    settings[name.replace(/^tdl\./, "")] ??= value;
  }
  const known = { languages: [], clients: [], sessions: [], files: [], documents: [] };
  const keep = (kind) => (type, what) => ((known[kind] = { type, what }), { dispose() {} });
  const within = ({ fsPath }) => root && !path.relative(root, fsPath).startsWith("..");
  known.workspace = {
    getConfiguration: () => ({ get: (name) => settings[name] }),
    getWorkspaceFolder: (uri) => (within(uri) ? { uri: Uri.file(root) } : undefined),
    asRelativePath: ({ fsPath }) => path.relative(root, fsPath),
    findFiles: async () => known.files,
    textDocuments: known.documents,
    onDidOpenTextDocument: event(),
    onDidSaveTextDocument: event(),
    createFileSystemWatcher: () =>
      (known.watcher = { onDidCreate: event(), onDidChange: event(), onDidDelete: event() }),
  };
  const TestMessage = record("message");
  TestMessage.diff = (message, expected, actual) =>
    Object.assign(new TestMessage(message), { expected, actual });
  const vscode = {
    workspace: known.workspace,
    languages: {
      setTextDocumentLanguage: (document, language) => known.languages.push([document, language]),
    },
    tasks: { registerTaskProvider: keep("tasks") },
    tests: { createTestController: () => (known.tests = controller()) },
    debug: {
      registerDebugAdapterDescriptorFactory: keep("adapters"),
      registerDebugConfigurationProvider: keep("configurations"),
      onDidTerminateDebugSession: event(),
      startDebugging: async (folder, session) => known.sessions.push({ folder, session }) > 0,
      stopDebugging: () =>
        vscode.debug.onDidTerminateDebugSession.fire(known.sessions.at(-1).session),
    },
    Uri,
    ProcessExecution: record("command", "args"),
    DebugAdapterExecutable: record("command", "args"),
    Task: record("definition", "scope", "name", "source", "execution", "matchers"),
    TaskScope: { Workspace: 2 },
    TaskGroup: { Build: "build", Test: "test" },
    TestMessage,
    TestTag: record("id"),
    TestRunProfileKind: { Run: 1, Debug: 2 },
    Position: record("line", "character"),
    Range: record("line", "character", "endLine", "endCharacter"),
    Location: record("uri", "range"),
  };
  class LanguageClient {
    constructor(id, name, server) {
      known.clients.push(server);
    }
    start() {}
  }
  const load = Module._load;
  const stubs = { vscode, "vscode-languageclient/node": { LanguageClient } };
  const stubbed = (name, ...rest) => stubs[name] ?? load(name, ...rest);
  Module._load = stubbed;
  Object.assign(known, { Uri, stopDebugging: vscode.debug.stopDebugging });
  for (const name of ["extension", "language", "tasks", "testing"]) {
    delete require.cache[require.resolve(`./${name}.js`)];
  }
  try {
    require("./extension.js").activate({ subscriptions: [] });
    // The client's library is loaded with the first document of the language.
    known.open = (document) => {
      Module._load = stubbed;
      known.workspace.onDidOpenTextDocument.fire(document);
      Module._load = load;
    };
  } finally {
    Module._load = load;
  }
  return known;
};
