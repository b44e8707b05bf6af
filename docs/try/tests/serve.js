// A file server for the tests: the folder of the built page, at a free port of this computer, below
// a path.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/**
 * A file in parts, with a pause after each.
 * @param {string} file
 * @param {number} pause Milliseconds.
 */
async function* slowly(file, pause) {
  for await (const part of createReadStream(file)) {
    yield part;
    await setTimeout(pause);
  }
}

/**
 * Serves a folder; returns the address, the files that were asked for, and what ends it.
 * @param {string} folder
 * @param {string} [base]
 * @param {number} [pause] Milliseconds after each 64 KiB of a file, as on a slow line.
 */
export async function serve(folder, base = "/", pause = 0) {
  /** @type {string[]} */
  const asked = [];
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname));
    const inside = path.slice(base.length);
    asked.push(inside);
    const file = join(folder, path.endsWith("/") ? `${inside}index.html` : inside);
    const there = path.startsWith(base) && (await stat(file).catch(() => null));
    if (!there || !there.isFile()) return response.writeHead(404).end();
    const type =
      TYPES[/** @type {keyof typeof TYPES} */ (extname(file))] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-length": there.size });
    Readable.from(pause ? slowly(file, pause) : createReadStream(file)).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    asked,
    url: `http://127.0.0.1:${address.port}${base}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
