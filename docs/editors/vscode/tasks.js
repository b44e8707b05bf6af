// Tasks of type `tdl`: assemble, test, run.
"use strict";

const vscode = require("vscode");

const ALL = "the project";

/** Program and arguments, problem matcher and group of each command. */
const commands = {
  assemble: ({ file, output }, setting) => ({
    line: [
      setting("assembler"),
      "asm",
      "--message-format",
      "short",
      ...(output ? ["-o", output] : []),
      ...(file ? [file] : []),
    ],
    matchers: "$tdlasm",
    group: vscode.TaskGroup.Build,
  }),
  test: ({ file = "." }, setting) => ({
    line: [...setting("tester"), file],
    matchers: ["$tdl", "$tdl-test"],
    group: vscode.TaskGroup.Test,
  }),
  run: ({ file = "${file}" }, setting) => ({
    line: [...setting("runner"), file],
    matchers: "$tdl",
  }),
};

/** The task of a definition; throws for an unknown command. */
function task(definition, scope, setting) {
  const { command = "assemble", file, args = [] } = definition;
  if (!Object.hasOwn(commands, command))
    throw new Error(`task of type tdl: unknown command "${command}"`);
  const { line, matchers, group } = commands[command](definition, setting);
  const run = new vscode.ProcessExecution(line[0], [...line.slice(1), ...args]);
  const made = new vscode.Task(
    definition,
    scope,
    `${command} ${file ?? ALL}`,
    "tdl",
    run,
    matchers,
  );
  made.group = group;
  return made;
}

exports.provider = (setting) => ({
  provideTasks: () =>
    [{}, { file: "${file}" }, { command: "test" }, { command: "run", file: "${file}" }].map((one) =>
      task({ type: "tdl", ...one }, vscode.TaskScope.Workspace, setting),
    ),
  resolveTask: ({ definition, scope }) =>
    task(definition, scope ?? vscode.TaskScope.Workspace, setting),
});
