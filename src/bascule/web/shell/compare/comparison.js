/** The comparison in view and what a person does with it: read it, keep one agent's work, remove the work trees. */

import { onDevice, several } from '../machines.js';
import { count, duration } from '../../js/format.js';
import { put, table } from '../../js/tables.js';
import { visible } from '../../js/visible.js';
import { statusOf } from '../sessions.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').Contestant} Contestant */
/** @typedef {import('../../js/types.d.ts').Comparison} Comparison */
/**
 * A question about one column, or about the trees that are left.
 * @typedef {{keep?: string, remove?: string[], busy?: boolean, problem?: string}} Asking
 */

export const MAX_AGENTS = 4;
const BUSY = ['starting', 'running', 'interrupted'];
const OVER = ['ended', 'failed', 'ending'];

/** @param {import('../state.js').SessionRecord} session */
export const isWorking = (session) => BUSY.includes(session?.phase);

/**
 * @param {State} state
 * @param {Contestant} contestant
 */
export function contestantStatus(state, contestant) {
  if (contestant.problem) return { dot: 'failed', word: 'Not started' };
  const session = state.sessions[contestant.sessionId];
  return session ? statusOf(state, session) : { dot: 'ended', word: 'Deleted' };
}

/**
 * Those who can still be sent a message.
 * @param {State} state
 * @param {Comparison | null} comparison
 */
export const liveContestants = (state, comparison) =>
  (comparison?.contestants ?? []).filter(({ sessionId }) => {
    const session = state.sessions[sessionId];
    return session && !OVER.includes(session.phase);
  });

/**
 * How long a session has worked: nobody works while it waits for an answer or for the next message.
 * @param {import('../state.js').SessionRecord} session
 * @param {number} now
 */
export function timeWords(session, now) {
  const since = session?.working_since;
  if (!session?.worked_ms && !since) return '–';
  const ms = session.worked_ms + (since ? Math.max(0, now - Date.parse(since)) : 0);
  const how = session.open_requests ? ', waiting' : isWorking(session) ? ' so far' : '';
  return `${duration(ms)}${how}`;
}

/**
 * Why the work of this one can't be kept just now.
 * @param {Contestant} contestant
 * @param {import('../state.js').SessionRecord} session
 * @param {import('../../js/types.d.ts').ContestantChanges | undefined} changes
 */
export function whyNotKept(contestant, session, changes) {
  if (contestant.state === 'removed') return `Removed. The work is on ${visible(contestant.branch)}.`;
  if (isWorking(session)) return 'It is still working';
  return changes && !changes.files.length ? 'It changed no file' : null;
}

export class ComparisonView {
  /**
   * @param {App} app
   * @param {() => void} changed
   */
  constructor(app, changed) {
    this.app = app;
    this.changed = changed;
    /** @type {Comparison | null} */
    this.shown = null;
    /** @type {Comparison[] | null} */
    this.all = null;
    this.problem = '';
    /** What each session changed, by its id. @type {Record<string, import('../../js/types.d.ts').ContestantChanges>} */
    this.changes = table();
    /** Which machine has each. @type {Map<string, string>} */
    this.devices = new Map();
    /** How often each was looked at. @type {Record<string, number>} */
    this.looks = table();
    /** Which sessions show their diff instead of the transcript. @type {Record<string, boolean>} */
    this.diffs = table();
    /** @type {Asking | null} */
    this.asking = null;
  }

  /** @param {Asking | null} question */
  ask(question) {
    this.asking = question;
    this.changed();
  }

  /** @param {string | undefined} id */
  async load(id) {
    try {
      if (id) await this.#loadOne(id);
      else {
        this.shown = null;
        this.all = await this.#list();
      }
      this.problem = '';
    } catch (error) {
      this.shown = null;
      this.problem = /** @type {Error} */ (error).message;
    }
    this.changed();
  }

  /** Of every machine that is there. */
  async #list() {
    const state = this.app.store.get();
    const devices = several(state)
      ? state.devices.filter((device) => device.online).map((device) => device.device)
      : [''];
    const lists = devices.map(async (device) => {
      const { comparisons } = await this.app.feed.call('compare:list', onDevice(state, device));
      for (const comparison of comparisons) this.devices.set(comparison.id, device);
      return comparisons;
    });
    if (lists.length === 1) return lists[0];
    const answers = await Promise.allSettled(lists); // one that went away meanwhile hides nobody else's
    const all = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return all.sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
  }

  /**
   * The machine that has a comparison; its sessions say so, too.
   * @param {string} id
   */
  async #where(id) {
    const state = this.app.store.get();
    if (!several(state)) return {};
    if (!this.devices.has(id)) await this.#list();
    return onDevice(state, this.devices.get(id));
  }

  /** @param {string} id */
  async #loadOne(id) {
    const fresh = await this.app.feed.call('compare:show', { comparisonId: id, ...(await this.#where(id)) });
    if (this.app.store.get().route.id !== id) return;
    if (this.shown?.id !== id) {
      this.changes = table();
      this.diffs = table();
      this.asking = null;
    }
    this.shown = fresh;
    // The first look is when its transcript is open.
    for (const contestant of fresh.contestants)
      if (this.changes[contestant.sessionId]) void this.look(contestant.sessionId);
  }

  /**
   * Ask what one agent changed so far.
   * @param {string} sessionId
   */
  async look(sessionId) {
    if (!this.shown?.contestants.some((contestant) => contestant.sessionId === sessionId)) return;
    const { id } = this.shown;
    const mine = (this.looks[sessionId] = (this.looks[sessionId] ?? 0) + 1);
    // No answer: asked again after the next turn. A later look may have answered first.
    const command = { comparisonId: id, sessionId, ...(await this.#where(id)) };
    const found = await this.app.feed.call('compare:changes', command).catch(() => null);
    if (!found || this.shown?.id !== id || this.looks[sessionId] !== mine) return;
    this.changes = put(this.changes, sessionId, found);
    this.changed();
  }

  /** @param {string} sessionId */
  toggleDiff(sessionId) {
    const diff = !this.diffs[sessionId];
    this.diffs = put(this.diffs, sessionId, diff);
    if (diff) void this.look(sessionId);
    this.changed();
  }

  /**
   * @param {Comparison} comparison
   * @param {string[]} sessionIds
   */
  async removeTrees(comparison, sessionIds) {
    this.ask({ ...this.asking, busy: true });
    try {
      const fields = { comparisonId: comparison.id, sessionIds, confirm: true, ...(await this.#where(comparison.id)) };
      const answer = await this.app.feed.call('compare:remove', fields);
      this.shown = answer.comparison;
      this.#noteRemoved(answer.trees);
      this.ask(null);
    } catch (error) {
      this.ask({ ...this.asking, busy: false, problem: /** @type {Error} */ (error).message });
    }
  }

  /** @param {{removed: boolean, words: string}[]} trees */
  #noteRemoved(trees) {
    const stay = trees.filter((tree) => !tree.removed);
    if (stay.length) this.app.note(stay.map((tree) => visible(tree.words)).join(' '), { tone: 'bad', stay: true });
    else this.app.note(`${count(trees.length, 'work tree')} removed. The work is on the branches.`);
  }

  /**
   * @param {Comparison} comparison
   * @param {string} sessionId
   */
  async keep(comparison, sessionId) {
    this.ask({ keep: sessionId, busy: true });
    try {
      const command = { comparisonId: comparison.id, sessionId, ...(await this.#where(comparison.id)) };
      const answer = await this.app.feed.call('compare:keep', command);
      this.asking = null;
      this.app.note(visible(answer.words));
      await this.load(comparison.id);
    } catch (error) {
      this.ask({ keep: sessionId, problem: /** @type {Error} */ (error).message });
    }
  }
}
