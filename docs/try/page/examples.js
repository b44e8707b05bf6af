// Programs to begin with.

import crc from "./examples/crc.asm";
import crcTests from "./examples/crc.test.toml";
import hello from "./examples/hello.asm";
import primes from "./examples/primes.asm";

/** @typedef {import("../worker.js").SourceFile} SourceFile */

/** The program that a new user sees. */
export const FIRST = { name: "hello.asm", text: hello };

/** Titles and files, the main one first. */
export const EXAMPLES = /** @type {[string, SourceFile[]][]} */ ([
  ["Hello, and an echo", [FIRST]],
  ["Primes below 1000", [{ name: "primes.asm", text: primes }]],
  [
    "A CRC with its tests",
    [
      { name: "crc.asm", text: crc },
      { name: "crc.test.toml", text: crcTests },
    ],
  ],
]);
