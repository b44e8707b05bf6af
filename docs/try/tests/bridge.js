// A fake navigator.serial for the tests: the page's side speaks WebSocket, and this side hands the
// bytes to the TCP port of `hw-tests simulate board --listen`, a board with the real protocol.

import { connect } from "node:net";
import { modules } from "./browser.js";

/** @type {typeof import("ws")} */
const { WebSocketServer } = modules("ws");

/**
 * Serves WebSockets, the last of which has the line of the board at a TCP port. `unplug` breaks all
 * that are open and refuses others until `plug`.
 * @param {number} port
 */
export async function bridge(port) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  let plugged = true;
  // The board's end of the line stays while the page closes and opens its port.
  const board = connect(port, "127.0.0.1");
  board.setNoDelay(true);
  /** @type {import("ws").WebSocket | null} */
  let host = null;
  board.on("data", (data) => host?.send(data));
  board.on("error", () => host?.terminate());
  board.on("close", () => host?.terminate());
  server.on("connection", (socket) => {
    if (!plugged) return socket.terminate();
    host = socket;
    socket.on("message", (/** @type {Buffer} */ data) => board.write(data));
    socket.on("close", () => {
      if (host === socket) host = null;
    });
  });
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `ws://127.0.0.1:${address.port}/`,
    unplug() {
      plugged = false;
      for (const socket of server.clients) socket.terminate();
    },
    plug() {
      plugged = true;
    },
    close() {
      for (const socket of server.clients) socket.terminate();
      board.destroy();
      server.close();
    },
  };
}

/**
 * Runs in the page before its own scripts: one port, which is there for as long as the bridge is.
 * @param {string} url
 */
export function fakeSerial(url) {
  class Port extends EventTarget {
    /** @type {WebSocket | null} */
    #socket = null;
    /** @type {ReadableStream<Uint8Array> | null} */
    readable = null;
    /** @type {WritableStream<Uint8Array> | null} */
    writable = null;
    connected = true;

    getInfo() {
      return { usbVendorId: 0x0403, usbProductId: 0x6001 };
    }

    /** @param {{ baudRate: number }} options */
    async open(options) {
      if (!options.baudRate) throw new TypeError("baudRate is missing");
      if (this.#socket) throw new DOMException("The port is already open.", "InvalidStateError");
      const socket = new WebSocket(url);
      socket.binaryType = "arraybuffer";
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = () =>
          reject(new DOMException("Failed to open serial port.", "NetworkError"));
      });
      this.#socket = socket;
      this.#makeReadable(socket);
      this.writable = new WritableStream({
        write: (chunk) => {
          if (socket.readyState !== WebSocket.OPEN) {
            throw new DOMException("The device has been lost.", "NetworkError");
          }
          // A copy: chunks may lie in shared memory, which sockets do not take.
          socket.send(new Uint8Array(chunk));
        },
      });
      socket.addEventListener("close", () => this.#gone());
    }

    /** @param {WebSocket} socket */
    #makeReadable(socket) {
      this.readable = new ReadableStream({
        start: (controller) => {
          socket.onmessage = ({ data }) => {
            try {
              controller.enqueue(new Uint8Array(data));
            } catch {
              // The reader has cancelled; a new one comes.
            }
          };
          socket.addEventListener("close", () => {
            try {
              controller.error(new DOMException("The device has been lost.", "NetworkError"));
            } catch {
              // It had ended.
            }
          });
        },
        cancel: () => {
          if (socket.readyState === WebSocket.OPEN)
            queueMicrotask(() => this.#makeReadable(socket));
        },
      });
    }

    #gone() {
      if (!this.#socket) return;
      this.#socket = null;
      this.readable = null;
      this.writable = null;
      this.dispatchEvent(new Event("disconnect", { bubbles: true }));
      serial.dispatchEvent(Object.assign(new Event("disconnect"), { port: this }));
    }

    async setSignals() {}

    async getSignals() {
      return {
        clearToSend: true,
        dataCarrierDetect: false,
        dataSetReady: true,
        ringIndicator: false,
      };
    }

    async close() {
      const socket = this.#socket;
      this.#socket = null;
      this.readable = null;
      this.writable = null;
      socket?.close();
    }

    async forget() {}
  }
  const port = new Port();
  const serial = Object.assign(new EventTarget(), {
    requestPort: async () => port,
    getPorts: async () => [port],
  });
  Object.defineProperty(navigator, "serial", { value: serial, configurable: true });
}
