/** The sessions this page has open: reads a page of each, follows its events, comes back by number after a loss. */

import { errorOf } from '../js/json.js';
import { endAfter, queueAfter, step, titleAfter } from '../js/record.js';
import { filled } from '../js/reduce.js';
import { put, table, without } from '../js/tables.js';
import { foundOn } from './machines.js';
import { KnownRequests, openIn } from './requests/known_requests.js';
import { FIRST_LIVE, filledRecord } from './state.js';

const GUARD_ENDS = new Set(['guard_answered', 'session_ending', 'session_ended', 'session_failed']);

const PAGE = 60;

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */

export class Live {
  /**
   * @param {Store} store
   * @param {import('../js/api.js').Api} api
   * @param {{
   *   opened: (id: string, page: import('../js/types.d.ts').SessionOpened) => void,
   *   events: (id: string, entries: import('../js/types.d.ts').Logged[]) => void,
   *   page: (id: string, number: number, page: import('../js/types.d.ts').EntriesPage | null) => void,
   *   hits: (id: string, text: string, seqs: number[] | null) => void,
   *   goTo: (id: string, seq: number) => void,
   *   forget: (id: string) => void,
   * }} frames
   */
  constructor(store, api, frames) {
    this.store = store;
    this.api = api;
    this.frames = frames;
    this.requests = new KnownRequests(store, api);
    /** @type {Map<string, Promise<void>>} */
    this.opening = new Map();
    this.caught = 0;
    /** Which history the numbers of each session are of. @type {Map<string, string>} */
    this.epochs = new Map();
    /**
     * How far each session is held. Not in the store: text streams past without a drawing of the shell.
     * @type {Map<string, number>}
     */
    this.seqs = new Map();
  }

  /**
   * Make sure a session is read and followed.
   * @param {string} id
   */
  ensure(id) {
    if (this.store.get().live[id]?.opened || this.opening.has(id)) return;
    const work = this.#open(id).finally(() => {
      if (this.opening.get(id) === work) this.opening.delete(id);
    });
    this.opening.set(id, work);
  }

  /**
   * As `ensure`; over when it is read.
   * @param {string} id
   */
  async ensured(id) {
    this.ensure(id);
    await this.opening.get(id);
  }

  /** @param {string} id */
  async #open(id) {
    const guest = this.store.get().me?.sessionId === id;
    if (guest) this.requests.expectList();
    try {
      const page = await this.#page(id);
      this.epochs.set(id, page.epoch);
      this.seqs.set(id, page.seq);
      this.#setLive(id, { ...this.#fromPage(page), opened: true, error: '' });
      this.#setSession(page.session);
      this.#keepTab(id);
      if (guest) this.requests.set(openIn(id, page.entries.map(filled)));
      this.frames.opened(id, page);
      await this.api.subscribe(id, { after: page.seq, epoch: page.epoch });
      // Unless its log was begun again meanwhile, and is read again already.
      if (this.epochs.get(id) === page.epoch) await this.#learn(id, page.session.started_seq ?? 0);
    } catch (error) {
      const code = errorOf(error).code;
      if (code !== 'OFFLINE')
        this.#setLive(id, {
          error: code === 'SESSION_NOT_FOUND' ? 'There is no such session here.' : /** @type {Error} */ (error).message,
        });
    }
  }

  /**
   * A found session of another machine is copied to the server only when somebody wants to see it. Who comes by a
   * link may not know the machine.
   * @param {string} id
   */
  async #page(id) {
    try {
      return await this.api.open(id, { limit: PAGE });
    } catch (error) {
      const state = this.store.get();
      if (errorOf(error).code !== 'SESSION_NOT_FOUND' || state.me?.sessionId) throw error;
      await this.api.fetchFound(id, foundOn(state, id) || undefined);
      return this.api.open(id, { limit: PAGE });
    }
  }

  /**
   * Tabs of sessions that the server did not know when the page was loaded are gone by now.
   * @param {string} id
   */
  #keepTab(id) {
    const { route, tabs } = this.store.get();
    if (route.name === 'session' && route.id === id && !tabs.includes(id)) this.store.set({ tabs: [...tabs, id] });
  }

  /**
   * What the agent said of itself at its start: commands, models, how far the start got.
   * @param {string} id
   * @param {number} started
   */
  async #learn(id, started) {
    const { events } = await this.api.events(id, { after: Math.max(0, started - 1), limit: 40 });
    for (const logged of events) this.#absorb(id, logged, true);
  }

  /** @param {import('../js/types.d.ts').SessionOpened} page */
  #fromPage(page) {
    const edits = page.entries
      .map(filled)
      .filter((entry) => entry.kind === 'tool')
      .filter((entry) => entry.diffs.length && entry.status === 'done')
      .flatMap((entry) => entry.diffs.map((diff) => ({ added: 0, removed: 0, ...diff, seq: entry.first_seq })));
    return { queue: page.queue ?? [], edits };
  }

  /**
   * A push of the server: some rows of a session's log.
   * @param {string} id
   * @param {import('../js/types.d.ts').Logged[]} rows
   */
  take(id, rows) {
    const held = this.seqs.get(id);
    if (held === undefined) return;
    const fresh = rows.filter((row) => row.seq > held);
    if (!fresh.length) return;
    this.seqs.set(id, fresh[fresh.length - 1].seq);
    this.caught += fresh.length;
    this.frames.events(id, fresh);
    for (const logged of fresh) this.#absorb(id, logged, false);
  }

  /**
   * @param {string} id
   * @param {import('../js/types.d.ts').Logged} logged
   * @param {boolean} past
   */
  #absorb(id, logged, past) {
    const event = logged.event;
    const live = this.store.get().live[id] ?? FIRST_LIVE;
    switch (event.type) {
      case 'text_appended':
      case 'text_said':
        return;
      case 'commands_changed':
        this.#setLive(id, { commands: event.commands });
        break;
      case 'models_changed':
        this.#setLive(id, { models: event.models });
        break;
      case 'session_started':
        this.#setLive(id, { steps: { started: logged.at }, failure: null });
        break;
      case 'agent_spawned':
        this.#setLive(id, { steps: { ...live.steps, spawned: logged.at } });
        break;
      case 'session_ready':
        this.#setLive(id, { steps: { ready: logged.at, ...live.steps } });
        break;
      case 'session_failed':
        this.#setLive(id, { failure: { ...event, at: logged.at } });
        break;
      case 'tool_changed':
        if (!past && event.status === 'done' && event.diffs?.length) {
          this.#setLive(id, {
            edits: [...live.edits, ...event.diffs.map((diff) => ({ added: 0, removed: 0, ...diff, seq: logged.seq }))],
          });
        }
        break;
      default:
        break;
    }
    if (past) return;
    const queue = queueAfter(live.queue, event);
    if (queue !== live.queue) this.#setLive(id, { queue });
    this.#absorbRecord(id, logged);
    this.requests.absorb(id, logged);
  }

  /**
   * The server sends changes of the list; this only saves the wait for it.
   * @param {string} id
   * @param {import('../js/types.d.ts').Logged} logged
   */
  #absorbRecord(id, { at, event }) {
    const session = this.store.get().sessions[id];
    if (!session) return;
    const phase = step(session.phase, event.type);
    const patch = { ...session, phase, updated_at: at, ...endAfter(event), ...titleAfter(session, event) };
    if (event.type === 'permission_mode_changed') patch.permission_mode = event.mode;
    if (event.type === 'model_changed') patch.model = event.model;
    if (event.type === 'mode_changed') patch.mode = event.mode;
    if (event.type === 'guard_asked') patch.guard = event;
    if (GUARD_ENDS.has(event.type)) patch.guard = null;
    if (event.type === 'usage_changed') {
      patch.context_used = event.used ?? session.context_used;
      patch.context_size = event.size ?? session.context_size;
    }
    this.store.set((state) => ({ sessions: put(state.sessions, id, patch) }));
  }

  /** After a reconnect: each session from the last event this page holds. */
  async followAgain() {
    this.caught = 0;
    for (const [id, seq] of this.seqs) {
      await this.api.subscribe(id, { after: seq, epoch: this.epochs.get(id) }).catch((error) => {
        if (error.code === 'OFFLINE') throw error;
        this.#setLive(id, { error: error.message });
      });
    }
  }

  /**
   * What is held of this session is of another log: read it again from its end.
   * @param {string} id
   */
  startOver(id) {
    const held = this.seqs.has(id);
    this.#forget(id);
    if (!held) return;
    this.opening.delete(id); // what is being read is of the log before
    this.ensure(id);
  }

  /** The whole log is another one. What is in view is read again, the rest when somebody goes there. */
  forgetAll() {
    for (const id of [...this.seqs.keys()]) this.#forget(id);
    this.requests.forget();
    this.store.set({ seen: table() });
  }

  /** @param {string} id */
  #forget(id) {
    this.seqs.delete(id);
    this.epochs.delete(id);
    this.frames.forget(id);
    this.store.set((state) => ({
      live: without(state.live, id),
      seen: without(state.seen, id),
    }));
    this.requests.forget(id);
  }

  /** Tabs of sessions that the list does not name: those begun outside Bascule are known one by one. */
  async recognise() {
    const { tabs, sessions } = this.store.get();
    for (const id of tabs.filter((tab) => !sessions[tab])) {
      const shown = await this.api.show(id).catch(() => null); // gone: its tab goes too
      if (shown) this.#setSession(shown.session);
    }
  }

  /**
   * Other entries of a session, for its frame.
   * @param {string} id
   * @param {Record<string, number>} place
   * @param {number} number of the frame's question
   */
  async more(id, place, number) {
    // It asks again on the next scroll.
    const page = await this.api.entries(id, { ...place, limit: PAGE }).catch(() => null);
    this.frames.page(id, number, page);
  }

  /**
   * Which entries of a session hold some words.
   * @param {string} id
   * @param {string} text
   */
  async search(id, text) {
    // Not for this browser, or no words: the frame reads on by itself.
    const answer = await this.api.searchIn(id, text).catch(() => null);
    this.frames.hits(id, text, answer && answer.hits.map((hit) => hit.firstSeq).filter(Boolean));
  }

  /**
   * Bring one message into view.
   * @param {string} id
   * @param {number} seq
   */
  async goTo(id, seq) {
    await this.opening.get(id);
    this.frames.goTo(id, seq);
  }

  /** @param {string} id */
  close(id) {
    this.seqs.delete(id);
    this.store.set((state) => ({ live: without(state.live, id) }));
    this.api.unsubscribe(id).catch(() => undefined); // offline: nothing is followed any more anyway
  }

  /** @param {import('../js/types.d.ts').WireSessionView} session */
  #setSession(session) {
    this.store.set((state) => ({ sessions: put(state.sessions, session.session_id, filledRecord(session)) }));
  }

  /**
   * @param {string} id
   * @param {Partial<import('./state.js').LiveSession>} patch
   */
  #setLive(id, patch) {
    this.store.set((state) => ({ live: put(state.live, id, { ...(state.live[id] ?? FIRST_LIVE), ...patch }) }));
  }
}
