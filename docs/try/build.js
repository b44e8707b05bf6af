// Bundles the page into a folder: `node docs/try/build.js FOLDER`. The worker with its module comes
// from .ci/web/build. Packages are those of node_modules beside this file, or of target/npm (.ci/install/npm).

import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** What goes into the folder as it is. */
const FILES = ["index.html", "style.css", "worker.js", "isolation.js"];
const target = process.env.CARGO_TARGET_DIR ?? join(here, "../../target");

/** The folder that holds esbuild and what is bundled. */
export function packages() {
  const folders = [here, join(target, "npm/docs/try")].map((folder) =>
    join(folder, "node_modules"),
  );
  const found = folders.find((folder) => existsSync(join(folder, "esbuild")));
  if (!found) throw new Error("the page's npm packages are not installed: run .ci/install/npm");
  return found;
}

/** @param {string} to */
export async function build(to) {
  const modules = packages();
  const esbuild = createRequire(join(modules, "here.js"))("esbuild");
  mkdirSync(to, { recursive: true });
  await esbuild.build({
    entryPoints: [join(here, "page/main.js")],
    outdir: join(to, "page"),
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "linked",
    loader: { ".txt": "text", ".asm": "text", ".css": "text" },
    nodePaths: [modules],
    logLevel: "warning",
  });
  for (const file of FILES) copyFileSync(join(here, file), join(to, file));
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (!process.argv[2]) throw new Error("usage: node docs/try/build.js FOLDER");
  await build(resolve(process.argv[2]));
}
