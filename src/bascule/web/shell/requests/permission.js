/**
 * The docked request: exactly what an agent wants, and the buttons that answer it. Drawn by the shell, outside
 * every frame. Inert for its first half second, focus never on Allow, gone because of the event, not the click.
 */

import { h } from '../../js/dom.js';
import { folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { own } from '../../js/tables.js';
import { sanitize } from '../../js/visible.js';
import { allowAlways } from '../rules/always.js';
import { deviceName } from '../machines.js';
import { ownerButton } from '../owner_note.js';
import { refusing } from '../owner_only.js';
import { agentTitle, titleOf } from '../sessions.js';
import { header } from './card_header.js';
import { exactly, hides, reasonWords } from './exactly.js';
import { permissionButtons, reasonField, whyBlocked } from './permission_buttons.js';
import { shown } from './plan.js';
import { requestTitle } from './rule_scope.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenPermission} OpenPermission */
/** @typedef {import('./requests.js').Turn} Turn */

const BUTTONS = {
  a: '.button.is-primary',
  s: '.button.scope, .button.owner-only', // the second says why there is no first
  d: 'footer > .button.danger, footer > .button.keep',
};
/**
 * @param {App} app
 * @param {State} state
 * @param {OpenPermission} ask
 * @param {Turn} turn
 */
export function permissionCard(app, state, ask, turn) {
  const session = state.sessions[ask.session_id];
  const title = requestTitle(agentTitle(state, session?.agent ?? ''), ask.asked);
  return h(
    'section',
    {
      class: `request ${turn.inert ? 'inert' : ''}`,
      role: 'dialog',
      'aria-modal': turn.modal ? 'true' : null,
      'aria-labelledby': 'ask-title',
      tabindex: -1,
      'data-key': `${ask.session_id}/${ask.request_id}`,
    },
    header(app, state, ask, title, turn),
    h('div', { class: 'guard', 'data-key': 'guard' }),
    h(
      'div',
      { class: 'request__body', 'data-key': 'body', onscroll: () => turn.onScroll() },
      h(
        'p',
        { class: 'request__context' },
        session ? `${titleOf(session)} · ${folderName(session.cwd)} · ${deviceName(state, session)}` : '',
      ),
      whatItWants(ask.asked, session?.cwd ?? '', turn),
      aboutIt(ask.asked, session?.cwd ?? ''),
    ),
    !turn.seen &&
      h('p', { class: 'request__see-all', 'data-key': 'seeall' }, icon('down', 14), 'Scroll to the end to allow it.'),
    turn.asksReason && reasonField(ask, turn),
    permissionButtons(ask, turn, longerThanOnce(app, state, ask, turn), refusing(state, session)),
  );
}

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenPermission} ask
 * @param {Turn} turn
 */
function longerThanOnce(app, state, ask, turn) {
  const device = refusing(state, state.sessions[ask.session_id]);
  if (!device) return allowAlways(app, state, ask, turn, whyBlocked(ask, turn));
  return ownerButton(device, 'Only once from here', 'an answer for more than one request');
}

/**
 * Drawn once: a request never changes, and a long one is costly to draw each second.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 * @param {string} cwd
 * @param {{built: boolean, onScroll: () => void}} turn
 */
const whatItWants = (asked, cwd, turn) =>
  h(
    'div',
    {
      class: `body ${asked.kind === 'plan' ? 'tall' : ''}`,
      tabindex: 0,
      role: 'group',
      'aria-label': 'What it wants to do',
      'data-key': 'what',
      'data-island': '',
      onscroll: () => turn.onScroll(),
    },
    turn.built ? [] : exactly(asked, cwd),
  );

/**
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 * @param {string} cwd
 */
const aboutIt = (asked, cwd) => [
  hides(asked) &&
    h('p', { class: 'warn' }, icon('alert', 14), 'It contains invisible characters. They are written out and marked.'),
  h(
    'div',
    { class: 'request__meta' },
    h('span', { title: cwd }, icon('folder', 14), h('span', { class: 'path' }, shown(cwd))),
    asked.note && h('span', { class: 'says' }, 'Agent’s note: “', h('bdi', null, shown(sanitize(asked.note))), '”'),
  ),
  h('p', { class: 'request__why' }, icon('info', 14), h('span', null, reasonWords(asked, cwd))),
];

/**
 * Was the end of everything that scrolls in sight? What is not on the screen at all was not.
 * @param {Element} root
 */
export function endInSight(root) {
  const parts = [...root.querySelectorAll('.request__body, .body')];
  return (
    parts.length > 0 &&
    parts.every((part) => part.clientHeight > 0 && part.scrollTop + part.clientHeight >= part.scrollHeight - 4)
  );
}

/**
 * Press the button a letter stands for. One that is inert stays so: a disabled button takes no click.
 * @param {HTMLElement} card
 * @param {string} letter
 * @param {{onReason: (on: boolean) => void}} turn
 * @returns {boolean} whether it stands for one
 */
export function pressLetter(card, letter, turn) {
  const selector = own(BUTTONS, letter);
  if (letter === 'D') turn.onReason(true);
  else if (selector) /** @type {HTMLButtonElement | null} */ (card.querySelector(selector))?.click();
  return letter === 'D' || Boolean(selector);
}
