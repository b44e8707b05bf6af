// The types of the page's modules, which TypeScript reads from their comments, and of their tests.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packages } from "../build.js";

test("types fit", async () => {
  const compiler = join(packages(), "typescript/bin/tsc");
  const project = fileURLToPath(new URL("../jsconfig.json", import.meta.url));
  await promisify(execFile)(process.execPath, [compiler, "-p", project]);
});
