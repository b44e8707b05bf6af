// Starts the language server for TDL source and ends it with the editor.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const [command, ...args] = workspace.getConfiguration("tdl").get("command");
  client = new LanguageClient(
    "tdl",
    "TDL",
    { command, args },
    {
      documentSelector: [{ language: "tdl" }],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{asm,ASM}") },
    },
  );
  return client.start();
};

exports.deactivate = () => client?.stop();
