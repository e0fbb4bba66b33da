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

// Notifications. One message for all browsers: those that know the declarative form show it without us.

const DENY = '/api/notifications/deny';

self.addEventListener('push', (event) => {
  const notification = noticeIn(event.data);
  if (notification) event.waitUntil(show(notification));
});

/** The message, if it is one of ours. */
function noticeIn(data) {
  try {
    const message = data?.json();
    return message?.web_push === 8030 && typeof message.notification?.title === 'string' ? message.notification : null;
  } catch {
    return null;
  }
}

/** What has been answered takes the place of what asked; where the page is in view, nothing needs to be said. */
async function show({ title, body, tag, actions, data, silent }) {
  const settled = Boolean(data?.settled);
  if (settled && (await inView())) return close(tag);
  await self.registration.showNotification(title, {
    body,
    tag,
    data,
    silent: Boolean(silent),
    renotify: !settled && Boolean(tag),
    requireInteraction: !settled && Boolean(data?.deny),
    icon: '/assets/icons/icon-192.png',
    actions: (actions ?? []).map(({ action, title: label }) => ({ action, title: label })),
  });
}

async function inView() {
  const pages = await self.clients.matchAll({ type: 'window' });
  return pages.some((one) => one.visibilityState === 'visible');
}

async function close(tag) {
  for (const one of await self.registration.getNotifications({ tag })) one.close();
}

self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event;
  notification.close();
  const { deny: token, path } = notification.data ?? {};
  event.waitUntil(action === 'deny' && token ? deny(token, notification) : open(path));
});

/** A no, by the token for exactly this request; what came of it is said in its place. */
async function deny(token, { tag, title, data }) {
  let said = { title: 'Denied', body: title };
  try {
    const answer = await fetch(DENY, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
      credentials: 'omit',
      cache: 'no-store',
    });
    if (!answer.ok) said = { title: 'Not denied', body: (await answer.json()).error?.message ?? title };
  } catch {
    said = { title: 'Not denied', body: 'The server can’t be reached. Open the session and answer there.' };
  }
  const { title: outcome, body } = said;
  await self.registration.showNotification(outcome, { body, tag, data: { path: data?.path }, silent: true });
}

/** The session, in a page that is open already, or in a new one. */
async function open(path) {
  const target = new URL(typeof path === 'string' ? path : '/', self.location.origin);
  if (target.origin !== self.location.origin) return;
  const [page] = await self.clients.matchAll({ type: 'window' });
  if (!page) return self.clients.openWindow(target.href);
  page.postMessage({ type: 'open', path: target.pathname });
  // Some desktops let no program bring its window to the front; the page is there all the same.
  await page.focus().catch(() => undefined);
}
