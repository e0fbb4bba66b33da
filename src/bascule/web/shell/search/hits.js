/** Search over everything that was said, as the palette and the search screen both use it. */

import { h } from '../../js/dom.js';
import { tableOf } from '../../js/tables.js';

/**
 * @typedef {{
 *   sessionId: string,
 *   title: string,
 *   firstSeq: number,
 *   snippet: string[],
 *   at: string,
 *   kind: string,
 *   archived: boolean,
 *   device?: string,
 * }} Hit
 */
/** @typedef {import('../../js/types.d.ts').MissingDevice} Missing */
/**
 * @typedef {{
 *   q: string,
 *   hits: Hit[],
 *   owed: number,
 *   missing: readonly Missing[],
 *   took: number,
 *   problem: string,
 *   busy: boolean,
 * }} Found
 */

const PAUSE = 140;

/** @type {Found} */
export const NOTHING = { q: '', hits: [], owed: 0, missing: [], took: 0, problem: '', busy: false };

/**
 * Asks a moment after the last letter; only the newest question's answer counts.
 * @param {import('../app.js').App} app
 * @param {number} limit
 * @param {(found: Found) => void} tell
 */
export function seeker(app, limit, tell) {
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @type {Found} */
  let last = NOTHING;
  const say = (/** @type {Found} */ found) => {
    last = found;
    tell(found);
  };

  /**
   * @param {string} q
   * @param {number} mine
   */
  async function ask(q, mine) {
    const began = performance.now();
    try {
      const answer = await app.api.search(q, limit);
      remember(app, answer.hits);
      if (mine === asked)
        say({
          q,
          hits: answer.hits,
          owed: answer.owed ?? 0,
          missing: answer.missing ?? [],
          took: performance.now() - began,
          problem: '',
          busy: false,
        });
    } catch (error) {
      if (mine === asked) say({ ...NOTHING, q, problem: /** @type {Error} */ (error).message });
    }
  }

  return {
    /** @param {string} text */
    look(text) {
      const q = text.trim();
      const mine = ++asked;
      clearTimeout(waiting);
      if (!q) return say(NOTHING);
      if (q === last.q && !last.problem) return say({ ...last, busy: false });
      last = { ...last, busy: true };
      waiting = setTimeout(() => void ask(q, mine), PAUSE);
    },
  };
}

/**
 * Where those are that this server has no copy of: they are fetched when somebody opens one.
 * @param {import('../app.js').App} app
 * @param {Hit[]} hits
 */
function remember(app, hits) {
  const far = hits.filter((hit) => hit.device).map((hit) => /** @type {const} */ ([hit.sessionId, hit.device ?? '']));
  if (far.length) app.store.set(({ farFound }) => ({ farFound: tableOf([...Object.entries(farFound), ...far]) }));
}

/**
 * Every second piece of a snippet matched.
 * @param {string[]} snippet
 */
export const marked = (snippet) => snippet.map((piece, n) => (n % 2 ? h('mark', null, piece) : piece));

/**
 * Hits of one session together, in the order the newest of each came.
 * @param {Hit[]} hits
 * @returns {{sessionId: string, title: string, archived: boolean, hits: Hit[]}[]}
 */
export function bySession(hits) {
  /** @type {Map<string, {sessionId: string, title: string, archived: boolean, hits: Hit[]}>} */
  const groups = new Map();
  for (const hit of hits) {
    const group = groups.get(hit.sessionId) ?? {
      sessionId: hit.sessionId,
      title: hit.title,
      archived: hit.archived,
      hits: [],
    };
    group.hits.push(hit);
    groups.set(hit.sessionId, group);
  }
  return [...groups.values()];
}
