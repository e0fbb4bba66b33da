/** Joins the page: store, line, sessions and frames; and what any part of it may ask for. */

import { createApi } from '../js/api.js';
import { Feed } from '../js/feed.js';
import { createStore } from '../js/store.js';
import { Live } from './live.js';
import { keepInPlace, placeOf, restored } from './places.js';
import { FIRST, filledRecord } from './state.js';
import { Wells } from './wells.js';

/** @typedef {ReturnType<typeof createApp>} App */
/** @typedef {import('./state.js').Route} Route */

const KEY = 'bascule.key';

/** The secret this browser holds. It came in the link's fragment, and stays out of the address bar. */
export const secret = {
  get: () => localStorage.getItem(KEY),
  /** @param {string} value */
  set: (value) => localStorage.setItem(KEY, value),
};

/** @param {HTMLElement} wellPlace */
export function createApp(wellPlace) {
  const store = createStore({ ...FIRST, ...restored() });
  const feed = new Feed({
    key: secret.get,
    onLine: (line) => {
      const before = store.get().line;
      if (line.phase === 'live' && before.lostAt) back(before.lostAt);
      store.set({ line });
    },
    onPush: (message) => pushed(message),
    onLive: () => refresh(),
  });
  const api = createApi(feed);
  const wells = new Wells(wellPlace, {
    more: (id, before) => void live.older(id, before).catch(() => undefined), // asked again on the next scroll
    link: (href) => openLink(href),
    copy: (text) => copy(text),
    changes: () => store.set({ panel: true }),
    key: (key) => dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: true, metaKey: true, bubbles: true })),
    found: (result) => dispatchEvent(new CustomEvent('bascule:found', { detail: result })),
  }, () => store.get().theme);
  const live = new Live(store, api, wells);
  wells.onForgotten = (id) => live.close(id);

  async function refresh() {
    const me = await feed.call('hello');
    const changed = store.get().me && store.get().me?.version !== me.version;
    store.set({ me });
    if (changed) note('Bascule was updated.', { action: { label: 'Reload', run: () => location.reload() }, stay: true });
    if (me?.role === 'session' && me.sessionId) {
      store.set({ loaded: true });
      go({ name: 'session', id: me.sessionId });
    } else {
      const [sessions, requests, devices] = await Promise.all([api.sessions(), api.requests(), api.devices()]);
      store.set({ sessions: Object.fromEntries(sessions.map((/** @type {any} */ one) => [one.session_id, filledRecord(one)])), devices, loaded: true });
      live.setAsks(requests);
      store.set((state) => ({ tabs: state.tabs.filter((id) => state.sessions[id]) }));
      void api.agents().then((agents) => store.set({ agents })).catch(() => undefined); // the device is away: its agents are unknown
    }
    await live.followAgain();
    const { route } = store.get();
    if (route.name === 'session' && route.id) live.ensure(route.id);
    void sendHeld();
    setTimeout(() => wells.warm(), 500);
  }

  /** @param {number} since */
  function back(since) {
    if (Date.now() - since < 1500) return;
    setTimeout(() => {
      store.set({ back: { at: Date.now(), events: live.caught } });
      setTimeout(() => store.set({ back: null }), 4000);
    }, 300);
  }

  let askingAgain = false;
  function requestsChanged() {
    if (askingAgain) return;
    askingAgain = true;
    setTimeout(() => {
      askingAgain = false;
      api.requests().then((requests) => live.setAsks(requests)).catch(() => undefined); // the next connect asks again
    }, 60);
  }

  /** @param {any} message */
  function pushed(message) {
    switch (message.type) {
      case 'session:events': live.take(message.sessionId, message.entries); break;
      case 'session:created':
      case 'session:changed': store.set((state) => ({ sessions: { ...state.sessions, [message.sessionId]: filledRecord(message.session) } })); break;
      case 'requests:changed': requestsChanged(); break;
      case 'agent:status': store.set({ devices: message.devices }); break;
      default: break;
    }
  }

  /** @param {Route} route @param {{quiet?: boolean}} [options] */
  function go(route, options = {}) {
    const { tabs } = store.get();
    const patch = /** @type {Partial<import('./state.js').State>} */ ({ route, confirm: null });
    if (route.name === 'session' && route.id && !tabs.includes(route.id)) patch.tabs = [...tabs, route.id];
    store.set(patch);
    if (!options.quiet && placeOf(route) !== location.pathname) history.pushState(null, '', placeOf(route));
    if (route.name === 'session' && route.id) {
      wells.ensure(route.id);
      live.ensure(route.id);
    }
    store.flush();
  }

  let noteNumber = 0;
  /** @param {string} text @param {{tone?: string, action?: {label: string, run: () => void}, stay?: boolean}} [more] */
  function note(text, more = {}) {
    const id = ++noteNumber;
    store.set((state) => ({ notes: [...state.notes.slice(-2), { id, text, tone: more.tone, action: more.action }] }));
    if (!more.stay) setTimeout(() => dropNote(id), 6000);
  }
  /** @param {number} id */
  const dropNote = (id) => store.set((state) => ({ notes: state.notes.filter((one) => one.id !== id) }));

  /** @param {unknown} error */
  const trouble = (error) => note(/** @type {Error} */ (error).message || 'It did not work.', { tone: 'bad' });

  /** @param {string} text */
  function copy(text) {
    navigator.clipboard.writeText(text).then(() => note('Copied.'), () => note('The browser did not let us copy.', { tone: 'bad' }));
  }

  /** Agents write links; a person sees where one really goes before it opens. @param {string} href */
  function openLink(href) {
    let url;
    try {
      url = new URL(href);
    } catch {
      return;
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return;
    const target = url.href;
    note(`Open ${target.length > 200 ? `${target.slice(0, 200)}…` : target}`, { action: { label: 'Open', run: () => void window.open(target, '_blank', 'noopener,noreferrer') } });
  }

  let sending = false;
  /** Messages go out in their order, each exactly once, also those written while the line was lost. */
  async function sendHeld() {
    if (sending) return;
    sending = true;
    try {
      for (let held = store.get().held[0]; held; held = store.get().held[0]) {
        const { key, sessionId, text, images } = held;
        await api.send(sessionId, { text, images, clientMessageId: key, key }).catch((error) => {
          if (error.code === 'OFFLINE') throw error;
          trouble(error);
        });
        store.set((state) => ({ held: state.held.filter((one) => one.key !== key) }));
      }
    } catch {
      // Not connected: they wait for the next time.
    } finally {
      sending = false;
    }
  }

  store.subscribe(keepInPlace);
  addEventListener('popstate', () => go(routeOfHere(), { quiet: true }));
  const routeOfHere = () => restored().route ?? { name: /** @type {const} */ ('start') };

  return { store, feed, api, live, wells, go, note, dropNote, trouble, copy, sendHeld };
}
