/** Joins the page: store, line, sessions and frames; and what any part of it may ask for. */

import { createApi } from '../js/api.js';
import { createEvents } from '../js/events.js';
import { Feed } from '../js/feed.js';
import { createStore } from '../js/store.js';
import { leave } from './settings/logout.js';
import { Live } from './live.js';
import { placeOf } from './routes.js';
import { keepInPlace, restored, secret } from './storage.js';
import { mayBranch, offerBranch, tellWhenKnown } from './session/branching.js';
import { FIRST, filledRecord, groupOf } from './state.js';
import { closeTab } from './session/tabs.js';
import { Frames } from './frames/frames.js';
import { put, tableOf } from '../js/tables.js';

/** @typedef {ReturnType<typeof createApp>} App */
/** @typedef {import('./state.js').Route} Route */
/** @typedef {{icon: string, label: string, keys?: string, when?: () => boolean, run: () => void}} Command */

/** @param {HTMLElement} framePlace */
export function createApp(framePlace) {
  const store = createStore({ ...FIRST, ...restored() });
  const events = createEvents();
  const feed = new Feed({
    key: secret.get,
    onLine: (line) => {
      const before = store.get().line;
      if (line.phase === 'live' && before.lostAt) back(before.lostAt);
      if (line.phase === 'refused') shut();
      store.set({ line });
    },
    onPush: (message) => events.emit(message.type, message),
    onLive: () => refresh(),
  });
  const api = createApi(feed);
  const frames = new Frames(
    framePlace,
    {
      more: (id, place, number) => void live.more(id, place, number),
      search: (id, text) => void live.search(id, text),
      branch: (id) => offerBranch(app, id),
      link: (href) => openLink(href),
      copy: (text) => copy(text),
      changes: (_, seq) => store.set({ panel: true, panelTab: 'changes', panelTurn: seq }),
      key: (key) => events.emit('shortcut', key),
      found: (result) => events.emit('findResult', result),
    },
    () => store.get().theme,
    (id) => mayBranch(store.get(), id),
  );
  const live = new Live(store, api, frames);
  frames.onForgotten = (id) => live.close(id);

  // What the server says unasked ------------------------------------------------------------------------

  /** @type {Record<string, (message: any) => void>} */
  const pushes = {
    'session:events': (message) => live.take(message.sessionId, message.entries),
    // Nobody can go on from where this page is in that log: it is another one, or shorter than it was.
    resync: (message) => {
      if (message.reason !== 'slow') {
        store.set({ replaced: true });
        live.startOver(message.sessionId);
      }
    },
    'session:created': (message) => sessionTold(message.session),
    'session:changed': (message) => sessionTold(message.session),
    'session:presence': ({ sessionId, viewers, typing }) =>
      store.set((state) => ({ company: put(state.company, sessionId, { viewers, typing }) })),
    'requests:changed': ({ request }) => live.takeRequest(request),
    'agent:status': (message) => devicesTold(message.devices),
    'project:added': ({ project }) =>
      store.set((state) => ({ projects: [...state.projects.filter((one) => one.id !== project.id), project] })),
    'project:changed': ({ project }) =>
      store.set((state) => ({ projects: state.projects.map((one) => (one.id === project.id ? project : one)) })),
    'project:removed': (message) => projectRemoved(message.projectId),
  };
  for (const [type, take] of Object.entries(pushes)) events.on(type, take);

  /** @param {any} session */
  function sessionTold(session) {
    const id = session.session_id;
    const before = store.get().sessions[id];
    store.set((state) => ({ sessions: put(state.sessions, id, filledRecord(session)) }));
    if (before && !before.archived && session.archived) closeTab(app, id);
  }

  /** @param {import('./state.js').Device[]} devices */
  function devicesTold(devices) {
    store.set(({ away }) => ({
      devices,
      away: tableOf(
        devices
          .filter((one) => !one.online)
          .map((one) => /** @type {const} */ ([one.device, away[one.device] ?? Date.now()])),
      ),
    }));
  }

  /**
   * Its tabs close; its sessions stay where they are.
   * @param {string} id
   */
  function projectRemoved(id) {
    const state = store.get();
    const gone = state.tabs.filter((tab) => state.sessions[tab] && groupOf(state, state.sessions[tab])?.id === id);
    store.set({ projects: state.projects.filter((one) => one.id !== id) });
    for (const tab of gone) closeTab(app, tab);
  }

  // Coming, and coming back -----------------------------------------------------------------------------

  let restarted = false; // and nobody was told yet: a line may break again before it is live
  async function refresh() {
    const me = await feed.call('hello');
    const before = store.get().me;
    restarted ||= Boolean(before && before.boot !== me.boot);
    if (before && before.epoch !== me.epoch) {
      store.set({ replaced: true });
      live.forgetAll();
    }
    store.set({ me, updated: before && before.version !== me.version ? me.version : store.get().updated });
    if (me?.sessionId) {
      store.set({ loaded: true });
      go({ name: 'session', id: me.sessionId });
    } else {
      const [sessions, requests, devices, projects] = await Promise.all([
        api.sessions(),
        live.listRequests(),
        api.devices(),
        api.projects(),
      ]);
      devicesTold(devices);
      store.set({
        sessions: tableOf(sessions.map((/** @type {any} */ one) => [one.session_id, filledRecord(one)])),
        projects,
        loaded: true,
      });
      live.setRequests(requests);
      await live.recognise();
      store.set((state) => ({ tabs: state.tabs.filter((id) => state.sessions[id]) }));
      void api
        .agents()
        .then((agents) => store.set({ agents }))
        .catch(() => undefined); // the device is away: its agents are unknown
    }
    if (feed.line.attempt > 0) frames.revive();
    await live.followAgain();
    if (me?.sessionId && live.seqs.has(me.sessionId)) await live.readRequests(me.sessionId);
    const { route } = store.get();
    if (route.name === 'session' && route.id) live.ensure(route.id);
    void sendHeld();
    setTimeout(() => frames.warm(), 500);
  }

  /** @param {number} since */
  function back(since) {
    if (Date.now() - since < 1500 && !restarted) return;
    setTimeout(() => {
      const told = { at: Date.now(), events: live.caught, restarted };
      store.set({ back: told });
      setTimeout(
        () => store.set((state) => ({ back: state.back === told ? null : state.back })),
        restarted ? 8000 : 4000,
      );
      restarted = false;
    }, 300);
  }

  /** This browser is not let in any more: nothing of what it saw stays on the page. */
  function shut() {
    for (const id of [...frames.frames.keys()]) frames.forget(id);
    live.seqs.clear();
    // What this person chose for the page stays; what the server told it goes.
    const { line, route, tabs, side, collapsed, panel, theme, seen, held, notes, tick } = store.get();
    store.set({ ...FIRST, line, route, tabs, side, collapsed, panel, theme, seen, held, notes, tick });
  }

  /** Somebody does not want to wait for the next try. */
  function lookAgain() {
    if (store.get().line.phase === 'lost') feed.retry();
    else
      api
        .devices()
        .then(devicesTold)
        .catch(() => undefined); // the line's own banner says it
  }

  // Where the page is -----------------------------------------------------------------------------------

  /**
   * @param {Route} route
   * @param {{quiet?: boolean, replace?: boolean}} [options]
   */
  function go(route, options = {}) {
    const { tabs } = store.get();
    const patch = /** @type {Partial<import('./state.js').State>} */ ({ route, confirm: null });
    if (route.name === 'session' && route.id && !tabs.includes(route.id)) patch.tabs = [...tabs, route.id];
    store.set(patch);
    if (options.replace) history.replaceState({ q: route.q }, '', placeOf(route));
    else if (!options.quiet && placeOf(route) !== location.pathname)
      history.pushState({ q: route.q }, '', placeOf(route));
    if (route.name === 'session' && route.id) {
      if (store.get().sessions[route.id]?.driver !== 'terminal') frames.ensure(route.id);
      live.ensure(route.id);
    }
    store.flush();
  }

  /**
   * A session, at one message of it.
   * @param {string} id
   * @param {number} seq the message's first number
   */
  function goTo(id, seq) {
    go({ name: 'session', id });
    if (seq > 0) void live.goTo(id, seq);
  }

  // Saying something ------------------------------------------------------------------------------------

  let noteNumber = 0;
  /**
   * @param {string} text
   * @param {{tone?: string, action?: {label: string, run: () => void}, stay?: boolean}} [more]
   */
  function note(text, more = {}) {
    const id = ++noteNumber;
    store.set((state) => ({ notes: [...state.notes.slice(-2), { id, text, tone: more.tone, action: more.action }] }));
    // A button needs longer than a word: it has to be read, reached and pressed.
    if (!more.stay) setTimeout(() => dropNote(id), more.action ? 30_000 : 6000);
  }
  /** @param {number} id */
  const dropNote = (id) => store.set((state) => ({ notes: state.notes.filter((one) => one.id !== id) }));

  /** @param {unknown} error */
  const trouble = (error) => note(/** @type {Error} */ (error).message || 'It did not work.', { tone: 'bad' });

  /** @param {string} text */
  function copy(text) {
    navigator.clipboard.writeText(text).then(
      () => note('Copied.'),
      () => note('The browser did not let us copy.', { tone: 'bad' }),
    );
  }

  /**
   * Agents write links; a person sees where one really goes before it opens.
   * @param {string} href
   */
  function openLink(href) {
    let url;
    try {
      url = new URL(href);
    } catch {
      return;
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return;
    const target = url.href;
    note(`Open ${target.length > 200 ? `${target.slice(0, 200)}…` : target}`, {
      action: { label: 'Open', run: () => void window.open(target, '_blank', 'noopener,noreferrer') },
    });
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

  // Commands that parts of the page offer in the palette -------------------------------------------------

  /** @type {Command[]} */
  const commands = [];
  /** @param {Command} command */
  const offer = (command) => void commands.push(command);

  store.subscribe(keepInPlace);
  addEventListener('popstate', () => go(routeOfHere(), { quiet: true }));
  const routeOfHere = () => restored().route ?? { name: /** @type {const} */ ('start') };

  tellWhenKnown(store, frames);
  const app = {
    store,
    events,
    feed,
    api,
    live,
    frames,
    go,
    goTo,
    offer,
    commands,
    lookAgain,
    note,
    dropNote,
    trouble,
    copy,
    openLink,
    sendHeld,
    leave,
  };
  return app;
}
