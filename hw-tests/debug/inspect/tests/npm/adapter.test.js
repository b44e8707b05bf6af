// `hw-inspect dap`, judged by Microsoft's client for tests of debug adapters and by the protocol's types.
// HW_INSPECT names the program; the packages are where NODE_PATH says.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, afterEach, beforeEach, test: plain } = require("node:test");
const { DebugClient } = require("@vscode/debugadapter-testsupport");
const { complaints } = require("../../../../../assembler/tdlasm-cli/tests/npm/typed.js");

/** A test that fails when it takes too long; nothing here takes a minute. */
const test = (name, body) => plain(name, { timeout: 60_000 }, body);

const FIGURE_1 = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
const SARGON = path.join(__dirname, "../../../../../sargon-src");

/** A program that counts down in memory, calls itself, and then waits in a loop. */
const PROGRAM = [
  "\t.INTERN START,COUNT,DEEP", // 1
  "; a comment", // 2
  "\t.LOC .PROG.", // 3
  "START:\tLXI H,COUNT", // 4
  "\tMVI M,3", // 5
  "AGAIN:\tDCR M", // 6
  "\tJRNZ AGAIN", // 7
  "\tMVI B,5", // 8
  "\tCALL DEEP", // 9
  "WAIT:\tJMPR WAIT", // 10
  "DEEP:\tDCR B", // 11
  "\tRZ", // 12
  "\tCALL DEEP", // 13
  "\tRET", // 14
  "\t.LOC .DATA.", // 15
  "COUNT:\t.BLKB 4", // 16
  "\t.END START", // 17
  "", // 18
].join("\n");

const seen = [];
let folder, program, client;

/** The name of the type that a message must have. */
function typeOf(message) {
  const capital = (name) => name[0].toUpperCase() + name.slice(1);
  if (message.type === "event") return `${capital(message.event)}Event`;
  return message.success ? `${capital(message.command)}Response` : "ErrorResponse";
}

/** Microsoft's client; it keeps each message as it came. */
class Client extends DebugClient {
  dispatch(body) {
    seen.push(JSON.parse(body));
    super.dispatch(body);
  }

  async variables(scope) {
    const { scopes } = (await this.scopesRequest({ frameId: 0 })).body;
    const { variablesReference } = scopes.find((one) => one.name === scope);
    const { variables } = (await this.variablesRequest({ variablesReference })).body;
    return { variablesReference, variables };
  }

  /** Goes on in some way; the reason of the stop, and the frames there. */
  async travel(command, args = {}) {
    const stopped = this.waitForEvent("stopped");
    await this.send(command, { threadId: 1, ...args });
    const { reason } = (await stopped).body;
    return { reason, frames: (await this.stackTraceRequest({ threadId: 1 })).body.stackFrames };
  }

  /** Launches and waits for the first stop. */
  async begin(args) {
    const ready = this.configurationSequence();
    const [stopped] = await Promise.all([this.waitForEvent("stopped"), ready, this.launch(args)]);
    return stopped.body;
  }
}

beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "dap-"));
  program = path.join(folder, "prog.asm");
  fs.writeFileSync(program, PROGRAM);
  client = new Client(process.env.HW_INSPECT, "dap", "tdl");
  client.defaultTimeout = 60_000;
  await client.start();
});

afterEach(async () => {
  await client.stop();
  fs.rmSync(folder, { recursive: true });
});

after(() => {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), "dap-"));
  const values = seen.map((value) => ({ type: `T.DebugProtocol.${typeOf(value)}`, value }));
  const wrong = complaints(values, { module: "@vscode/debugprotocol/lib/debugProtocol.d.ts", folder: place });
  fs.rmSync(place, { recursive: true });
  assert.ok(seen.length > 100, `${seen.length} messages`);
  assert.equal(wrong.length, 0, wrong.slice(0, 5).join("\n"));
});

test("a breakpoint on a line is hit where it was set", async () => {
  await client.hitBreakpoint({ program, stopOnEntry: false }, { path: program, line: 9 });
});

test("a breakpoint on a line without code is moved, and says so", async () => {
  const expected = { path: program, line: 4 };
  await client.hitBreakpoint({ program, stopOnEntry: false }, { path: program, line: 2 }, expected, expected);
  const breakpoints = [{ line: 2 }, { line: 17 }, { line: 6, condition: "=" }, { line: 900 }];
  const answer = await client.setBreakpointsRequest({ source: { path: program }, breakpoints });
  const [moved, end, odd, far] = answer.body.breakpoints;
  assert.ok(moved.verified && moved.line === 4 && moved.message, JSON.stringify(moved));
  for (const one of [end, odd, far]) {
    assert.ok(!one.verified && one.reason === "failed" && one.message, JSON.stringify(one));
  }
  const other = { source: { path: path.join(folder, "other.asm") }, breakpoints: [{ line: 1 }] };
  const [none] = (await client.setBreakpointsRequest(other)).body.breakpoints;
  assert.ok(!none.verified && none.message, JSON.stringify(none));
});

test("conditions, hit counts, labels and instructions stop the board", async () => {
  await client.begin({ program });
  const lines = { source: { path: program }, breakpoints: [{ line: 6, hitCondition: "2", condition: "[COUNT] < 3" }] };
  const { id } = (await client.setBreakpointsRequest(lines)).body.breakpoints[0];
  const stopped = client.waitForEvent("stopped");
  const { reason, frames } = await client.travel("continue");
  assert.deepEqual([reason, frames[0].line], ["breakpoint", 6]);
  assert.deepEqual((await stopped).body.hitBreakpointIds, [id]);
  const value = await client.evaluateRequest({ expression: "[COUNT]", context: "watch" });
  assert.equal(value.body.result, "01H (1)");
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "DEEP" }] });
  assert.equal((await client.travel("continue")).reason, "function breakpoint");
  await client.setFunctionBreakpointsRequest({ breakpoints: [] });
  const next = { instructionReference: frames[0].instructionPointerReference, offset: 1 };
  await client.send("setInstructionBreakpoints", { breakpoints: [next] });
  assert.equal((await client.travel("reverseContinue")).reason, "instruction breakpoint");
});

test("every capability that is named is had, and no other", async () => {
  const { body } = await client.initializeRequest();
  const requests = {
    supportsReadMemoryRequest: ["readMemory", { memoryReference: "START", count: 2 }],
    supportsWriteMemoryRequest: ["writeMemory", { memoryReference: "COUNT", data: "AA==" }],
    supportsDisassembleRequest: ["disassemble", { memoryReference: "START", instructionCount: 1 }],
    supportsSetVariable: ["setVariable", { variablesReference: 1, name: "HL", value: "1" }],
    supportsBreakpointLocationsRequest: ["breakpointLocations", { source: { path: program }, line: 1, endLine: 9 }],
    supportsDataBreakpoints: ["setDataBreakpoints", { breakpoints: [] }],
    supportsFunctionBreakpoints: ["setFunctionBreakpoints", { breakpoints: [] }],
    supportsInstructionBreakpoints: ["setInstructionBreakpoints", { breakpoints: [] }],
    supportsCompletionsRequest: ["completions", { text: "H", column: 1 }],
    supportsModulesRequest: ["modules", {}],
    supportsGotoTargetsRequest: ["gotoTargets", { source: { path: program }, line: 9 }],
    supportsStepInTargetsRequest: ["stepInTargets", { frameId: 0 }],
    supportsSetExpression: ["setExpression", { expression: "[COUNT]", value: "5" }],
    supportsLoadedSourcesRequest: ["loadedSources", {}],
    supportsRestartFrame: ["restartFrame", { frameId: 0 }],
    supportsTerminateThreadsRequest: ["terminateThreads", { threadIds: [1] }],
    supportsCancelRequest: ["cancel", { requestId: 1 }],
    supportsStepBack: ["stepBack", { threadId: 1, granularity: "instruction" }],
    supportsRestartRequest: ["restart", {}],
    supportsTerminateRequest: ["terminate", {}],
  };
  const ready = client.waitForEvent("initialized");
  await client.launchRequest({ program });
  await ready;
  await client.configurationDoneRequest();
  const differ = [];
  for (const [capability, [command, args]] of Object.entries(requests)) {
    const has = await client.send(command, args).then(() => true, () => false);
    if (has !== (body[capability] ?? false)) differ.push(`${capability}: ${has}`);
  }
  assert.deepEqual(differ, []);
  // What has no request of its own is tried by the other tests.
  const tried = ["ConfigurationDoneRequest", "ConditionalBreakpoints", "HitConditionalBreakpoints", "LogPoints",
    "SteppingGranularity", "DataBreakpointBytes", "EvaluateForHovers", "DelayedStackTraceLoading",
    "ExceptionInfoRequest"].map((name) => `supports${name}`);
  const odd = Object.keys(body).filter((name) => !(name in requests) && !tried.includes(name));
  assert.deepEqual(odd, []);
});

test("a program that halts for ever has stopped for an exception, until it is restarted", async () => {
  fs.writeFileSync(program, "START:\tDI\n\tHLT\n\t.END START\n");
  await client.begin({ program });
  assert.equal((await client.travel("continue")).reason, "exception");
  const { exceptionId } = (await client.send("exceptionInfo", { threadId: 1 })).body;
  assert.equal(exceptionId, "halted");
  const ready = client.waitForEvent("initialized");
  await client.send("restart", {});
  await ready;
  const stopped = client.waitForEvent("stopped");
  await client.configurationDoneRequest();
  assert.equal((await stopped).body.reason, "entry");
});

test("a client that counts from 0 is refused before it asks for lines", async () => {
  await assert.rejects(client.initializeRequest({ adapterID: "tdl", linesStartAt1: false }), /linesStartAt1/);
  await assert.rejects(client.initializeRequest({ adapterID: "tdl", pathFormat: "uri" }), /pathFormat/);
});

test("frames come as they are asked for", async () => {
  await client.begin({ program });
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 12, condition: "B == 1" }] });
  const { frames } = await client.travel("continue");
  assert.deepEqual(frames.slice(0, 5).map((one) => one.line), [12, 13, 13, 13, 9]);
  assert.equal(frames[0].source.path, fs.realpathSync(program));
  for (const [startFrame, levels] of [[1, 2], [0, 1], [3, 0], [frames.length, 5]]) {
    const { body } = await client.stackTraceRequest({ threadId: 1, startFrame, levels });
    const expected = frames.slice(startFrame, levels ? startFrame + levels : undefined);
    assert.deepEqual([body.stackFrames, body.totalFrames], [expected, frames.length]);
  }
});

test("as many instructions come as are asked for", async () => {
  await client.begin({ program });
  const ask = async (args) => (await client.send("disassemble", args)).body.instructions;
  const all = await ask({ memoryReference: "START", instructionCount: 40 });
  assert.equal(all.length, 40);
  assert.deepEqual([all[0].symbol, all[0].line, all[1].line], ["START", 4, 5]);
  const around = await ask({ memoryReference: "START", offset: 3, instructionOffset: -1, instructionCount: 3 });
  assert.deepEqual(around, all.slice(0, 3));
  // Memory ends: what is not there is filler.
  const last = await ask({ memoryReference: "0xFFFE", instructionCount: 5 });
  const first = await ask({ memoryReference: "0x0000", instructionOffset: -3, instructionCount: 5 });
  assert.deepEqual([last.length, first.length], [5, 5]);
  assert.equal(last.at(-1).presentationHint, "invalid");
  assert.deepEqual(first.map((one) => one.presentationHint ?? "normal"), ["invalid", "invalid", "invalid", "normal", "normal"]);
  assert.equal(first[3].address, "0x0000");
  const addresses = [...first.slice(3), ...last].filter((one) => !one.presentationHint).map((one) => Number(one.address));
  assert.deepEqual(addresses, [...addresses].sort((a, b) => a - b));
  const many = await ask({ memoryReference: "0x0000", instructionCount: 20_000 });
  assert.equal(many.length, 20_000);
});

test("each value can be set in the form in which it is shown", async () => {
  await client.begin({ fen: FIGURE_1, square: "e5" });
  const { scopes } = (await client.scopesRequest({ frameId: 0 })).body;
  let tried = 0;
  for (const { variablesReference, name: scope } of scopes) {
    const { variables } = (await client.variablesRequest({ variablesReference })).body;
    for (const { name, value, presentationHint } of variables) {
      if (presentationHint?.attributes?.includes("readOnly")) {
        await assert.rejects(client.setVariableRequest({ variablesReference, name, value }));
        continue;
      }
      const { body } = await client.setVariableRequest({ variablesReference, name, value });
      assert.equal(body.value, value, `${scope}: ${name}`);
      tried += 1;
    }
    const after = (await client.variablesRequest({ variablesReference })).body.variables;
    assert.deepEqual(after, variables, scope);
  }
  assert.ok(tried > 50, `${tried} values`);
  const { variablesReference } = scopes.find((one) => one.name === "Registers");
  await assert.rejects(client.setVariableRequest({ variablesReference, name: "A", value: "100H" }));
  await assert.rejects(client.setVariableRequest({ variablesReference, name: "HL", value: "nonsense?" }));
});

test("data breakpoints are made from variables and for ranges of addresses", async () => {
  await client.begin({ fen: FIGURE_1, square: "e5" });
  const watch = async (args, accessType = "write") => {
    const info = (await client.dataBreakpointInfoRequest(args)).body;
    assert.ok(info.dataId, JSON.stringify([args, info]));
    const breakpoints = [{ dataId: info.dataId, accessType }];
    const [set] = (await client.setDataBreakpointsRequest({ breakpoints })).body.breakpoints;
    assert.ok(set.verified && info.accessTypes.includes(accessType), JSON.stringify(info));
  };
  for (const scope of ["Registers", "Attackers, Table 2"]) {
    const { variables, variablesReference } = await client.variables(scope);
    for (const { name, presentationHint } of variables) {
      if (presentationHint?.attributes?.includes("readOnly")) {
        const { dataId } = (await client.dataBreakpointInfoRequest({ variablesReference, name })).body;
        assert.equal(dataId, null, name);
      } else await watch({ variablesReference, name });
    }
  }
  const { variablesReference } = await client.variables("Attackers, Table 2");
  await watch({ variablesReference, name: "White: count" }, "readWrite");
  assert.equal((await client.travel("reverseContinue")).reason, "data breakpoint");
  const array = (await client.evaluateRequest({ expression: "ATKLST" })).body.memoryReference;
  await watch({ name: array, asAddress: true, bytes: 14 });
  assert.equal((await client.travel("reverseContinue")).reason, "data breakpoint");
  const far = (await client.dataBreakpointInfoRequest({ name: "0xFFFF", asAddress: true, bytes: 2 })).body;
  assert.equal(far.dataId, null, JSON.stringify(far));
});

test("a routine of the user's own is opened as his file", async () => {
  const sargonDir = path.join(folder, "own");
  const own = path.join(sargonDir, "xchng.asm");
  fs.mkdirSync(sargonDir);
  fs.copyFileSync(path.join(SARGON, "xchng.asm"), own);
  await client.begin({ fen: FIGURE_1, square: "e5", sargonDir });
  const { stackFrames } = (await client.stackTraceRequest({ threadId: 1 })).body;
  assert.equal(stackFrames[0].source.path, fs.realpathSync(own));
  assert.equal(stackFrames[0].source.sourceReference, undefined);
  // The others are carried in the program, which gives out their text.
  const other = stackFrames.find((one) => one.source?.sourceReference);
  const { sourceReference } = other.source;
  assert.ok(sourceReference > 0, JSON.stringify(other));
  const { content } = (await client.sourceRequest({ source: other.source, sourceReference })).body;
  assert.ok(content.split("\n").length > other.line);
  const breakpoints = [{ line: stackFrames[0].line + 1 }];
  const [set] = (await client.setBreakpointsRequest({ source: { path: own }, breakpoints })).body.breakpoints;
  assert.ok(set.verified, JSON.stringify(set));
  const { frames } = await client.travel("continue");
  assert.equal(frames[0].line, set.line);
});

test("terminate ends the program, then the client leaves", async () => {
  await client.begin({ program });
  await client.continueRequest({ threadId: 1 });
  const terminated = client.waitForEvent("terminated");
  await client.terminateRequest();
  await terminated;
  let again = 0;
  client.on("terminated", () => again++);
  await client.terminateRequest();
  await client.threadsRequest().catch(() => {});
  assert.equal(again, 0, "it ends once");
  await assert.rejects(client.continueRequest({ threadId: 1 }));
});

test("a program that hangs is paused, looked at and stepped back", async () => {
  await client.begin({ program, stopOnEntry: true });
  await client.continueRequest({ threadId: 1 });
  await client.threadsRequest();
  const { reason, frames } = await client.travel("pause");
  assert.equal(reason, "pause");
  assert.equal(frames[0].line, 10);
  const back = await client.travel("stepBack", { granularity: "line" });
  assert.equal(back.reason, "step");
  const { result } = (await client.evaluateRequest({ expression: "HL", context: "hover" })).body;
  assert.match(result, /^[0-9A-F]{4}H \(\d+\)$/);
});
