// Values held against types of TypeScript: a value may have no field that its type lacks.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");

/** Complaints about values, each with its type, by the types of a module. */
exports.complaints = (values, { module, folder }) => {
  const file = path.join(folder, "values.ts");
  const from = require.resolve(module).replace(/\.d\.ts$/, "").replace(/\.js$/, "");
  const lines = [`import * as T from ${JSON.stringify(from)};`];
  for (const { type, value } of values) {
    lines.push(`export const v${lines.length}: ${type} = ${JSON.stringify(value)};`);
  }
  fs.writeFileSync(file, lines.join("\n"));
  const options = { strict: true, noEmit: true, types: [], skipLibCheck: true, target: ts.ScriptTarget.ES2020 };
  const program = ts.createProgram([file], { ...options, moduleResolution: ts.ModuleResolutionKind.Node10 });
  return ts.getPreEmitDiagnostics(program).map((one) => {
    const line = one.file?.getLineAndCharacterOfPosition(one.start ?? 0).line ?? 0;
    const text = ts.flattenDiagnosticMessageText(one.messageText, "\n");
    return `${text}\n  in ${lines[line].slice(0, 2000)}`;
  });
};
