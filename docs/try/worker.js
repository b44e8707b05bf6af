// The worker of the page: holds the toolchain as WebAssembly, answers requests, and lets long runs go on between them.
// The contract is worker.d.ts.

import init, { Worker as Toolchain } from "./toolchain.js";

/** Requests that came before the module was there. */
const early = [];
let toolchain;
/** Whether a turn for runs is on its way. */
let isAwaited = false;
let timer;

/** Puts the bytes that a message refers to by number where its fields `bytes` are. */
function withBytes(message, bytes) {
  for (const holder of [message, ...(message.result?.outputs ?? [])]) {
    if (typeof holder.bytes === "number") holder.bytes = bytes[holder.bytes];
  }
  return message;
}

function post(json, bytes) {
  self.postMessage(withBytes(JSON.parse(json), bytes));
}

/** Shared memory does not go through JSON: it is handed over besides. */
function take(request) {
  try {
    if (request.method === "serial.attach") {
      toolchain.attach(request.params.memory, request.params.name);
    }
    const params = { ...request.params, memory: undefined };
    if (params.bytes !== undefined && typeof params.bytes !== "string") params.bytes = [...params.bytes];
    toolchain.take(JSON.stringify({ ...request, params }));
  } catch (error) {
    self.postMessage({ id: request.id, error: { message: `the toolchain failed: ${error?.message ?? error}` } });
  }
  run();
}

// A message of a channel comes after all that wait already, and without the least delay of a timer.
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  isAwaited = false;
  let next = -1;
  try {
    next = toolchain.advance();
  } catch (error) {
    self.postMessage({ event: "broken", message: `the toolchain failed: ${error?.message ?? error}` });
  }
  if (next === 0) run();
  else if (next > 0) timer = setTimeout(run, next);
};

/** Lets runs go on as soon as the messages that wait are taken. */
function run() {
  clearTimeout(timer);
  if (isAwaited) return;
  isAwaited = true;
  channel.port2.postMessage(null);
}

/** Starts the toolchain from the module that the page has compiled. */
async function start(module) {
  try {
    await init({ module_or_path: module });
    toolchain = new Toolchain(post);
    toolchain.start(typeof SharedArrayBuffer !== "undefined");
    early.splice(0).forEach(take);
  } catch (error) {
    self.postMessage({ event: "broken", message: `the toolchain can't be loaded: ${error?.message ?? error}` });
  }
}

self.onmessage = ({ data }) => {
  if (data.module) start(data.module);
  else if (toolchain) take(data);
  else early.push(data);
};
