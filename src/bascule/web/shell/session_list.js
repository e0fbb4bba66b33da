/** The list of sessions as this page holds it: a first page, those that run, more on demand; and the true counts. */

import { put, table, tableOf } from '../js/tables.js';
import { onDevice, placeKey } from './machines.js';
import { groupOf, homeOf } from './sessions.js';
import { filledRecord } from './state.js';

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */
/** @typedef {import('../js/api.js').Api} Api */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./sessions.js').Group} Group */

const COUNT_PAUSE = 250;
const MAX_PAGES = 5; // of an outer project whose newest sessions all belong to one inside it

/**
 * @param {Store} store
 * @param {Api} api
 */
export function createSessionList(store, api) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let counting;

  /** The first page, and those that run whatever their age. */
  async function load() {
    const [first, live] = await Promise.all([api.sessions(), api.sessions({ live: true, limit: 200 })]);
    const more = first.next ?? null;
    const counts = more === null ? null : await api.counts();
    const sessions = byId([...first.sessions, ...live.sessions]);
    const pinned = more === null ? [] : await pinnedBeside(sessions);
    return { sessions: Object.assign(sessions, byId(pinned)), more, counts, moreOf: table() };
  }

  /**
   * Those a person pinned that are older than the first page.
   * @param {Record<string, unknown>} held
   */
  async function pinnedBeside(held) {
    const missing = store.get().pins.filter((id) => !(id in held));
    const shown = await Promise.all(missing.map((id) => api.show(id).catch(() => null))); // null: it is gone
    return shown.flatMap((one) => (one ? [one.session] : []));
  }

  /** Sessions came or went: the numbers are the server's while this page does not hold them all. */
  function countAgain() {
    if (store.get().more === null) return;
    clearTimeout(counting);
    counting = setTimeout(() => {
      api.counts().then(
        (counts) => store.set({ counts }),
        () => undefined, // the line is down: they are asked for again with the first page
      );
    }, COUNT_PAUSE);
  }

  /**
   * The next sessions of one group, after those that the first page had.
   * @param {Group} group
   */
  async function loadMore(group) {
    const where = group.project
      ? { projectId: group.project.id }
      : { folder: group.path, ...onDevice(store.get(), group.device) };
    const before = heldIn(store.get(), group);
    for (let n = 0; n < MAX_PAGES; n++) {
      const { moreOf, more } = store.get();
      const cursor = group.key in moreOf ? moreOf[group.key] : more;
      if (cursor === null) return;
      const page = await api.sessions({ ...where, cursor });
      store.set((state) => ({
        sessions: Object.assign(byId(page.sessions), state.sessions), // what was pushed meanwhile is newer
        moreOf: put(state.moreOf, group.key, page.next ?? null),
      }));
      if (heldIn(store.get(), group) > before) return;
    }
  }

  return { load, countAgain, loadMore };
}

/** @typedef {ReturnType<typeof createSessionList>} SessionList */

/** @param {import('../js/types.d.ts').WireSessionView[]} sessions */
const byId = (sessions) => tableOf(sessions.map((session) => [session.session_id, filledRecord(session)]));

/**
 * @param {State} state
 * @param {Group} group
 */
const heldIn = (state, group) =>
  Object.values(state.sessions).filter(
    (session) => !session.archived && !session.found && keyOf(state, session) === group.key,
  ).length;

/**
 * The key of the group that a session stands in.
 * @param {State} state
 * @param {import('./state.js').SessionRecord} session
 */
const keyOf = (state, session) => placeKey(state, session.device, groupOf(state, session)?.path ?? homeOf(session));

/**
 * How many sessions each group has, by its key, those included that this page does not hold. Null: it holds them all.
 * @param {State} state
 * @returns {Map<string, {path: string, device: string, sessions: number}> | null}
 */
export function countedGroups(state) {
  if (!state.counts) return null;
  /** @type {Map<string, {path: string, device: string, sessions: number}>} */
  const counted = new Map();
  for (const { path, device, sessions } of state.counts.folders) {
    const session = filledRecord({ cwd: path, device });
    const key = keyOf(state, session);
    const before = counted.get(key)?.sessions ?? 0;
    counted.set(key, { path: groupOf(state, session)?.path ?? path, device, sessions: before + sessions });
  }
  return counted;
}
