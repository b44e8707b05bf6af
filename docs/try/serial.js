// The page's side of a serial port: it pumps bytes between a port of Web Serial and rings in memory that it shares with the worker,
// which waits there. The other side is hw-tests/web/src/line.rs, with the same words.

/** Words of the shared memory. */
const HEARD_PUT = 0;
const HEARD_TAKEN = 1;
const SENT_PUT = 2;
const SENT_TAKEN = 3;
const STATE = 4;
const ASKED = 5;
const WHAT = 6;
const VALUE = 7;
const ANSWERED = 8;
const FAILED = 9;
const STOP = 10;
const BELL_WORKER = 11;
const BELL_PAGE = 12;
const TEXT_LENGTH = 13;

const TEXT = 64;
const TEXT_SIZE = 512;
const HEARD = 1024;
const HEARD_SIZE = 0x10000;
const SENT = HEARD + HEARD_SIZE;
const SENT_SIZE = 0x1000;

const CLOSED = 0;
const OPEN = 1;
const GONE = 2;

/** Milliseconds between two looks where the browser can't wait for a word of memory. */
const LOOK = 4;

const lost = "the device has been lost";

/** @param {number} time */
const rest = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** A board at a serial port. */
export class BoardLink {
  /** Whether the terminal has the line. */
  talking = false;
  memory = new SharedArrayBuffer(SENT + SENT_SIZE);
  #words = new Int32Array(this.memory);
  #bytes = new Uint8Array(this.memory);
  /** @type {SerialPort} */
  #port;
  #baud;
  #flow = true;
  #onLost;
  /** @type {((bytes: Uint8Array) => void) | null} */
  #onBytes = null;
  /** @type {ReadableStreamDefaultReader<Uint8Array> | null} */
  #reader = null;
  /** @type {Promise<void>} */
  #reading = Promise.resolve();
  /** @type {WritableStreamDefaultWriter<Uint8Array> | null} */
  #writer = null;
  #isDiscarding = false;
  #isClosed = false;

  /**
   * Lets the user choose a port and opens it.
   * @param {number} baud
   * @param {() => void} onLost
   */
  static async choose(baud, onLost) {
    const port = await navigator.serial.requestPort();
    const link = new BoardLink(port, baud, onLost);
    await link.#open();
    // Two loops: what the worker asks for must not wait for bytes that the board holds off.
    void link.#serve(() => link.#obey());
    void link.#serve(() => link.#pump());
    return link;
  }

  /**
   * @param {SerialPort} port
   * @param {number} baud
   * @param {() => void} onLost
   */
  constructor(port, baud, onLost) {
    this.#port = port;
    this.#baud = baud;
    this.#onLost = onLost;
    const { usbVendorId, usbProductId } = port.getInfo();
    const digits = (/** @type {number} */ id) => id.toString(16).padStart(4, "0");
    this.name =
      usbVendorId === undefined
        ? "serial port"
        : `USB adapter ${digits(usbVendorId)}:${digits(usbProductId ?? 0)}`;
  }

  /** Ends what the worker waits for. */
  interrupt() {
    Atomics.store(this.#words, STOP, 1);
    this.#ring();
  }

  /**
   * Sends keys from the terminal.
   * @param {string} keys
   */
  async send(keys) {
    await this.#write(new TextEncoder().encode(keys));
  }

  /**
   * Gives the line to a terminal.
   * @param {(bytes: Uint8Array) => void} onBytes
   */
  async talk(onBytes) {
    if (Atomics.load(this.#words, STATE) !== OPEN) await this.#open();
    const unread = this.#unread();
    if (unread.length) onBytes(unread);
    this.#onBytes = onBytes;
    this.talking = true;
  }

  /** Takes what came after the worker's last read. */
  #unread() {
    const put = Atomics.load(this.#words, HEARD_PUT);
    const taken = Atomics.load(this.#words, HEARD_TAKEN);
    Atomics.store(this.#words, HEARD_TAKEN, put);
    const byte = (/** @type {unknown} */ _, /** @type {number} */ index) =>
      this.#bytes[HEARD + (((taken + index) >>> 0) % HEARD_SIZE)];
    return Uint8Array.from({ length: (put - taken) | 0 }, byte);
  }

  /** Gives the line back to the worker. */
  async hush() {
    this.#onBytes = null;
    this.talking = false;
  }

  /** Closes the port. */
  async close() {
    this.#isClosed = true;
    await this.hush();
    await this.#shut();
    this.#ring();
    this.#wake();
  }

  #ring() {
    Atomics.add(this.#words, BELL_WORKER, 1);
    Atomics.notify(this.#words, BELL_WORKER);
  }

  /** Ends this side's own wait. */
  #wake() {
    Atomics.add(this.#words, BELL_PAGE, 1);
    Atomics.notify(this.#words, BELL_PAGE);
  }

  /** @param {unknown} error */
  #tell(error) {
    const text = error instanceof Error ? error.message : String(error);
    const bytes = new TextEncoder().encode(text).slice(0, TEXT_SIZE);
    this.#bytes.set(bytes, TEXT);
    Atomics.store(this.#words, TEXT_LENGTH, bytes.length);
  }

  async #open() {
    await this.#shut();
    const settings = {
      baudRate: this.#baud,
      bufferSize: HEARD_SIZE,
      flowControl: /** @type {FlowControlType} */ (this.#flow ? "hardware" : "none"),
    };
    try {
      await this.#port.open(settings);
    } catch (error) {
      // An adapter that was plugged in again is another port, for which the permission holds on.
      const { usbVendorId, usbProductId } = this.#port.getInfo();
      const isSame = (/** @type {SerialPort} */ port) => {
        const other = port.getInfo();
        return other.usbVendorId === usbVendorId && other.usbProductId === usbProductId;
      };
      const again = (await navigator.serial.getPorts()).find(
        (port) => port !== this.#port && isSame(port),
      );
      if (!again) throw error;
      await again.open(settings);
      this.#port = again;
    }
    Atomics.store(this.#words, HEARD_TAKEN, Atomics.load(this.#words, HEARD_PUT));
    Atomics.store(this.#words, STATE, OPEN);
    this.#reading = this.#read();
  }

  /** Closes the port, whatever its state. */
  async #shut() {
    Atomics.store(this.#words, STATE, CLOSED);
    await this.#discard();
    await this.#reader?.cancel().catch(() => undefined);
    await this.#reading;
    await this.#port.close().catch(() => undefined);
  }

  async #read() {
    try {
      while (this.#port.readable && Atomics.load(this.#words, STATE) === OPEN) {
        const reader = this.#port.readable.getReader();
        this.#reader = reader;
        try {
          for (;;) {
            const { value, done } = await reader.read();
            if (done) break;
            if (this.#onBytes) this.#onBytes(value);
            else await this.#hear(value);
          }
        } catch (error) {
          // A framing error or an overrun leaves a new stream; a lost device none, as shows a moment later.
          await rest(LOOK);
          if (!this.#port.readable) throw error;
        } finally {
          reader.releaseLock();
          this.#reader = null;
        }
      }
      if (Atomics.load(this.#words, STATE) === OPEN) throw new Error(lost);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** @param {unknown} error */
  #lose(error) {
    if (Atomics.load(this.#words, STATE) !== OPEN) return;
    this.#tell(error instanceof DOMException ? lost : error);
    Atomics.store(this.#words, STATE, GONE);
    this.#ring();
    this.#onLost();
  }

  /** @param {Uint8Array} bytes */
  async #hear(bytes) {
    let left = bytes;
    while (left.length > 0) {
      const put = Atomics.load(this.#words, HEARD_PUT);
      const free = HEARD_SIZE - ((put - Atomics.load(this.#words, HEARD_TAKEN)) | 0);
      const part = left.subarray(0, free);
      part.forEach((byte, offset) => {
        this.#bytes[HEARD + (((put + offset) >>> 0) % HEARD_SIZE)] = byte;
      });
      Atomics.store(this.#words, HEARD_PUT, (put + part.length) | 0);
      if (part.length > 0) this.#ring();
      else if (Atomics.load(this.#words, STATE) === OPEN) await rest(LOOK);
      else return;
      left = left.subarray(part.length);
    }
  }

  /** @param {Uint8Array} bytes */
  async #write(bytes) {
    const writer = this.#port.writable?.getWriter();
    if (!writer) throw new Error(lost);
    this.#writer = writer;
    try {
      await writer.write(bytes);
    } catch (error) {
      if (!this.#isDiscarding) throw error;
    } finally {
      this.#isDiscarding = false;
      this.#writer = null;
      writer.releaseLock();
    }
  }

  /**
   * Serves the worker until the link is closed.
   * @param {() => Promise<void>} work
   */
  async #serve(work) {
    while (!this.#isClosed) {
      const bell = Atomics.load(this.#words, BELL_PAGE);
      await work();
      if (Atomics.load(this.#words, BELL_PAGE) === bell) await this.#wait(bell);
    }
  }

  /** @param {number} bell */
  async #wait(bell) {
    if (typeof Atomics.waitAsync !== "function") return rest(LOOK);
    const waits = Atomics.waitAsync(this.#words, BELL_PAGE, bell);
    await waits.value;
  }

  /** Does what the worker asks for. */
  async #obey() {
    const number = Atomics.load(this.#words, ASKED);
    if (number === Atomics.load(this.#words, ANSWERED)) return;
    let failed = 0;
    try {
      const value = Atomics.load(this.#words, VALUE);
      await this.#do(Atomics.load(this.#words, WHAT), value);
    } catch (error) {
      failed = 1;
      this.#tell(error);
    }
    Atomics.store(this.#words, FAILED, failed);
    Atomics.store(this.#words, ANSWERED, number);
    this.#ring();
  }

  /**
   * @param {number} what
   * @param {number} value
   */
  async #do(what, value) {
    const on = value !== 0;
    const isOpen = Atomics.load(this.#words, STATE) === OPEN;
    switch (what) {
      case 1: {
        // A port that is open as it is wanted stays: to open it anew moves DTR.
        if (isOpen && this.#baud === value && this.#flow) return;
        this.#baud = value;
        this.#flow = true;
        return this.#open();
      }
      case 2:
        return this.#port.setSignals({ dataTerminalReady: on });
      case 3:
        return this.#port.setSignals({ requestToSend: on });
      case 4:
        return this.#port.setSignals({ break: on });
      case 5: {
        this.#flow = on;
        return this.#open();
      }
      case 6: {
        this.#baud = value;
        return this.#open();
      }
      default:
        return this.#discard();
    }
  }

  /** Forgets what a write waits with; the port has a new stream then. */
  async #discard() {
    const writer = this.#writer;
    if (!writer) return;
    this.#isDiscarding = true;
    await writer.abort().catch(() => undefined);
  }

  /** Hands over what the worker wants sent. */
  async #pump() {
    for (;;) {
      const taken = Atomics.load(this.#words, SENT_TAKEN);
      const count = (Atomics.load(this.#words, SENT_PUT) - taken) | 0;
      if (count <= 0 || Atomics.load(this.#words, STATE) !== OPEN) return;
      const bytes = new Uint8Array(count);
      for (let offset = 0; offset < count; offset += 1) {
        bytes[offset] = this.#bytes[SENT + (((taken + offset) >>> 0) % SENT_SIZE)];
      }
      try {
        await this.#write(bytes);
      } catch (error) {
        return this.#lose(error);
      }
      Atomics.store(this.#words, SENT_TAKEN, (taken + count) | 0);
      this.#ring();
    }
  }
}
