// The page's side of the worker: requests with numbers, one reply each, and events.

import { messageOf } from "./dom.js";

/** @typedef {import("../worker.js").Methods} Methods */
/** @typedef {import("../worker.js").Event} WorkerEvent */

/**
 * A failure that the worker reported; the message is what the programs print.
 */
export class ToolchainError extends Error {
  /** @param {{ message: string, line?: number, column?: number }} error */
  constructor(error) {
    super(error.message);
    this.name = "ToolchainError";
    this.column = error.column;
  }
}

/**
 * Fetches and compiles a module, and calls back with the number of bytes that have come.
 * @param {string | URL} url
 * @param {(bytes: number) => void} onBytes
 */
async function compiled(url, onBytes) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answers ${response.status} for ${url}`);
  // The browser stores compiled code for its own response only, so that a copy is counted.
  void count(response.clone(), onBytes).catch(() => undefined);
  // Of a server that does not know the media type, only whole modules are taken.
  const isKnown = response.headers.get("content-type") === "application/wasm";
  return isKnown
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/**
 * @param {Response} response
 * @param {(bytes: number) => void} onBytes
 */
async function count(response, onBytes) {
  const reader = response.body?.getReader();
  let bytes = 0;
  for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
    bytes += next.value.length;
    onBytes(bytes);
  }
}

export class Toolchain {
  /**
   * @param {string | URL} url
   * @param {string | URL} module
   * @param {(bytes: number) => void} onBytes Takes the number of the module's bytes that have come.
   */
  constructor(url, module, onBytes) {
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
    this.waiting = new Map();
    /** @type {Set<(event: WorkerEvent) => void>} */
    this.listeners = new Set();
    this.last = 0;
    /** Why the worker does not run, if it does not. */
    this.broken = "";
    this.worker = new Worker(url, { type: "module" });
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => {
      this.tell({ event: "broken", message: event.message || "the worker could not be loaded" });
    };
    // It is compiled here, beside the start of the worker.
    compiled(module, onBytes).then(
      (code) => this.worker.postMessage({ module: code }),
      (error) => {
        const message = `the toolchain can't be loaded: ${messageOf(error)}`;
        this.tell({ event: "broken", message });
      },
    );
  }

  /** @param {any} data */
  receive(data) {
    if ("event" in data) return this.tell(data);
    const request = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (data.error) request?.reject(new ToolchainError(data.error));
    else request?.resolve(data.result);
  }

  /** @param {WorkerEvent} event */
  tell(event) {
    if (event.event === "broken") this.broken = event.message;
    for (const listener of this.listeners) listener(event);
    if (event.event !== "broken") return;
    for (const { reject } of this.waiting.values()) reject(new Error(event.message));
    this.waiting.clear();
  }

  /**
   * Calls back for each event; the result ends that.
   * @param {(event: WorkerEvent) => void} listener
   */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Sends a request; its number is what `stop` takes.
   * @template {keyof Methods} M
   * @param {M} method
   * @param {Methods[M]["params"]} params
   * @returns {{ id: number, reply: Promise<Methods[M]["result"]> }}
   */
  start(method, params) {
    const id = ++this.last;
    if (this.broken) return { id, reply: Promise.reject(new Error(this.broken)) };
    const reply = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.worker.postMessage({ id, method, params });
    return { id, reply };
  }

  /**
   * Sends a request and waits for its reply.
   * @template {keyof Methods} M
   * @param {M} method
   * @param {Methods[M]["params"]} params
   * @returns {Promise<Methods[M]["result"]>}
   */
  call(method, params) {
    return this.start(method, params).reply;
  }
}
