/** The head of a request's card: what is wanted, since when, put aside, and the others that wait. */

import { h, iconButton } from '../../js/dom.js';
import { waited } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { put } from '../../js/tables.js';
import { requestKey } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenRequest} ask
 * @param {string} title
 * @param {import('./requests.js').Turn} turn
 */
export function header(app, state, ask, title, turn) {
  const key = requestKey(ask);
  const setAside = (/** @type {boolean} */ away) => app.store.set((now) => ({ later: put(now.later, key, away) }));
  return h(
    'header',
    { 'data-key': 'head', onclick: state.later[key] ? () => setAside(false) : null },
    h('span', { class: 'seal' }, icon('logo', 18)),
    h('h2', { id: 'ask-title' }, title),
    h('span', { class: 'wait' }, `waiting ${waited(Date.now() - Date.parse(ask.opened_at))}`),
    h('span', { class: 'spacer' }),
    h(
      'button',
      {
        type: 'button',
        class: 'button quiet later',
        onclick: (/** @type {Event} */ event) => {
          event.stopPropagation();
          setAside(true);
        },
      },
      'Later',
    ),
    turn.all.length > 1 &&
      h(
        'span',
        { class: 'pager' },
        iconButton('left', 'The one before', { onclick: () => turn.onPick(-1) }),
        `${turn.at + 1} of ${turn.all.length}`,
        iconButton('right', 'The next one', { onclick: () => turn.onPick(1) }),
      ),
  );
}
