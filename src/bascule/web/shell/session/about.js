/** What a session is, below the choices of its menus: agent and model, who started it and when, its id, its ports. */

import { h } from '../../js/dom.js';
import { clockTime, moment } from '../../js/format.js';
import { visible } from '../../js/visible.js';
import { agentTitle, modelName, nameOf } from '../sessions.js';
import { listeningNote } from './listening.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * "Claude Code · claude-opus-4-1"; nothing is said twice.
 * @param {State} state
 * @param {SessionRecord} session
 */
export const whoWorks = (state, session) =>
  [...new Set([agentTitle(state, session.agent), modelName(state, session)])].filter(Boolean).join(' · ');

/**
 * "at 14:05", or "on Nov 12, 14:05" when that is longer ago.
 * @param {SessionRecord} session
 * @param {number} now
 */
export function startedWhen({ created_at }, now) {
  const when = moment(created_at, now);
  return `${when === clockTime(created_at) ? 'at' : 'on'} ${when}`;
}

/**
 * @param {import('../app.js').App} app
 * @param {SessionRecord} session
 */
export function aboutSession(app, session) {
  const state = app.store.get();
  return h(
    'div',
    { class: 'menu__about' },
    h('p', null, visible(whoWorks(state, session))),
    session.created_at &&
      h(
        'p',
        null,
        `Started ${session.created_by ? `by ${nameOf(state, session.created_by, 'you')} ` : ''}` +
          startedWhen(session, Date.now()),
      ),
    h('p', { class: 'mono' }, session.session_id),
    listeningNote(app, session),
  );
}
