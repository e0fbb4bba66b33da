/** Everything that waits for a person, over all sessions: requests, what stopped, what finished since they looked. */

import { h, update } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { folderName, nearPath, waited } from '../../js/format.js';
import { badge } from '../sidebar/sidebar.js';
import { icon } from '../../js/icons.js';
import { agentLetter } from '../parts.js';
import { requestWords } from './rule_scope.js';
import { requestKey, isOver, openRequests, sessionsInOrder, titleOf } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * What the inbox lists, in order.
 * @param {State} state
 */
export function inboxItems(state) {
  const open = openRequests(state);
  const rest = sessionsInOrder(state).filter(
    (one) => one.open_requests === 0 && one.seq > (state.seen[one.session_id] ?? 0),
  );
  return {
    open,
    stopped: rest.filter((one) => isOver(one) && (one.phase === 'failed' || one.end_reason !== 'closed')),
    finished: rest.filter((one) => one.phase === 'waiting' && one.turns > 0),
  };
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountInbox(root, app) {
  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'inbox';
    if (root.hidden) return;
    const { open, stopped, finished } = inboxItems(state);
    const keys = [...open.map(requestKey), ...[...stopped, ...finished].map((one) => one.session_id)];
    if (keys.length && !keys.includes(state.inboxPick ?? '') && matchMedia('(min-width: 1021px)').matches)
      pick(keys[0]);
    const now = Date.now();
    update(root, [
      h(
        'header',
        { class: 'tbar' },
        h('h1', null, 'Inbox'),
        h(
          'span',
          { class: 'hk hint' },
          h('kbd', null, 'J'),
          h('kbd', null, 'K'),
          'move',
          h('kbd', null, 'O'),
          'open',
          open.length > 0 && [h('kbd', null, 'A'), h('kbd', null, 'S'), h('kbd', null, 'D'), 'answer'],
        ),
      ),
      keys.length
        ? h(
            'div',
            {
              class: 'ilist',
              id: 'inbox-list',
              role: 'listbox',
              'aria-label': 'Inbox',
              tabindex: 0,
              onkeydown: (/** @type {KeyboardEvent} */ event) => arrow(event, keys),
            },
            section(
              'Needs your answer',
              badge(open.length),
              open.map((ask) => {
                const session = state.sessions[ask.session_id];
                const [what, about] = wordsOf(ask, session?.cwd ?? '');
                return row(
                  state,
                  requestKey(ask),
                  'blocked',
                  session?.agent ?? '',
                  what,
                  waited(now - Date.parse(ask.opened_at)),
                  about,
                  session ? `${folderName(session.cwd)} · ${titleOf(session)}` : '',
                );
              }),
            ),
            section(
              'Stopped',
              h('span', { class: 'n' }, String(stopped.length)),
              stopped.map((one) =>
                row(
                  state,
                  one.session_id,
                  'failed',
                  one.agent,
                  one.phase !== 'failed' ? 'Stopped by itself' : one.turns > 0 ? 'Did not come back' : 'Did not start',
                  waited(now - Date.parse(one.updated_at)),
                  visible(one.end_message ?? one.end_reason ?? ''),
                  `${folderName(one.cwd)} · ${titleOf(one)}`,
                ),
              ),
            ),
            section(
              'Finished since you looked',
              h('span', { class: 'n' }, String(finished.length)),
              finished.map((one) =>
                row(
                  state,
                  one.session_id,
                  '',
                  one.agent,
                  titleOf(one),
                  waited(now - Date.parse(one.updated_at)),
                  '',
                  `${folderName(one.cwd)}${one.cost_usd ? ` · $${one.cost_usd.toFixed(2)}` : ''}`,
                ),
              ),
            ),
          )
        : h(
            'div',
            { class: 'center' },
            h(
              'div',
              { class: 'emptyt' },
              icon('inbox', 28),
              h('h2', null, 'Nothing needs you.'),
              h('p', null, 'Requests from all sessions will wait here.'),
            ),
          ),
    ]);
  }

  /**
   * @param {string} title
   * @param {any} n
   * @param {any[]} rows
   */
  const section = (title, n, rows) =>
    rows.length > 0 &&
    h(
      'div',
      { role: 'group', 'aria-label': title, 'data-key': title },
      h('p', { class: 'cap', 'aria-hidden': 'true' }, title, n),
      rows,
    );

  /**
   * @param {State} state
   * @param {string} key
   * @param {string} tone
   * @param {string} agent
   * @param {string} first
   * @param {string} time
   * @param {any} second
   * @param {string} third
   */
  const row = (state, key, tone, agent, first, time, second, third) =>
    h(
      'button',
      {
        type: 'button',
        class: `irow ${state.inboxPick === key ? 'sel' : ''}`,
        role: 'option',
        'aria-selected': String(state.inboxPick === key),
        'data-key': key,
        tabindex: -1,
        onclick: () =>
          matchMedia('(max-width: 1020px)').matches ? app.go({ name: 'session', id: key.split('/')[0] }) : pick(key),
      },
      tone && h('span', { class: `bar bar-${tone}` }),
      agentLetter(agent, true),
      h(
        'span',
        { class: 'ic' },
        h('span', { class: 'l1' }, h('b', null, first), h('span', { class: 'age' }, time)),
        second && h('span', { class: 'l2' }, second),
        h('span', { class: 'l3' }, third),
      ),
    );

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
    if (move) {
      step(move, keys);
      event.preventDefault();
    }
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

  // Letters answer the request in view, as they do with the focus in it; it is inert for a moment all the same.
  addEventListener('keydown', (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    if (root.hidden || !'asdD'.includes(event.key) || event.repeat || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (target.closest('input, textarea, select, .ask, [role=menu], [role=dialog], .pal')) return;
    const ask = document.querySelector('#requests .ask');
    if (
      !ask ||
      !(ask instanceof HTMLElement) ||
      !ask.offsetParent ||
      !openRequests(app.store.get()).some((one) => requestKey(one) === app.store.get().inboxPick)
    )
      return;
    event.preventDefault();
    app.events.emit('requestLetter', event.key);
  });

  app.store.subscribe(draw);
  return {
    /** @param {number} by */
    move(by) {
      const { open, stopped, finished } = inboxItems(app.store.get());
      step(by, [...open.map(requestKey), ...[...stopped, ...finished].map((one) => one.session_id)]);
    },
  };
}

/**
 * What a row says of a request; one that can't be told of keeps its row.
 * @param {import('../state.js').OpenRequest} ask
 * @param {string} cwd
 * @returns {[string, any]}
 */
function wordsOf(ask, cwd) {
  try {
    const what =
      ask.kind === 'question'
        ? ask.asked.questions.length === 1
          ? 'A question'
          : `${ask.asked.questions.length} questions`
        : requestWords(ask.asked);
    return [what, subject(ask, cwd)];
  } catch (error) {
    console.error(error);
    return ['A request that can’t be shown', ''];
  }
}

/**
 * @param {import('../state.js').OpenRequest} ask
 * @param {string} cwd
 */
function subject(ask, cwd) {
  if (ask.kind === 'question') return visible(ask.asked.questions[0]?.question ?? '');
  const input = ask.asked.input ?? {};
  if (typeof input.command === 'string') return h('code', null, visible(input.command));
  const path = input.file_path ?? input.path;
  return h('code', null, visible(typeof path === 'string' ? nearPath(path, cwd) : ask.asked.title));
}
