// The page's side of a serial port.

/** Returns what this browser lacks for boards, in words, or an empty text. */
export function obstacle() {
  if (!window.isSecureContext) {
    return "Browsers give serial ports only to pages from https: or this computer (localhost).";
  }
  if (!("serial" in navigator)) {
    return (
      "This browser has no Web Serial. Chrome and Edge on a computer have it from version 89 on, " +
      "and Opera; all other parts of this page work here, too."
    );
  }
  return "";
}

/** A board at a serial port. */
export class BoardLink {
  talking = false;
  memory = new SharedArrayBuffer(16);
  name = "";

  /**
   * @param {number} _baud
   * @param {() => void} _onLost
   * @returns {Promise<BoardLink>}
   */
  static async choose(_baud, _onLost) {
    throw new Error("not there yet");
  }

  interrupt() {}

  /** @param {string} _keys */
  async send(_keys) {}

  /** @param {(bytes: Uint8Array) => void} _onBytes */
  async talk(_onBytes) {}

  async hush() {}

  async close() {}
}
