// A task that is not there yet.

export class RealBoardView {
  /**
   * @param {HTMLElement} host
   * @param {unknown} _toolchain
   */
  constructor(host, _toolchain) {
    host.append("This part of the page is not there yet.");
  }
}
