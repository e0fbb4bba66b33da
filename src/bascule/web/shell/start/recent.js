/** The latest sessions, below the composer of a new one. */

import { h } from '../../js/dom.js';
import { age, folderName } from '../../js/format.js';
import { visible } from '../../js/visible.js';
import { isRemote, machineTag } from '../machines.js';
import { dot, remoteMark } from '../parts.js';
import { workOf } from '../sidebar/rows.js';
import { agentTitle, pullNumber, sessionsInOrder, statusOf, titleOf } from '../sessions.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

const SHOWN = 4;

/**
 * @param {App} app
 * @param {State} state
 */
export function recentSessions(app, state) {
  const some = sessionsInOrder(state).slice(0, SHOWN);
  if (!some.length) return null;
  return h(
    'section',
    { class: 'recent' },
    h('p', { class: 'caption' }, 'Recent'),
    some.map((session) => row(app, state, session)),
  );
}

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
function row(app, state, session) {
  const status = statusOf(state, session);
  return h(
    'button',
    {
      type: 'button',
      'data-key': session.session_id,
      onclick: () => app.go({ name: 'session', id: session.session_id }),
    },
    dot(status.dot, status.word),
    h('span', { class: 'recent__title', dir: 'auto' }, titleOf(session)),
    h(
      'span',
      { class: 'marks' },
      isRemote(state, session) && remoteMark(state, session),
      session.pull_request &&
        h('span', { class: 'mark-label', title: session.pull_request }, `PR ${pullNumber(session.pull_request)}`),
    ),
    h(
      'small',
      null,
      h(
        'span',
        { class: 'recent__folder', dir: 'auto', title: visible(session.cwd) },
        visible(folderName(session.cwd)),
      ),
      [
        '',
        machineTag(state, session),
        agentTitle(state, session.agent),
        status.word.toLowerCase(),
        age(session.updated_at, Date.now()),
      ]
        .filter((word, n) => n === 0 || word)
        .join(' · '),
      session.added + session.removed > 0 && [' ', workOf(session)[0]],
    ),
  );
}
