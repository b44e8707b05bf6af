// Messages held against the types of the Debug Adapter Protocol, by the TypeScript compiler.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");

/** The name of the type that a message must have. */
function typeOf(message) {
  const capital = (name) => name[0].toUpperCase() + name.slice(1);
  if (message.type === "event") return `${capital(message.event)}Event`;
  return message.success ? `${capital(message.command)}Response` : "ErrorResponse";
}

/** Complaints about messages that have fields of other names or types than the protocol's. */
exports.complaints = (messages, folder) => {
  const file = path.join(folder, "messages.ts");
  const protocol = require.resolve("@vscode/debugprotocol/lib/debugProtocol.d.ts");
  const lines = [`import { DebugProtocol } from ${JSON.stringify(protocol.replace(/\.d\.ts$/, ""))};`];
  // An object literal may have no field that its type lacks.
  for (const one of messages) {
    lines.push(`export const m${lines.length}: DebugProtocol.${typeOf(one)} = ${JSON.stringify(one)};`);
  }
  fs.writeFileSync(file, lines.join("\n"));
  const options = { strict: true, noEmit: true, types: [], target: ts.ScriptTarget.ES2020 };
  const program = ts.createProgram([file], { ...options, moduleResolution: ts.ModuleResolutionKind.Node10 });
  return ts.getPreEmitDiagnostics(program).map((one) => {
    const line = one.file?.getLineAndCharacterOfPosition(one.start ?? 0).line ?? 0;
    const text = ts.flattenDiagnosticMessageText(one.messageText, "\n");
    return `${text}\n  in ${lines[line].slice(0, 2000)}`;
  });
};
