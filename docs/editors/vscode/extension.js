// Starts the language server for TDL source and the debug adapter, and offers tasks that assemble.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const setting = (name) => vscode.workspace.getConfiguration("tdl").get(name);

let client;

/** The task that assembles a file, or without one the programs of the project. */
function task(definition, scope) {
  const { file, output } = definition;
  const more = [...(file ? [file] : []), ...(output ? ["-o", output] : [])];
  const run = new vscode.ProcessExecution(setting("assembler"), ["asm", "--message-format", "short", ...more]);
  const name = file ? `assemble ${file}` : "assemble the project";
  const made = new vscode.Task(definition, scope, name, "tdlasm", run, "$tdlasm");
  made.group = vscode.TaskGroup.Build;
  return made;
}

const tasks = {
  provideTasks: () => [
    task({ type: "tdlasm" }, vscode.TaskScope.Workspace),
    task({ type: "tdlasm", file: "${file}" }, vscode.TaskScope.Workspace),
  ],
  resolveTask: ({ definition, scope }) => task(definition, scope ?? vscode.TaskScope.Workspace),
};

const adapters = {
  createDebugAdapterDescriptor: () => {
    const [command, ...args] = setting("debugger");
    return new vscode.DebugAdapterExecutable(command, args);
  },
};

/** A session that begins with F5 and no launch.json debugs the open file. */
const configurations = {
  resolveDebugConfiguration: (_folder, asked) =>
    asked.type ? asked : { type: "tdl", request: "launch", name: "This program", program: "${file}" },
};

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.tasks.registerTaskProvider("tdlasm", tasks),
    vscode.debug.registerDebugAdapterDescriptorFactory("tdl", adapters),
    vscode.debug.registerDebugConfigurationProvider("tdl", configurations),
  );
  const [command, ...args] = setting("command");
  client = new LanguageClient("tdl", "TDL", { command, args }, { documentSelector: [{ language: "tdl" }] });
  return client.start();
};

exports.deactivate = () => client?.stop();
