/** What the page does when it is connected, connected again, or not let in any more. */

import { backoff } from '../js/reconnecting_socket.js';
import { put } from '../js/tables.js';
import { setDevices } from './pushes.js';
import { loadAnswers } from './requests/waiting.js';
import { ownNames } from './sessions.js';
import { FIRST } from './state.js';

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */
/**
 * @typedef {object} Context
 * @property {Store} store
 * @property {import('../js/feed.js').Feed} feed
 * @property {import('../js/api.js').Api} api
 * @property {import('./live.js').Live} live
 * @property {import('./session_list.js').SessionList} list
 * @property {import('./pushes.js').Pushes} pushes
 * @property {import('./frames/frames.js').Frames} frames
 * @property {(route: import('./state.js').Route) => void} go
 * @property {() => Promise<void>} sendHeld
 * @property {(text: string, more?: {tone?: string}) => void} note
 */

/** @param {Context} context */
export function createConnecting(context) {
  const { store, feed, api, live, frames, go, sendHeld } = context;
  let restarted = false; // and it was not shown yet: a line may break again before it is live
  async function refresh() {
    const me = await feed.call('hello', {});
    const before = store.get().me;
    restarted ||= Boolean(before && before.boot !== me.boot);
    if (before && before.epoch !== me.epoch) {
      store.set({ replaced: true });
      live.forgetAll();
    }
    frames.tellAll({ type: 'me', names: ownNames({ me }) });
    store.set({ me, updated: before && before.version !== me.version ? me.version : store.get().updated });
    if (me?.sessionId) {
      store.set({ loaded: true });
      go({ name: 'session', id: me.sessionId });
    } else await loadAll(context);
    if (feed.line.attempt > 0) frames.revive();
    // First the requests: the events that follow say what became of those that are open no more.
    if (me?.sessionId && live.seqs.has(me.sessionId)) await live.requests.read(me.sessionId);
    await live.followAgain();
    const { route } = store.get();
    if (route.name === 'session' && route.id) live.ensure(route.id);
    void sendHeld();
    setTimeout(() => frames.warm(), 500);
  }

  /** @param {number} since */
  function back(since) {
    if (Date.now() - since < 1500 && !restarted) return;
    setTimeout(() => {
      const returned = { at: Date.now(), events: live.caught, restarted };
      store.set({ back: returned });
      setTimeout(
        () => store.set((state) => ({ back: state.back === returned ? null : state.back })),
        restarted ? 8000 : 4000,
      );
      restarted = false;
    }, 300);
  }

  /** Somebody does not want to wait for the next try. */
  function lookAgain() {
    if (store.get().line.phase === 'lost') feed.retry();
    else
      api
        .devices()
        .then((devices) => setDevices(store, devices))
        .catch(() => undefined); // the line's own banner says it
  }

  /** @param {import('../js/feed.js').Line} line */
  function lineChanged(line) {
    const before = store.get().line;
    if (line.phase === 'live' && before.lostAt) back(before.lostAt);
    if (line.phase === 'refused') forgetEverything(context);
    store.set({ line });
  }

  return { refresh, lineChanged, lookAgain };
}

/**
 * Everything the lists show: sessions, requests, devices, projects and agents.
 * @param {Context} context
 */
async function loadAll({ store, api, live, list, pushes, note }) {
  const replay = pushes.replayAfter();
  const [listed, requests, devices, projects] = await Promise.all([
    list.load(),
    live.requests.list(),
    api.devices(),
    api.projects(),
    loadAnswers(store, api, note),
  ]);
  setDevices(store, devices);
  store.set({
    ...listed,
    projects,
    loaded: true,
  });
  replay();
  live.requests.set(requests);
  await live.recognise();
  store.set((state) => ({ tabs: state.tabs.filter((id) => state.sessions[id]) }));
  for (const { device, online } of store.get().devices) if (online) void loadAgents(store, api, device);
  void loadPairings(store, api);
}

const AGENTS_AGAIN = { first: 1000, longest: 30_000 };

/**
 * @param {Store} store
 * @param {import('../js/api.js').Api} api
 * @param {string} device
 * @param {boolean} [refresh] whether the machine looks for them again
 * @param {number} [attempt]
 */
export async function loadAgents(store, api, device, refresh = false, attempt = 1) {
  try {
    const agents = await api.agents(device, refresh);
    store.set((state) => ({ agentsOf: put(state.agentsOf, device, agents) }));
  } catch (error) {
    if (refresh) throw error;
    // What is known of its agents stays. One that went away says them when it is back; one that is busy is asked again.
    const { line, devices } = store.get();
    const isThere = devices.some((known) => known.device === device && known.online);
    if (line.phase === 'live' && isThere)
      setTimeout(() => void loadAgents(store, api, device, false, attempt + 1), backoff(attempt + 1, AGENTS_AGAIN));
  }
}

/**
 * Machines that ask to join; only an owner hears of them.
 * @param {Store} store
 * @param {import('../js/api.js').Api} api
 */
export async function loadPairings(store, api) {
  if (store.get().me?.role !== 'owner') return;
  const pairings = await api.pairings().catch(() => null); // the line is down: asked again with the next connect
  const now = Date.now();
  if (pairings)
    store.set({ pairings: pairings.map((pairing) => ({ ...pairing, ends: now + pairing.expiresIn * 1000 })) });
}

/**
 * This browser is not let in any more: nothing of what it saw stays on the page.
 * @param {Context} context
 */
function forgetEverything({ store, live, frames }) {
  for (const id of [...frames.frames.keys()]) frames.forget(id);
  live.seqs.clear();
  live.requests.forget();
  // What this person chose for the page stays; what the server sent goes.
  const { line, route, tabs, side, collapsed, panel, theme, seen, held, notes, tick, restoredSeen } = store.get();
  store.set({ ...FIRST, line, route, tabs, side, collapsed, panel, theme, seen, held, notes, tick, restoredSeen });
}
