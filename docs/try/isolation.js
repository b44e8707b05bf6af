// A service worker that adds the headers by which a page is isolated from others, so that it may have shared memory: any server of
// static files will do then. The page registers it; it touches nothing but what its own folder serves.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function isolated(request) {
  const response = await fetch(request);
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
