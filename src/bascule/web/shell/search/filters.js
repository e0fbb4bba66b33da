/** What narrows the results of a search: project, agent, time and who said it. */

import { h } from '../../js/dom.js';
import { folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { menu } from '../parts.js';
import { machineTag, placeKey } from '../machines.js';
import { agentTitle, groupOf } from '../sessions.js';
import { filledRecord } from '../state.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('./hits.js').Hit} Hit */
/** @typedef {{project: string, agent: string, days: number, kind: string}} Filters */

const DAY = 86_400_000;
const TIMES = /** @type {const} */ ([
  [0, 'Any time'],
  [1, 'Last day'],
  [7, 'Last 7 days'],
  [30, 'Last 30 days'],
]);
const KINDS = /** @type {const} */ ([
  ['', 'All messages'],
  ['prompt', 'Your messages'],
  ['text', 'Agents’ words'],
  ['tool', 'Tools'],
]);
/** @type {Filters} */
export const NO_FILTERS = { project: '', agent: '', days: 0, kind: '' };

/**
 * The record of a session that has hits; those in the archive are not in the list.
 * @param {State} state
 * @param {string} id
 */
export const recordOf = (state, id) =>
  state.sessions[id] ??
  state.archived?.find((session) => session.session_id === id) ??
  filledRecord({ session_id: id });

/**
 * @param {State} state
 * @param {Hit[]} hits
 * @param {Filters} only
 * @param {number} now
 */
export function filteredHits(state, hits, only, now) {
  const since = only.days ? now - only.days * DAY : 0;
  return hits.filter((hit) => {
    const session = recordOf(state, hit.sessionId);
    return (
      (!only.project || placeOf(state, session) === only.project) &&
      (!only.agent || session.agent === only.agent) &&
      Date.parse(hit.at) >= since &&
      (!only.kind || hit.kind === only.kind || hit.firstSeq === 0)
    );
  });
}

/**
 * @param {State} state
 * @param {Hit[]} hits
 * @param {Filters} only
 * @param {(some: Partial<Filters>) => void} set
 */
export function filterChips(state, hits, only, set) {
  const sessions = [...new Set(hits.map((hit) => hit.sessionId))].map((id) => recordOf(state, id));
  const agents = [...new Set(sessions.map((session) => session.agent).filter(Boolean))];
  return [
    chip('folder', [['', 'All projects'], ...projectsOf(state, sessions)], only.project, (project) => set({ project })),
    chip(
      'user',
      [['', 'Any agent'], ...agents.map((agent) => [agent, agentTitle(state, agent)])],
      only.agent,
      (agent) => set({ agent }),
    ),
    chip(
      'clock',
      TIMES.map(([days, label]) => [String(days), label]),
      String(only.days),
      (days) => set({ days: Number(days) }),
    ),
    chip(
      'list',
      KINDS.map(([kind, label]) => [kind, label]),
      only.kind,
      (kind) => set({ kind }),
    ),
  ];
}

/**
 * The same path on another machine is another place.
 * @param {State} state
 * @param {import('../state.js').SessionRecord} session
 */
const placeOf = (state, session) => placeKey(state, session.device, groupOf(state, session)?.path ?? session.cwd);

/**
 * Key and name of each project the sessions belong to, once.
 * @param {State} state
 * @param {import('../state.js').SessionRecord[]} sessions
 */
function projectsOf(state, sessions) {
  const named = sessions
    .filter((session) => session.cwd)
    .map((session) => {
      const name = groupOf(state, session)?.name ?? folderName(session.cwd);
      const machine = machineTag(state, session);
      return /** @type {const} */ ([placeOf(state, session), machine ? `${name} on ${machine}` : name]);
    });
  return [...new Map(named)];
}

/**
 * @param {string} mark
 * @param {string[][]} choices
 * @param {string} now
 * @param {(value: string) => void} set
 */
const chip = (mark, choices, now, set) =>
  h(
    'button',
    {
      type: 'button',
      class: `chip ${now && now !== '0' ? 'is-set' : ''}`,
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) =>
        menu(
          event.currentTarget,
          choices.map(([value, label]) => ({ label, on: value === now, run: () => set(value) })),
        ),
    },
    icon(mark, 14),
    choices.find(([value]) => value === now)?.[1] ?? choices[0][1],
    h('span', { class: 'chip__caret' }, icon('down', 12)),
  );
