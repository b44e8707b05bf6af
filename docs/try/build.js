// Bundles the page into a folder: `node docs/try/build.js FOLDER [ADDRESS]`. With the address that it
// is published at, links to it have a picture where they are pasted. The module is there before, from
// .ci/web/build. Packages are those of node_modules beside this file, or of target/npm (.ci/install/npm).

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** What goes into the folder as it is. */
const FILES = ["style.css", "worker.js"];
/** What .ci/web/build has put there. */
const MODULE = ["toolchain.js", "toolchain_bg.wasm"];
const PICTURE = "../pictures/try-exchange.png";
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

/**
 * Tags of Open Graph, whose picture must have an absolute address.
 * @param {string} html
 * @param {string} address
 */
function tags(html, address) {
  const url = new URL(address.endsWith("/") ? address : `${address}/`).href;
  const properties = {
    type: "website",
    url,
    title: /<title>(.*?)</.exec(html)?.[1],
    description: /name="description"\s+content="(.*?)"/.exec(html)?.[1],
    image: `${url}picture.png`,
    "image:alt": "A chess board with the captures on a square, and what they cost",
  };
  const all = Object.entries(properties).map(([name, value]) => ["property", `og:${name}`, value]);
  all.push(["name", "twitter:card", "summary_large_image"]);
  return all.map(([kind, name, value]) => `<meta ${kind}="${name}" content="${value}" />`);
}

/**
 * @param {string} to
 * @param {string} [address] Where the page is to be published.
 */
export async function build(to, address) {
  const modules = packages();
  const esbuild = createRequire(join(modules, "here.js"))("esbuild");
  mkdirSync(to, { recursive: true });
  const { metafile } = await esbuild.build({
    metafile: true,
    entryPoints: [join(here, "page/main.js")],
    outdir: join(to, "page"),
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "linked",
    loader: { ".txt": "text", ".asm": "text", ".toml": "text", ".css": "text" },
    nodePaths: [modules],
    logLevel: "warning",
  });
  for (const file of FILES) copyFileSync(join(here, file), join(to, file));
  const html = readFileSync(join(here, "index.html"), "utf8");
  const lines = address ? tags(html, address) : [];
  if (address) copyFileSync(join(here, PICTURE), join(to, "picture.png"));
  // What the first module imports is fetched beside it, not after it.
  const outputs = Object.entries(metafile.outputs);
  const main = outputs.find(([file]) => file.endsWith("page/main.js"))?.[1];
  for (const { kind, path } of main?.imports ?? []) {
    if (kind === "import-statement")
      lines.push(`<link rel="modulepreload" href="page/${basename(path)}" />`);
  }
  const bytes = statSync(join(to, MODULE[1])).size;
  const page = html
    .replace("</head>", () => `${lines.join("\n")}</head>`)
    .replace('id="loading"', `id="loading" data-bytes="${bytes}"`);
  writeFileSync(join(to, "index.html"), page);
  const scripts = Object.keys(metafile.outputs).filter((file) => file.endsWith(".js"));
  const inPage = scripts.map((file) => `page/${basename(file)}`);
  writeService(to, ["index.html", ...FILES, ...MODULE, ...inPage]);
}

/**
 * Writes the service worker with the digests of the files that it stores.
 * @param {string} to
 * @param {string[]} files
 */
function writeService(to, files) {
  const digest = (/** @type {string} */ file) =>
    createHash("sha256").update(readFileSync(join(to, file))).digest("hex");
  const digests = JSON.stringify(Object.fromEntries(files.map((file) => [file, digest(file)])));
  const service = readFileSync(join(here, "service.js"), "utf8");
  writeFileSync(join(to, "service.js"), service.replace("FILES = {}", `FILES = ${digests}`));
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  if (!process.argv[2]) throw new Error("usage: node docs/try/build.js FOLDER [ADDRESS]");
  await build(resolve(process.argv[2]), process.argv[3]);
}
