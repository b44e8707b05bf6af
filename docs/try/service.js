// The page's service worker. It adds the headers by which a page is isolated from others, so that it may have shared memory: any
// server of static files will do then. It stores the page's files, and answers with them where there is no network. It touches
// nothing but what its own folder serves.

/** The SHA-256 digest of each file of the page; build.js writes them. */
const FILES = {};
const PREFIX = `tdl-try ${self.registration.scope} `;

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function digestOf(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Fetches a file from what the browser has loaded for the page, or from the server if that is of another build. */
async function fetchFile(file, digest) {
  for (const cache of ["force-cache", "reload"]) {
    const response = await fetch(file, { cache });
    if ((await digestOf(await response.clone().arrayBuffer())) === digest) return response;
  }
  throw new Error(`${file} is of another build`);
}

/** Stores the page's files, and removes those of other builds. */
async function store() {
  const name = PREFIX + (await digestOf(new TextEncoder().encode(JSON.stringify(FILES))));
  const cache = await caches.open(name);
  for (const [file, digest] of Object.entries(FILES)) {
    if (!(await cache.match(file))) await cache.put(file, await fetchFile(file, digest));
  }
  for (const other of await caches.keys()) {
    if (other.startsWith(PREFIX) && other !== name) await caches.delete(other);
  }
}

// The page asks for this once it is loaded: its files are in the browser's cache then, and the worker of an earlier build can be
// replaced. Firefox breaks off what a worker is answering when it is replaced.
self.addEventListener("message", (event) => {
  const [port] = event.ports;
  const stored = store().then(() => port.postMessage(true), (error) => port.postMessage(String(error)));
  event.waitUntil(stored.then(() => self.skipWaiting()));
});

/** The response of the server, or what is stored where there is none. */
async function answer(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const file = request.mode === "navigate" ? "index.html" : request;
    const stored = await caches.match(file, { ignoreSearch: true, ignoreVary: true });
    if (stored) return stored;
    throw error;
  }
}

async function isolated(request) {
  const response = await answer(request);
  if (response.type === "opaque" || response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  // A request that only the cache may answer can't be made anew from here.
  if (request.cache === "only-if-cached" && request.mode !== "same-origin") return;
  if (new URL(request.url).origin === self.location.origin) event.respondWith(isolated(request));
});
