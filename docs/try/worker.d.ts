// The contract between the page and its worker (`worker.js`, which holds the toolchain as WebAssembly).
//
//   const worker = new Worker("worker.js", { type: "module" });
//   worker.postMessage({ id: 1, method: "figures", params: {} });
//   worker.onmessage = ({ data }) => ...  // a Reply, a Failure or an Event
//
// Every request has exactly one reply or failure with its `id`. Requests are taken in order; a long run
// (`corpus`, `debug.*`, `machine.*`) goes by slices, so that `figures`, `examine`, `check` and `stop` are answered meanwhile.
// Squares are "a1" to "h8". Addresses, registers and bytes are numbers. Lines and columns count from 1; columns count units of UTF-16,
// as strings here do.
// Numbers of points are those of Sargon: P 1, N 3, B 3, R 5, Q 9, K 10.

export type Behaviour = "original" | "corrected" | "fast";
/** A letter of FEN: capital for White. */
export type PieceLetter = "P" | "N" | "B" | "R" | "Q" | "K" | "p" | "n" | "b" | "r" | "q" | "k";
export type Side = "white" | "black";

export interface Request<M extends keyof Methods = keyof Methods> {
  id: number;
  method: M;
  params: Methods[M]["params"];
}
export interface Reply<M extends keyof Methods = keyof Methods> {
  id: number;
  result: Methods[M]["result"];
}
/** `message` is what the programs print: what happened, where, what to do. */
export interface Failure {
  id: number;
  error: { message: string; file?: string; line?: number; column?: number; code?: string };
}

export interface SourceFile {
  /** Name without folders, such as "xchng.asm"; a source of the firmware that is in no editor has the path "firmware:/ring.asm". */
  name: string;
  text: string;
}

/** A file to download. */
export interface OutputFile {
  name: string;
  kind: "listing" | "hex" | "bin" | "elf" | "map" | "tdl";
  bytes: Uint8Array;
}

// ---------------------------------------------------------------------------------------------- methods

export interface Methods {
  /** Versions, and the images as the programs build them. */
  figures: { params: Record<string, never>; result: Figures };
  /** A position as it is understood; fails with the column of the FEN's fault. */
  normalise: { params: { fen: string }; result: Placement };
  /** Puts a piece on a square, or takes it away (`piece` null). Positions without kings are allowed. */
  place: { params: { fen: string; square: string; piece: PieceLetter | null }; result: Placement };
  /** Residues and exchanges by the Z80 code, run on the simulated board, and by the host's evaluators. */
  examine: { params: { fen: string; behaviour: Behaviour; square?: string; files?: SourceFile[] }; result: Examination };
  /** The evaluator's sources: those that may be edited, in the order in which people read them. */
  sources: { params: { behaviour: Behaviour }; result: { files: SourceFile[] } };

  /**
   * Takes the texts of all files of an editor and assembles them: messages with places. `behaviour` says that they are the
   * evaluator's (a subset of `sources`; the others are ours), without it they are a program of their own, whose first file is
   * the main one. The other methods of the editor answer for the texts that were checked last.
   */
  check: { params: Sources; result: { messages: Message[] } };
  /** Tokens for colouring, in ascending order. */
  tokens: { params: { file: string }; result: { tokens: Token[] } };
  /** Markdown about what stands at a place; null if there is nothing to say. */
  hover: { params: Place; result: { markdown: string; from: Place; to: Place } | null };
  completion: { params: Place; result: { items: Completion[] } };
  /** Where a name is defined. */
  definition: { params: Place; result: Place | null };
  /**
   * Assembles and links. Errors are in `messages`, and `program` is null then; it never fails for errors in sources.
   * Files to download: listing, HEX, BIN, ELF, map.
   */
  assemble: { params: Sources & { board?: string }; result: Assembled };

  /** Runs a test file (docs/TESTING-YOUR-CODE.md) on the simulated processor; `stop` ends it. */
  test: { params: { files: SourceFile[]; test: string }; result: { total: number; tests: TestOutcome[] } };

  /** Runs the corpus on the simulated board; events "corpus" meanwhile; `stop` ends it. */
  corpus: { params: { behaviour: Behaviour; files?: SourceFile[]; filter?: string[]; every?: number }; result: CorpusSummary };
  /** Ends the run that has this request's number; its reply comes with what it has. True if there was one. */
  stop: { params: { request: number }; result: boolean };

  /** A board that stands at the call of XCHNG for a square, or at the first instruction of a program. */
  "debug.start": {
    params: ({ fen: string; square: string; behaviour: Behaviour; files?: SourceFile[] }) | (Sources & { board?: string; entry?: string });
    result: DebugState;
  };
  /**
   * Moves the board. It runs by slices; `stop` with this request's number pauses it, and a pause comes by itself after `seconds`
   * (10 if not given) of the computer's time.
   */
  "debug.move": { params: { motion: Motion; address?: number; step?: number; seconds?: number }; result: DebugState };
  /** Sets breakpoints, all of them: by line or by address, with a condition in the debugger's language. */
  "debug.breakpoints": { params: { breakpoints: BreakpointWish[] }; result: { breakpoints: Breakpoint[] } };
  /** The state again, with other windows of memory. */
  "debug.state": { params: { memory?: MemoryWindow[] }; result: DebugState };
  /** A command of the text debugger (`hw-inspect debug`), such as "watch ATKLST" or "why"; its answer as text. */
  "debug.command": { params: { line: string }; result: { text: string; state: DebugState } };
  /** The text of a source that the debugger names; null if it is not known. */
  "debug.text": { params: { file: string }; result: { text: string } | null };
  /**
   * The exchange on a square as the Z80 works it out: the board at the call of XCHNG, after each capture that it books, and at
   * the return.
   */
  play: { params: { fen: string; behaviour: Behaviour; square: string; files?: SourceFile[] }; result: { states: DebugState[] } };
  /** T-states and passages by source line while the board examines a position. */
  tstates: { params: { fen: string; behaviour: Behaviour; files?: SourceFile[] }; result: LineTimes };

  /** Puts a program on a simulated board and starts it; events "machine" carry what the board sends. */
  "machine.start": { params: Sources & { board?: string; entry?: string; speed?: "real" | "full" }; result: { entry: number; board: string; notice: string } };
  /** Keys to the board. */
  "machine.input": { params: { bytes: Uint8Array | string }; result: null };
  /** The reset button. */
  "machine.reset": { params: Record<string, never>; result: null };
  "machine.stop": { params: Record<string, never>; result: null };
  /** Profiles of boards that programs can be assembled for. */
  boards: { params: Record<string, never>; result: { boards: BoardInfo[] } };

  /**
   * A real board. The page first opens a port by `SerialHost` of serial.js, which fills the shared memory that goes to the worker
   * with this request; then the other methods of `serial` can be used. They wait in the worker, so that nothing else is answered
   * meanwhile; `SerialHost.interrupt()` ends what waits.
   */
  "serial.attach": { params: { memory: SharedArrayBuffer; name: string }; result: null };
  "serial.detach": { params: Record<string, never>; result: null };
  /** Which monitor answers. */
  "serial.probe": { params: SerialOptions; result: ProbeResult };
  /** Writes the application (or a program of one's own) and proves that it arrived; events "serial" show progress. */
  "serial.write": { params: SerialOptions & { behaviour?: Behaviour; files?: SourceFile[]; program?: SourceFile[]; via?: Via }; result: SerialWritten };
  /** Compares the board's memory with the program. */
  "serial.verify": { params: SerialOptions & { behaviour?: Behaviour; files?: SourceFile[] }; result: SerialVerified };
  /** Runs the corpus on the board; events "corpus" meanwhile. */
  "serial.corpus": { params: SerialOptions & { behaviour: Behaviour; files?: SourceFile[]; filter?: string[]; every?: number }; result: CorpusSummary };
}

// ---------------------------------------------------------------------------------------------- events

export type Event =
  /** First event: the worker can be used. */
  | { event: "ready"; version: string; commit: string; serial: boolean }
  /** The toolchain could not be loaded. */
  | { event: "broken"; message: string }
  | { event: "corpus"; request: number; done: number; total: number; cases: CaseOutcome[] }
  /** The board has sent bytes; `state` when it halts or ends. */
  | { event: "machine"; bytes?: Uint8Array; state?: "running" | "halted" | "stopped"; clock: number }
  /** Progress on a real board: words for people, and bytes where they are counted. */
  | { event: "serial"; request: number; message: string; done?: number; total?: number };

// ---------------------------------------------------------------------------------------------- results

export interface Figures {
  version: string;
  /** Commit that the module was built from; "unknown" outside of a repository. */
  commit: string;
  board: string;
  images: ImageFigures[];
}
export interface ImageFigures {
  behaviour: Behaviour;
  address: number;
  size: number;
  /** Eight hexadecimal digits, as `rcflash build` and the board's identity have them. */
  build: string;
  /** CRC-32 of all bytes, eight hexadecimal digits. */
  crc32: string;
}

export interface Placement {
  /** In full, six fields. */
  fen: string;
  toMove: Side;
  pieces: { square: string; piece: PieceLetter }[];
  /** True if it is a position of a game (two kings, and the like). */
  legal: boolean;
  /** Fields that the FEN lacked, in words; empty if none. */
  assumed: string;
}

export interface Examination {
  fen: string;
  behaviour: Behaviour;
  pins: { square: string; by?: string; direction: string }[];
  /** a1 to h1 first; only the one that was asked for, if one was. */
  squares: SquareFacts[];
  /** Set if the board did not answer as a whole, with the reason; the facts by the host are there all the same. */
  boardError?: string;
  /** T-states of the board for all pieces: the sum over their squares. */
  tStates: number;
}
export interface SquareFacts {
  square: string;
  piece: PieceLetter;
  /** Worth of the piece. */
  value: number;
  /** In the order in which the evaluator has them capture. */
  attackers: Capturer[];
  defenders: Capturer[];
  /** Those of both sides whose pins keep them from capturing here. */
  barred: Capturer[];
  /** The 14 bytes of the array: White's count and six, Black's. By the board; by the reference. */
  array: { board: number[] | null; reference: number[] };
  /** Points that the owner loses. `minimax` and `swap` are null on squares that nobody attacks. */
  residue: { board: number | null; reference: number; minimax: number | null; swap: number | null };
  /** Whether board and reference agree on array and residue. */
  agrees: boolean;
  /** Board's status: a piece found no room in the array; a count promises more than there is. */
  overflow: boolean;
  short: boolean;
  /** Steps of the exchange; empty if nobody attacks. */
  steps: Step[];
  /** Why residue and swap differ, in words; empty if they do not. */
  reason: string;
  /** The fault of the original that the square shows: in words, and its line. */
  fault: { text: string; file: string; line: number; code: string } | null;
  /** T-states of ATTACK and XCHNG on the board. */
  tStates: number | null;
}
export interface Capturer {
  piece: PieceLetter;
  value: number;
  /** Null where the array holds a piece that can't be told from another. */
  square: string | null;
  pinned: boolean;
  /** Stands behind another piece of the same line. */
  xray: boolean;
}
export interface Step {
  side: Side;
  action: "takes" | "takes-last" | "needs-help" | "has-no-help" | "stops";
  /** Words for people, such as "White's knight takes". */
  text: string;
  piece: PieceLetter;
  from: string | null;
  to: string;
  /** The piece that stands on the square, and is taken if the action is one of taking. */
  captured: PieceLetter;
  /** Points at stake, value of the capturer, of the guard that is ready. */
  stake: number;
  attacker: number;
  defender: number | null;
  /** Points that the owner has lost after the step. */
  balance: number;
  /** The board's own step (TRACE on the simulated board); null if it has none here. */
  board: { stake: number; attacker: number; defender: number | null; balance: number } | null;
}

export interface Sources {
  files: SourceFile[];
  behaviour?: Behaviour;
  /** Symbols that are defined before the first line. */
  defines?: Record<string, number>;
}
export interface Place { file: string; line: number; column: number }
export interface Message {
  severity: "error" | "warning" | "note";
  code: string;
  message: string;
  file: string;
  line: number;
  column: number;
  /** End of the underlined text, on the same or a later line. */
  endLine: number;
  endColumn: number;
  help?: string;
}
export interface Token { line: number; column: number; length: number; type: string; modifiers: string[] }
export interface Completion { label: string; kind: string; detail?: string; documentation?: string; insert: string }
export interface Assembled {
  messages: Message[];
  /** As the program prints them. */
  text: string;
  program: { address: number; size: number; entry: number | null; build?: string; crc32: string; notice?: string } | null;
  outputs: OutputFile[];
}

export interface TestOutcome {
  name: string;
  /** Its line in the test file. */
  line: number;
  verdict: "pass" | "fail" | "skipped";
  /** The differences, a line each, or why it was skipped. */
  reason: string;
  /** T-states of its longest call. */
  tStates: number | null;
}
export interface CaseOutcome {
  id: string;
  tags: string[];
  verdict: "pass" | "fail" | "timeout" | "error" | "flaky" | "skipped" | "not-run";
  fen?: string;
  /** The first square that differs. */
  square?: string;
  /** In words, for what did not pass. */
  reason?: string;
  squares: number;
}
export interface CorpusSummary {
  ended: string;
  counts: Record<CaseOutcome["verdict"] | "cases" | "values", number>;
  byTag: { tag: string; cases: number; pass: number; fail: number; other: number }[];
  /** The first case that did not pass. */
  first: (CaseOutcome & { differences: string[] }) | null;
  /** Mean T-states of ATTACK and XCHNG for all squares of a position; null on a real board. */
  tStates: number | null;
  seconds: number;
  build: string;
}

export type Motion =
  | "step" | "over" | "line" | "lineInto" | "out" | "go" | "to"
  | "back" | "backLine" | "backGo" | "backTo" | "backToChange" | "toStep" | "restart";
export interface MemoryWindow { address: number; length: number }
export interface DebugState {
  halt: "step" | "breakpoint" | "watchpoint" | "idle" | "start" | "paused";
  /** Why it stopped, in words. */
  message: string;
  registers: Record<string, number>;
  /** "S", "Z", "H", "P", "N", "C" that are set. */
  flags: string;
  instruction: { address: number; bytes: number[]; text: string };
  place: { file: string; line: number; text: string } | null;
  /** Nearest label, such as "XCHNG+3". */
  label: string;
  /** T-states since power came on; since the start of this session. */
  clock: number;
  elapsed: number;
  /** Instructions since the session began: goes back with the board. */
  step: number;
  calls: { routine: string; address: number; site: string; file?: string; line?: number; service: boolean; seen: boolean }[];
  memory: { address: number; bytes: number[] }[];
  /** The attackers array as it stands in memory, and the registers by the article's names inside XCHNG. */
  array: { address: number; bytes: number[] } | null;
  roles: { meaning: string; register: string; value: number }[];
  /** What breakpoints have logged since the state before: the last 100 messages. */
  log: string[];
  /** The values of the command "display": "1: HL = 8000H". */
  watches: string[];
}
export interface BreakpointWish { file?: string; line?: number; address?: number; symbol?: string; condition?: string }
export interface Breakpoint { wish: BreakpointWish; set: boolean; address?: number; line?: number; message?: string }
export interface LineTimes {
  files: { name: string; text: string; lines: { line: number; passages: number; tStates: number }[] }[];
  total: number;
}

export interface BoardInfo { name: string; title: string; clockHz: number; ram: [number, number]; baud: number }

/** `board` is a profile's name; without it the first one. */
export interface SerialOptions { board?: string }
export type Via = "monitor" | "auto" | "scm" | "romwbw" | "basic" | "cpm";
export interface ProbeResult { kind: string; text: string; build?: string }
/** `received` has bytes that a program of one's own has sent already. */
export interface SerialWritten { address: number; size: number; build?: string; seconds?: number; received?: number[]; text: string }
export interface SerialVerified { same: boolean; text: string }
