/**
 * Keeps a copy of the page's own files for when the server is away. Nothing else: no answer of the API, no request
 * that carries a key, no address with a question in it. What the server says always comes first.
 */

const NAME = 'bascule-shell';
const PAGES = /^\/(?:inbox|search|library(?:\/[^/]+)?|sessions(?:\/[^/]+)?|settings(?:\/[^/]+)?)?$/;
const FILES = /^\/(?:portlet|manifest\.webmanifest|assets\/[a-z]+\/[A-Za-z0-9_.-]+)$/;
const OF_VERSION = /^\/assets\/[0-9a-f]{16}\/(?:[a-z]+\/){1,2}[A-Za-z0-9_.-]+$/;

/** The last page came from here, not from the server. */
let away = false;

self.addEventListener('install', () => self.skipWaiting());

self.addEventListener('activate', (event) =>
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
      await self.clients.claim();
    })(),
  ),
);

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const kept = nameFor(request, url);
  if (!kept) return;
  if (!OF_VERSION.test(kept)) event.respondWith(fresh(event, kept));
  // Otherwise the browser's own cache has them, which is faster than we could be.
  else if (away) event.respondWith(match(kept).then((known) => known ?? fetch(request)));
});

/** A page that is loaded says which files it took. */
self.addEventListener('message', (event) => event.waitUntil(keep(event.data)));

/** Under which name a file is kept; null for everything that is not ours to keep. */
function nameFor(request, url) {
  if (
    request.method !== 'GET' ||
    url.origin !== self.location.origin ||
    url.search ||
    request.headers.has('authorization')
  )
    return null;
  if (FILES.test(url.pathname) || OF_VERSION.test(url.pathname)) return url.pathname;
  // Every screen is the same document; it holds no word of anybody's.
  return request.mode === 'navigate' && PAGES.test(url.pathname) ? '/' : null;
}

const match = async (kept) => (await caches.open(NAME)).match(kept);

async function fresh(event, kept) {
  try {
    const answer = await fetch(event.request);
    if (kept === '/') away = false;
    if (answer.ok && answer.type === 'basic') event.waitUntil(put(kept, answer.clone()));
    return answer;
  } catch (error) {
    const known = await match(kept);
    if (!known) throw error;
    if (kept === '/') away = true;
    return known;
  }
}

async function put(kept, answer) {
  await (await caches.open(NAME)).put(kept, answer);
}

/**
 * The page and these; what else is kept is of a version that is not asked for again.
 * @param {string[]} files
 */
async function keep(files) {
  const cache = await caches.open(NAME);
  const wanted = new Set(['/', ...files.filter((path) => OF_VERSION.test(path))]);
  for (const request of await cache.keys()) {
    const { pathname } = new URL(request.url);
    if (OF_VERSION.test(pathname) && !wanted.has(pathname)) await cache.delete(request);
    wanted.delete(pathname);
  }
  await cache.addAll([...wanted]);
}
