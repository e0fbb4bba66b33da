/**
 * The card of one request. One that can't be drawn says so, with a way to deny it and to see it raw; no other suffers.
 */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { header } from './card_header.js';
import { permissionCard } from './permission.js';
import { questionCard } from './question.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenRequest} ask
 * @param {import('./requests.js').Turn} turn
 */
export function cardOf(app, state, ask, turn) {
  try {
    return ask.kind === 'question' ? questionCard(app, state, ask, turn) : permissionCard(app, state, ask, turn);
  } catch (error) {
    console.error(error);
    return unshownCard(app, state, ask, turn);
  }
}

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenRequest} ask
 * @param {import('./requests.js').Turn} turn
 */
function unshownCard(app, state, ask, turn) {
  const question = ask.kind === 'question';
  const waits = Boolean(ask.sending);
  const deny = () =>
    question
      ? turn.send(ask, {
          answers: {},
          message: 'The question could not be shown. Decide yourself and say what you chose.',
        })
      : turn.answer(ask, { decision: 'deny' });
  return h(
    'section',
    {
      class: 'request',
      role: 'dialog',
      'aria-modal': turn.modal ? 'true' : null,
      'aria-labelledby': 'ask-title',
      tabindex: -1,
      'data-key': `${ask.session_id}/${ask.request_id} unshown`,
    },
    header(app, state, ask, 'This request can’t be shown', turn),
    h('div', { class: 'guard', 'data-key': 'guard' }),
    h(
      'div',
      { class: 'request__body', 'data-key': 'body' },
      h('p', { class: 'warn' }, icon('alert', 14), 'Something in it could not be drawn, so it can’t be allowed here.'),
      h(
        'details',
        { class: 'request__raw' },
        h('summary', null, 'Show it raw'),
        h('pre', { class: 'request__command', tabindex: 0 }, rawOf(ask.asked)),
      ),
    ),
    h(
      'footer',
      { 'data-key': 'foot' },
      h(
        'button',
        { type: 'button', class: 'button danger', disabled: waits, onclick: deny },
        question ? 'Let it decide' : 'Deny',
      ),
      waits && h('span', { class: 'hint sent' }, h('span', { class: 'spin' }), ask.sending),
    ),
  );
}

/** @param {unknown} value */
export function rawOf(value) {
  try {
    return visible(JSON.stringify(value, null, 1) ?? String(value));
  } catch (error) {
    return `The raw request can’t be shown either: ${/** @type {Error} */ (error).message}`;
  }
}
