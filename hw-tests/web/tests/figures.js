// Compares the module's figures with those of the programs, in node: image checksums and build ids, residues and T-states over the
// corpus's documents, verdicts, and the time that the corpus takes.
// Usage: node figures.js FOLDER-OF-THE-PAGE FOLDER-OF-THE-PROGRAMS

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [page, programs] = process.argv.slice(2).map((folder) => resolve(folder));
const behaviours = ["original", "corrected", "fast"];
const cases = resolve(dirname(fileURLToPath(import.meta.url)), "../../chess/corpus/corpus");

/** Runs a program and returns what it prints, and what it tells on standard error. */
function native(program, ...args) {
  const options = { encoding: "utf8", maxBuffer: 1 << 28 };
  const { status, error, stdout, stderr } = spawnSync(join(programs, program), args, options);
  if (error) throw error;
  assert.ok(status === 0 || status === 1, `${program} ${args.join(" ")}: ${stderr}`);
  return { stdout, stderr };
}

/** The CRC-32 of zlib, which node has from version 20 on only. */
function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** The toolchain, as the page's worker has it. */
class Toolchain {
  static async load() {
    const module = await import(pathToFileURL(join(page, "toolchain.js")));
    module.initSync({ module: readFileSync(join(page, "toolchain_bg.wasm")) });
    return new Toolchain(module);
  }

  constructor(module) {
    this.last = 0;
    this.posted = [];
    this.worker = new module.Worker((json, bytes) => this.posted.push([JSON.parse(json), bytes]));
  }

  /** Sends a request, lets its run go on to its end, and returns the result. */
  call(method, params) {
    const id = ++this.last;
    this.worker.take(JSON.stringify({ id, method, params }));
    let hasMore = true;
    for (;;) {
      const answer = this.posted.find(([message]) => message.id === id);
      if (answer) {
        this.posted = [];
        if (answer[0].error) throw new Error(answer[0].error.message);
        return answer[0].result;
      }
      assert.ok(hasMore, `${method} has no answer`);
      hasMore = this.worker.advance() >= 0;
    }
  }
}

const toolchain = await Toolchain.load();
const scratch = mkdtempSync(join(tmpdir(), "figures-"));
try {
  images();
  for (const behaviour of behaviours) positions(behaviour);
  corpus();
} finally {
  rmSync(scratch, { recursive: true });
}

/** The images are those that rcflash writes, and whose build ids boards report. */
function images() {
  const { images } = toolchain.call("figures", {});
  assert.deepEqual(
    images.map((image) => image.behaviour),
    behaviours,
  );
  for (const image of images) {
    const { stderr } = native("hw-tests", "run", "--rig", "direct", "--behaviour", image.behaviour, "byte.figure4");
    assert.match(stderr, new RegExp(`build ${image.build}`));
    console.log(`${image.behaviour}: ${image.size} bytes, CRC-32 ${image.crc32}, build ${image.build}`);
  }
  const file = join(scratch, "corrected.bin");
  native("rcflash", "image", "--application", "-o", file);
  const bytes = readFileSync(file);
  const sum = crc32(bytes).toString(16).toUpperCase().padStart(8, "0");
  assert.deepEqual([images[1].crc32, images[1].size], [sum, bytes.length]);
}

/** Residues, arrays and T-states of every occupied square are those of `sargon residues`. */
function positions(behaviour) {
  const files = ["documents.epd", "odd.epd"].map((name) => join(cases, name));
  const { stdout } = native("sargon", "residues", "--behaviour", behaviour, ...files);
  const lines = stdout.trim().split("\n");
  let squares = 0;
  for (const line of lines) {
    const wanted = JSON.parse(line);
    const found = toolchain.call("examine", { fen: wanted.fen, behaviour });
    assert.equal(found.boardError, undefined, wanted.fen);
    assert.equal(found.squares.length, wanted.squares.length, wanted.fen);
    found.squares.forEach((square, at) => {
      const { square: name, piece, array, board, reference, t_states } = wanted.squares[at];
      const told = [square.square, square.piece, square.array.board, square.residue.board];
      assert.deepEqual(told, [name, piece, array, board], wanted.fen);
      assert.deepEqual([square.residue.reference, square.tStates], [reference, t_states], wanted.fen);
      squares += 1;
    });
  }
  console.log(`${behaviour}: ${lines.length} positions, ${squares} squares as by the program`);
}

/** Every case passes, and the run takes at most three times as long as the program's. */
function corpus() {
  const summary = toolchain.call("corpus", { behaviour: "corrected" });
  assert.equal(summary.ended, "complete");
  assert.equal(summary.counts.pass, summary.counts.cases);
  const began = performance.now();
  native("hw-tests", "run", "--rig", "direct", "--behaviour", "corrected");
  const program = (performance.now() - began) / 1000;
  const { cases } = summary.counts;
  console.log(`${cases} cases: ${summary.seconds.toFixed(2)} s here, ${program.toFixed(2)} s by the program`);
  assert.ok(summary.seconds < 3 * program, "more than three times as long as the program");
}
