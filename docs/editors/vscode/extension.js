// Gives TDL source its language server, tasks, debugger, and test files the Test Explorer.
"use strict";

const vscode = require("vscode");
const language = require("./language");
const tasks = require("./tasks");
const testing = require("./testing");

const setting = (name) => vscode.workspace.getConfiguration("tdl").get(name);

let client;

/** Starts the language server with the first document in its language. */
function serve({ languageId }) {
  if (client || languageId !== "tdl") return;
  const { LanguageClient } = require("vscode-languageclient/node");
  const [command, ...args] = setting("command");
  const documentSelector = [{ language: "tdl" }];
  client = new LanguageClient("tdl", "TDL", { command, args }, { documentSelector });
  return client.start();
}

const adapters = {
  createDebugAdapterDescriptor: () => {
    const [command, ...args] = setting("debugger");
    return new vscode.DebugAdapterExecutable(command, args);
  },
};

/** A session that begins with F5 and no launch.json debugs the open file. */
const configurations = {
  resolveDebugConfiguration: (_folder, asked) =>
    asked.type
      ? asked
      : { type: "tdl", request: "launch", name: "This program", program: "${file}" },
};

exports.activate = (context) => {
  context.subscriptions.push(
    ...language.claim(),
    vscode.tasks.registerTaskProvider("tdl", tasks.provider(setting)),
    vscode.debug.registerDebugAdapterDescriptorFactory("tdl", adapters),
    vscode.debug.registerDebugConfigurationProvider("tdl", configurations),
    ...testing.create(setting),
    vscode.workspace.onDidOpenTextDocument(serve),
  );
  return Promise.all(vscode.workspace.textDocuments.map(serve));
};

exports.deactivate = () => client?.stop();
