// The service worker service.js: it stores the page, which then needs no network, and isolates it from
// others, without which browsers give it no shared memory. The isolation that a server's headers do
// not make begins with the second load.

import { stored } from "./kept.js";

const SERVICE = "service.js";
const TRIED = "tdl-try-isolated";

/**
 * Starts the service worker when the page's files are loaded. Returns whether they are stored; a
 * browser that refuses that has the page as long as there is a network.
 */
export async function storePage() {
  try {
    const registration = await navigator.serviceWorker.register(SERVICE);
    await registration.update().catch(() => undefined); // no network
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const { port1, port2 } = new MessageChannel();
    const reply = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    worker?.postMessage("store", [port2]);
    return (await reply) === true;
  } catch {
    return false;
  }
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
    await navigator.serviceWorker.register(SERVICE);
    await navigator.serviceWorker.ready;
    sessionStorage.setItem(TRIED, "yes");
  } catch {
    return false;
  }
  await stored();
  location.reload();
  return new Promise(() => undefined);
}
