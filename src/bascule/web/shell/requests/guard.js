/** What a guard rail asks: a cap on spending is reached, or the agent goes in circles. Go on, or end. */

import { h, prefilled, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { ownerNote } from '../owner_note.js';
import { refusing } from '../owner_only.js';
import { titleOf } from '../sessions.js';
import { shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */
/** @typedef {import('../../js/types.d.ts').GuardAsked} Guard */

/** @param {State} state */
export const guarded = (state) => Object.values(state.sessions).filter((session) => session.guard && !session.archived);

/** @param {Guard} guard */
export const guardTitle = (guard) => (guard.kind === 'loop' ? 'Going in circles' : 'Limit reached');

/** @param {Guard} guard */
const isMoney = (guard) => guard.kind.endsWith('cents');

/**
 * Twice what is allowed now, and always above what is spent; in the unit of the field.
 * @param {Guard} guard
 */
function suggested(guard) {
  const { allowed = 0, spent = 0 } = guard;
  const next = Math.max(allowed * 2, spent + allowed);
  return isMoney(guard) ? (next / 100).toFixed(2) : String(next);
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountGuard(root, app) {
  app.store.subscribe((state) => {
    const id = shownSession(state);
    const session = id ? state.sessions[id] : undefined;
    update(root, session?.guard ? [guardCard(app, state, session, session.guard)] : []);
  });
}

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 * @param {Guard} guard
 */
function guardCard(app, state, session, guard) {
  const owner = state.me?.role === 'owner';
  const refuses = guard.kind === 'loop' ? undefined : refusing(state, session);
  const goesOn = owner && !refuses;
  const id = session.session_id;
  const end = () => {
    const ending = owner ? app.api.guard(id, { guardId: guard.guard_id, decision: 'end' }) : app.api.end(id);
    ending.catch(app.trouble);
  };
  return h(
    'form',
    {
      class: 'card guard-card',
      'data-key': guard.guard_id,
      'aria-label': `${guardTitle(guard)}: ${titleOf(session)}`,
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        goOn(app, id, guard, event.currentTarget);
      },
    },
    h('h3', null, icon('shield', 16), guardTitle(guard)),
    h('p', null, guard.text),
    owner && refuses ? ownerNote(refuses, 'a higher limit') : h('p', { class: 'hint' }, guardHint(guard, owner)),
    h(
      'footer',
      null,
      goesOn && guard.kind !== 'loop' && raiseField(guard),
      h('span', { class: 'spacer' }),
      state.me?.role !== 'viewer' &&
        h('button', { type: 'button', class: 'button danger', 'data-key': 'end', onclick: end }, 'End the session'),
      goesOn &&
        h(
          'button',
          { type: 'submit', class: 'button is-primary', 'data-key': 'go-on' },
          guard.kind === 'loop' ? 'Let it continue' : 'Raise and continue',
        ),
    ),
  );
}

/**
 * @param {Guard} guard
 * @param {boolean} owner
 */
function guardHint(guard, owner) {
  if (!owner) return 'Only an owner can let it continue. You can end the session.';
  if (guard.kind === 'loop') return 'The agent was stopped. If it continues, it is asked to try something else.';
  return 'The agent was stopped. A raise holds for this session only; the limit for all is in Settings.';
}

/** @param {Guard} guard */
const raiseField = (guard) =>
  h(
    'label',
    null,
    isMoney(guard) ? 'Raise to $' : 'Raise to ',
    prefilled(
      h('input', {
        class: 'input guard-card__value',
        name: 'allowed',
        type: 'number',
        min: 0,
        step: isMoney(guard) ? '0.01' : '1',
        required: true,
      }),
      suggested(guard),
    ),
    !isMoney(guard) && ' tokens',
  );

/**
 * @param {App} app
 * @param {string} id
 * @param {Guard} guard
 * @param {HTMLFormElement} form
 */
function goOn(app, id, guard, form) {
  const typed = Number(new FormData(form).get('allowed'));
  const most = Math.max(1, Math.round(isMoney(guard) ? typed * 100 : typed));
  const allowed = guard.kind === 'loop' ? {} : { allowed: most };
  app.api.guard(id, { guardId: guard.guard_id, decision: 'go_on', ...allowed }).catch(app.trouble);
}
