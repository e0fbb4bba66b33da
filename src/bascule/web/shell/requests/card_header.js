/** The head of a request's card: what is wanted, since when, put aside, and the others that wait. */

import { h, iconButton } from '../../js/dom.js';
import { waited } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { put } from '../../js/tables.js';
import { keyCap } from '../parts.js';
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
  const aside = Boolean(state.later[requestKey(ask)]);
  const setAside = (/** @type {boolean} */ away) => {
    app.store.set((now) => ({ later: put(now.later, requestKey(ask), away) }));
    app.store.flush();
    if (away) /** @type {HTMLElement | null} */ (document.querySelector('.request__reopen'))?.focus();
  };
  return h(
    'header',
    { 'data-key': 'head' },
    h('span', { class: 'seal' }, icon('logo', 18)),
    h('h2', { id: 'ask-title' }, aside ? reopenButton(title, () => setAside(false)) : title),
    h('span', { class: 'wait' }, `waiting ${waited(Date.now() - Date.parse(ask.opened_at))}`),
    h('span', { class: 'spacer' }),
    h('span', { class: 'request__keys' }, keyCap('Ctrl .'), 'answer by keyboard'),
    !aside &&
      h(
        'button',
        { type: 'button', class: 'button quiet later', 'aria-expanded': 'true', onclick: () => setAside(true) },
        'Later',
      ),
    turn.all.length > 1 &&
      h(
        'span',
        { class: 'pager' },
        iconButton('left', 'Previous request', { onclick: () => turn.onPick(-1) }),
        `${turn.at + 1} of ${turn.all.length}`,
        iconButton('right', 'Next request', { onclick: () => turn.onPick(1) }),
      ),
  );
}

/**
 * A request put aside on a phone is one bar, all of it this button.
 * @param {string} title
 * @param {() => void} reopen
 */
const reopenButton = (title, reopen) =>
  h('button', { type: 'button', class: 'request__reopen', 'aria-expanded': 'false', onclick: reopen }, title);
