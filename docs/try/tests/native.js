// The native programs, which say what the page must show. They are built by cargo; none of their
// figures stands in a test.

import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
/** The folder that .ci/web/build fills. */
export const built = process.env.TRY_PAGE ?? join(target, "web");

/** @param {string} program */
function path(program) {
  return join(process.env.TRY_PROGRAMS ?? join(target, "release"), program);
}

/**
 * Runs a program to its end and returns what it prints; an exit code above 1 is an error.
 * @param {string} program
 * @param {string[]} args
 */
export async function native(program, ...args) {
  try {
    const { stdout } = await promisify(execFile)(path(program), args, {
      maxBuffer: 1 << 26,
      cwd: root,
    });
    return stdout;
  } catch (error) {
    const failed = /** @type {{ code?: number | string, stdout?: string }} */ (error);
    if (failed.code === 1 && failed.stdout !== undefined) return failed.stdout;
    throw error;
  }
}

/**
 * @typedef {{ square: string, array: number[], board: number, reference: number,
 *   t_states: number }} Residue
 */

/**
 * Residues, arrays and T-states of a position by the Z80 code on the simulated board.
 * @param {string} fen
 * @param {string} behaviour
 * @returns {Promise<{ squares: Residue[] }>}
 */
export async function residues(fen, behaviour) {
  return JSON.parse(
    (await native("sargon", "residues", "--behaviour", behaviour, fen)).split("\n")[0],
  );
}

/**
 * Starts `hw-tests simulate board` at a TCP port; returns its port, what presses reset, and
 * what ends it.
 * @param {string[]} args
 */
export async function simulator(...args) {
  const child = spawn(path("hw-tests"), ["simulate", "board", "--listen", "0", ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const port = await new Promise((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`hw-tests simulate board ended: ${text}`)));
    child.stdout.on("data", (/** @type {Buffer} */ data) => {
      text += data;
      const found = /tcp:\/\/[^:]*:(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
  });
  return {
    port: /** @type {number} */ (port),
    reset: () => child.stdin.write("\n"),
    end: () => child.kill("SIGINT"),
  };
}
