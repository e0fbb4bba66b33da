/** The page of a one-time link: shows the start that waits, and does nothing until a button is pressed. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { answerButtons, leftWords, startFacts } from './waiting_starts.js';

/** @typedef {import('../../js/types.js').WaitingStart} WaitingStart */

/** @typedef {import('../../js/types.d.ts').HttpOperations} HttpOperations */

/**
 * @template {keyof HttpOperations & `POST ${string}`} Route
 * @param {Route} route
 * @param {HttpOperations[Route]['body']} body
 * @returns {Promise<HttpOperations[Route]['answer']>}
 */
async function post(route, body) {
  const headers = { 'content-type': 'application/json' };
  const path = route.slice('POST '.length);
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), cache: 'no-store' });
  if (answer.ok) return answer.json();
  /** @type {{error?: import('../../js/types.d.ts').Fault}} */
  const refused = await answer.json();
  throw new Error(refused.error?.message ?? 'The server sent an unexpected answer.');
}

const DONE = {
  approve: ['Approved', 'The session starts.'],
  deny: ['Denied', 'Nothing was started.'],
  block: ['Blocked', 'Nothing was started, and remote starts are blocked for 24 hours.'],
};

/**
 * Over everything else, which is not connected.
 * @param {HTMLElement} behind
 * @param {string} token
 */
export async function showApproval(behind, token) {
  const card = h('section', { class: 'card waiting-card', 'aria-live': 'polite' });
  behind.inert = true;
  document.body.append(
    h('div', { class: 'approval', role: 'main' }, h('p', { class: 'mark' }, icon('logo', 36)), card),
  );
  document.title = 'Approve a session';
  const say = (/** @type {string} */ title, /** @type {string} */ text) =>
    update(card, [h('header', null, icon('shield', 18), h('h1', null, title)), h('p', null, visible(text))]);
  const trouble = (/** @type {unknown} */ error) =>
    say('This link does not work', /** @type {Error} */ (error).message);
  const decide = (/** @type {keyof typeof DONE} */ decision) =>
    void post('POST /api/starts/link/answer', { token, decision }).then(
      () => say(.../** @type {[string, string]} */ (DONE[decision])),
      trouble,
    );
  try {
    const { device, start } = await post('POST /api/starts/link', { token });
    document.title = `Allow a session on ${device}?`;
    update(card, [
      h(
        'header',
        null,
        icon('shield', 18),
        h('h1', null, `Allow a session on ${visible(device)}?`),
        h('small', null, `${leftWords(start, Date.now())} left`),
      ),
      startFacts(start),
      h('footer', null, answerButtons(decide)),
    ]);
  } catch (error) {
    trouble(error);
  }
}
