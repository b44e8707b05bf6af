// Whether this browser has serial ports, and the page's side of one.

/** Returns what this browser lacks for boards, in words, or an empty text. */
export function obstacle() {
  if (!window.isSecureContext) {
    return "Browsers give serial ports only to pages from https: or this computer (localhost).";
  }
  if (!("serial" in navigator)) {
    return (
      "This browser has no Web Serial. Chrome, Edge and others made from Chromium have it on a " +
      "computer, and Firefox of late; all other parts of this page work here, too."
    );
  }
  return "";
}

export { BoardLink } from "../serial.js";
