/** Everything that waits for a person, over all sessions: requests, what stopped, what finished since they looked. */

import { missingNote } from '../connection/missing_note.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { agentLetter, isolated } from '../parts.js';
import { badge } from '../sidebar/sidebar.js';
import { waitingCards } from '../start/waiting_starts.js';
import { ageOf, answerRow, finishedRow, guardRow, inboxItems, keysOf, requestRow, stoppedRow } from './inbox_items.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./inbox_items.js').Row} Row */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountInbox(root, app) {
  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'inbox';
    if (root.hidden) return;
    const items = inboxItems(state);
    const keys = keysOf(items);
    if (keys.length && !keys.includes(state.inboxPick ?? '') && matchMedia('(min-width: 1021px)').matches)
      pick(keys[0]);
    const choose = (/** @type {string} */ key) =>
      matchMedia('(max-width: 1020px)').matches ? app.go({ name: 'session', id: key.split('/')[0] }) : pick(key);
    const onkeydown = (/** @type {KeyboardEvent} */ event) => arrow(event, keys);
    const starts = waitingCards(state, app);
    update(root, [
      inboxHead(items.open.length > 0),
      missingNote(state),
      starts,
      keys.length || starts ? inboxList(state, items, choose, onkeydown) : nothingHere(),
    ]);
  }

  /** @param {string} key */
  function pick(key) {
    const id = key.split('/')[0];
    app.store.set({ inboxPick: key });
    app.frames.ensure(id);
    app.live.ensure(id);
  }

  /**
   * @param {KeyboardEvent} event
   * @param {string[]} keys
   */
  function arrow(event, keys) {
    const move = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (!move) return;
    step(move, keys);
    event.preventDefault();
  }

  /**
   * @param {number} by
   * @param {string[]} keys
   */
  function step(by, keys) {
    const at = keys.indexOf(app.store.get().inboxPick ?? '');
    const next = keys[Math.max(0, Math.min(keys.length - 1, at + by))];
    if (next) pick(next);
  }

  app.store.subscribe(draw);
  return { move: (/** @type {number} */ by) => step(by, keysOf(inboxItems(app.store.get()))) };
}

/** @param {boolean} answers */
const inboxHead = (answers) =>
  h(
    'header',
    { class: 'title-bar' },
    h('h1', null, 'Inbox'),
    h(
      'span',
      { class: 'key-hint hint' },
      h('kbd', null, 'J'),
      h('kbd', null, 'K'),
      'move',
      h('kbd', null, 'O'),
      'open',
      answers && [h('kbd', null, 'A'), h('kbd', null, 'S'), h('kbd', null, 'D'), 'answer'],
    ),
  );

const nothingHere = () =>
  h(
    'div',
    { class: 'center' },
    h(
      'div',
      { class: 'empty-state' },
      icon('inbox', 28),
      h('h2', null, 'Nothing needs you.'),
      h('p', null, 'Requests from all sessions will wait here.'),
    ),
  );

/**
 * @param {State} state
 * @param {ReturnType<typeof inboxItems>} items
 * @param {(key: string) => void} choose
 * @param {(event: KeyboardEvent) => void} onkeydown
 */
function inboxList(state, { open, guards, given, stopped, finished }, choose, onkeydown) {
  const now = Date.now();
  const rows = (/** @type {Row[]} */ some) =>
    some.map((row) => rowView(row, ageOf(row, now), state.inboxPick === row.key, () => choose(row.key)));
  return h(
    'div',
    { class: 'inbox-list', id: 'inbox-list', role: 'listbox', 'aria-label': 'Inbox', tabindex: 0, onkeydown },
    section('Needs your answer', badge(open.length + guards.length), [
      ...rows(open.map((ask) => requestRow(state, ask))),
      ...rows(guards.map((guard) => guardRow(state, guard))),
    ]),
    section(
      'Answered while a machine was away',
      number(given.length),
      rows(given.map((answer) => answerRow(state, answer))),
    ),
    section('Stopped', number(stopped.length), rows(stopped.map((session) => stoppedRow(state, session)))),
    section(
      'Finished since you looked',
      number(finished.length),
      rows(finished.map((session) => finishedRow(state, session))),
    ),
  );
}

/** @param {number} n */
const number = (n) => h('span', { class: 'count' }, String(n));

/**
 * @param {string} title
 * @param {import('../../js/dom.js').Child} n
 * @param {import('../../js/dom.js').Child[]} rows
 */
const section = (title, n, rows) =>
  rows.length > 0 &&
  h(
    'div',
    { role: 'group', 'aria-label': title, 'data-key': title },
    h('p', { class: 'caption', 'aria-hidden': 'true' }, title, n),
    rows,
  );

/**
 * @param {Row} row
 * @param {string} age
 * @param {boolean} picked
 * @param {() => void} onclick
 */
const rowView = (row, age, picked, onclick) =>
  h(
    'button',
    {
      type: 'button',
      class: `inbox-row ${picked ? 'is-selected' : ''}`,
      role: 'option',
      'aria-selected': String(picked),
      'data-key': row.key,
      tabindex: -1,
      onclick,
    },
    row.tone && h('span', { class: `inbox-row__bar bar-${row.tone}` }),
    agentLetter(row.agent, true),
    h(
      'span',
      { class: 'inbox-row__text' },
      h(
        'span',
        { class: 'inbox-row__first' },
        h('b', { dir: 'auto' }, row.first),
        h('span', { class: 'session-row__age' }, age),
      ),
      row.second && h('span', { class: 'inbox-row__second', dir: 'auto' }, row.second),
      h('span', { class: 'inbox-row__third' }, isolated(row.third)),
    ),
  );
