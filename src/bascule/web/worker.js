/**
 * Keeps a copy of the page's own files for when the server is away. Nothing else: no answer of the API, no request
 * that carries a key, no address with a question in it. What the server says always comes first.
 */

const NAME = 'bascule-shell';
const PAGES = /^\/(?:inbox|search|sessions(?:\/[^/]+)?|settings(?:\/[^/]+)?)?$/;
const FILES = /^\/(?:portlet|manifest\.webmanifest|assets\/[a-z]+\/[A-Za-z0-9_.-]+)$/;

self.addEventListener('install', () => self.skipWaiting());

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
  await self.clients.claim();
})()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const kept = nameFor(request, url);
  if (kept) event.respondWith(fresh(request, kept));
});

/** Under which name a file is kept; null for everything that is not ours to keep. */
function nameFor(request, url) {
  if (request.method !== 'GET' || url.origin !== self.location.origin || url.search || request.headers.has('authorization')) return null;
  if (FILES.test(url.pathname)) return url.pathname;
  // Every screen is the same document; it holds no word of anybody's.
  return request.mode === 'navigate' && PAGES.test(url.pathname) ? '/' : null;
}

async function fresh(request, kept) {
  try {
    const answer = await fetch(request);
    if (answer.ok && answer.type === 'basic') {
      const cache = await caches.open(NAME);
      await cache.put(kept, answer.clone());
    }
    return answer;
  } catch (error) {
    const known = await (await caches.open(NAME)).match(kept);
    if (known) return known;
    throw error;
  }
}
