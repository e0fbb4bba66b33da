/** One session as a row of the sidebar: dot, title, age; a second line only when it says something; a menu. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { plusMinus } from '../../js/lines.js';
import { age, count } from '../../js/format.js';
import { aboutSession, startedWhen, whoWorks } from '../session/about.js';
import { limitOf } from '../capability.js';
import { confirmEnd } from '../session/confirm.js';
import { agentLetter, begin, dot, keyNote, menu } from '../parts.js';
import { machineTag } from '../machines.js';
import { isOver, marksOf, pullNumber, statusOf, titleOf } from '../sessions.js';
import { muteChoice } from '../notifying.js';
import { mayAct, openRequests, shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/** Which session's title is being typed right now. @type {string | null} */
let renaming = null;

/**
 * @param {State} state
 * @param {App} app
 * @param {SessionRecord} session
 * @param {() => void} again draws the list anew
 */
export function sessionRow(state, app, session, again) {
  const id = session.session_id;
  if (renaming === id)
    return h('div', { class: 'session-row-wrap', 'data-key': `${id} title` }, titleField(app, session, again));
  const status = statusOf(state, session);
  const chosen = shownSession(state) === id && state.route.name === 'session';
  const sub = subLine(state, session, status);
  const machine = machineTag(state, session);
  const limit = limitOf(session);
  const marks = marksOf(state, session)
    .map((mark) => mark.title)
    .join('. ');
  const open = (/** @type {HTMLElement} */ anchor) => rowMenu(app, anchor, session, again);
  return h(
    'div',
    {
      class: 'session-row-wrap',
      'data-key': id,
      oncontextmenu: (/** @type {On<HTMLElement, MouseEvent>} */ event) => {
        if (mayAct(state, id)) {
          event.preventDefault();
          open(event.currentTarget);
        }
      },
    },
    h(
      'button',
      {
        type: 'button',
        class: `session-row ${sub ? 'is-double' : ''} ${chosen ? 'is-selected' : ''}`,
        'data-key': id,
        'aria-current': chosen ? 'page' : null,
        title: [titleOf(session), aboutRow(state, session), marks].filter(Boolean).join('\n'),
        onclick: () => app.go({ name: 'session', id }),
        ondblclick: mayAct(state, id) ? () => rename(id, again) : null,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== 'F2' || !mayAct(state, id)) return;
          event.preventDefault();
          rename(id, again);
        },
      },
      dot(status.dot, status.word),
      h(
        'span',
        { class: 'session-row__text' },
        h('span', { class: 'session-row__title', dir: 'auto' }, titleOf(session)),
        sub &&
          h(
            'span',
            { class: 'session-row__details' },
            agentLetter(session.agent),
            sub,
            machine && [h('span', { 'aria-hidden': 'true' }, '·'), machineLabel(machine)],
          ),
      ),
      limit && h('span', { class: 'session-row__limit', title: limit }, icon('lock', 12), spoken(limit)),
      !sub && machine && machineLabel(machine),
      !sub && agentLetter(session.agent),
      h('span', { class: 'session-row__age' }, age(session.updated_at || session.created_at, Date.now())),
    ),
    mayAct(state, id) &&
      iconButton('more', `More for ${titleOf(session)}`, {
        class: 'is-small',
        'aria-haspopup': 'menu',
        onclick: (/** @type {On} */ event) => open(event.currentTarget),
      }),
  );
}

/** @param {string} name */
const machineLabel = (name) => h('span', { class: 'session-row__machine' }, spoken('on '), name);

/** @param {string} words */
const spoken = (words) => h('span', { class: 'spoken' }, words);

/**
 * Agent, model, when it began, and its id.
 * @param {State} state
 * @param {SessionRecord} session
 */
const aboutRow = (state, session) =>
  [whoWorks(state, session), session.created_at && `started ${startedWhen(session, Date.now())}`, session.session_id]
    .filter(Boolean)
    .join(' · ');

/**
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {SessionRecord} session
 * @param {() => void} again
 */
function rowMenu(app, anchor, session, again) {
  const id = session.session_id;
  const over = isOver(session);
  const choices = [
    pinChoice(app, id),
    ...muteChoice(app, id),
    { label: 'Rename', key: keyNote('F2'), icon: 'edit', run: () => rename(id, again) },
    {
      label: session.archived ? 'Unarchive' : 'Archive',
      icon: 'inbox',
      run: () =>
        void app.api
          .archive(id, { archived: !session.archived })
          .then(
            () => app.note(session.archived ? 'It is back in the list.' : 'Archived. Everything is kept.'),
            app.trouble,
          ),
    },
    ...(over
      ? []
      : [
          /** @type {const} */ ('line'),
          {
            label: 'End session',
            icon: 'stop',
            danger: true,
            run: () => {
              app.go({ name: 'session', id });
              confirmEnd(app, id);
            },
          },
        ]),
  ];
  menu(anchor, choices, aboutSession(app, session));
}

/**
 * @param {string} id
 * @param {() => void} again
 */
function rename(id, again) {
  renaming = id;
  again();
  begin('.session-row-wrap input');
}

/**
 * @param {App} app
 * @param {string} id
 */
export function pinChoice(app, id) {
  const pinned = app.store.get().pins.includes(id);
  return {
    label: pinned ? 'Unpin' : 'Pin to the top',
    icon: 'pin',
    run: () => app.store.set(({ pins }) => ({ pins: pinned ? pins.filter((pin) => pin !== id) : [...pins, id] })),
  };
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 * @param {() => void} again
 */
function titleField(app, session, again) {
  const id = session.session_id;
  const done = (/** @type {string | null} */ value) => {
    if (renaming !== id) return;
    renaming = null;
    if (value && value !== session.title) app.api.title(id, { title: value }).catch(app.trouble);
    again();
  };
  return h('input', {
    class: 'input',
    'aria-label': 'Title',
    value: session.title || titleOf(session),
    maxlength: 200,
    onblur: (/** @type {On<HTMLInputElement>} */ event) => done(event.currentTarget.value.trim()),
    onkeydown: (/** @type {On<HTMLInputElement, KeyboardEvent>} */ event) => {
      if (event.key === 'Enter') done(event.currentTarget.value.trim());
      if (event.key === 'Escape') {
        event.stopPropagation();
        done(null);
      }
    },
  });
}

/**
 * A second line only when it says something.
 * @param {State} state
 * @param {SessionRecord} session
 * @param {{dot: string, word: string}} status
 */
function subLine(state, session, status) {
  const open = openRequests(state, session.session_id);
  if (status.dot === 'blocked') {
    const n = Math.max(open.length, session.open_requests);
    const questions = open
      .filter((ask) => ask.kind === 'question')
      .reduce((sum, ask) => sum + (ask.asked?.questions?.length ?? 1), 0);
    return [
      h('span', { class: 'need' }, status.word),
      n === 0 ? '' : status.word === 'Asks you' ? `· ${count(questions, 'question')}` : `· ${count(n, 'request')}`,
    ];
  }
  if (status.dot === 'failed')
    return [
      h('span', { class: 'fail' }, 'Failed'),
      session.end_message &&
        h('span', { class: 'session-row__cut' }, `· ${session.end_message.split(/[.:]/)[0].toLowerCase()}`),
    ];
  if (status.word === 'Away') return [status.word];
  if (status.dot === 'running') return [status.word, session.queued ? ` · ${session.queued} queued` : ''];
  if (status.dot === 'starting') return [status.word];
  if (session.held) return [h('span', { class: 'need' }, `${count(session.held, 'message')} held`)];
  const work = workOf(session);
  return work.length ? work : null;
}

/**
 * What it changed, and its pull request.
 * @param {SessionRecord} session
 * @returns {(Node | string)[]}
 */
export function workOf(session) {
  const parts = [];
  if (session.added || session.removed) parts.push(plusMinus(session.added, session.removed));
  if (session.pull_request)
    parts.push(
      h(
        'span',
        {
          class: 'session-row__pull',
          title: session.pull_request,
          'aria-label': `pull request ${pullNumber(session.pull_request)}`,
        },
        parts.length ? '· ' : '',
        pullNumber(session.pull_request),
      ),
    );
  return parts;
}
