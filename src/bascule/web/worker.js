/**
 * Keeps a copy of the page's own files for when the server is away. Nothing else: no answer of the API, no request
 * that carries a key, no address with a question in it. What the server says always comes first.
 */

const NAME = 'bascule-shell';
const PAGES = /^\/(?:inbox|search|sessions(?:\/[^/]+)?|settings(?:\/[^/]+)?)?$/;
const FILES = /^\/(?:portlet|manifest\.webmanifest|assets\/[a-z]+\/[A-Za-z0-9_.-]+)$/;
const OF_VERSION = /^\/assets\/([0-9a-f]{16})\/[a-z]+\/[A-Za-z0-9_.-]+$/;

/** The last page came from here, not from the server. */
let away = false;
/** What is kept, read once. @type {Promise<Set<string>> | null} */
let names = null;

self.addEventListener('install', () => self.skipWaiting());

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
  await self.clients.claim();
})()));

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const kept = nameFor(request, url);
  if (!kept) return;
  if (!OF_VERSION.test(kept)) event.respondWith(fresh(event, kept));
  else if (away) event.respondWith(match(kept).then((known) => known ?? fetch(request)));
  // The browser holds these for good and gives them faster than we could; ours is a copy beside it.
  else event.waitUntil(keepOnce(kept));
});

/** Under which name a file is kept; null for everything that is not ours to keep. */
function nameFor(request, url) {
  if (request.method !== 'GET' || url.origin !== self.location.origin || url.search || request.headers.has('authorization')) return null;
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
  const cache = await caches.open(NAME);
  await cache.put(kept, answer.clone());
  if (kept === '/') await forgetOthers(cache, await answer.text());
}

/** A page says of which version its files are; those of another are not asked for again. */
async function forgetOthers(cache, page) {
  const version = /="\/assets\/([0-9a-f]{16})\//.exec(page)?.[1];
  for (const request of await cache.keys()) {
    const found = OF_VERSION.exec(new URL(request.url).pathname);
    if (found && found[1] !== version) await cache.delete(request);
  }
}

async function keepOnce(kept) {
  const cache = await caches.open(NAME);
  names ??= cache.keys().then((all) => new Set(all.map((one) => new URL(one.url).pathname)));
  const known = await names;
  if (known.has(kept)) return;
  known.add(kept);
  await cache.add(kept);
}
