// Isolation of the page from others, without which browsers give it no shared memory. A server that
// sends no headers for it is helped by the service worker isolation.js, from the second load on.

import { stored } from "./kept.js";

const TRIED = "tdl-try-isolated";

/** Registers the service worker; it takes effect when the page is loaded again. */
export function prepareIsolation() {
  if (window.crossOriginIsolated || !("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register("isolation.js").catch(() => undefined);
}

/**
 * Returns true if the page may share memory. Otherwise it is loaded again, once a visit, and false
 * means that this did not help.
 */
export async function isolate() {
  if (window.crossOriginIsolated) return true;
  if (!("serviceWorker" in navigator)) return false;
  try {
    if (sessionStorage.getItem(TRIED)) return false;
    await navigator.serviceWorker.register("isolation.js");
    await navigator.serviceWorker.ready;
    sessionStorage.setItem(TRIED, "yes");
  } catch {
    return false;
  }
  await stored();
  location.reload();
  return new Promise(() => undefined);
}
