/** The buttons that answer a permission request, and the field for a reason. */

import { h } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { keyCap } from '../parts.js';
import { scopeOf } from './rule_scope.js';

/** @typedef {import('../state.js').OpenPermission} OpenPermission */
/** @typedef {import('./requests.js').Turn} Turn */
/** @typedef {import('../../js/types.d.ts').PermissionOption} Option */

/**
 * @param {OpenPermission} ask
 * @param {Turn} turn
 */
export function reasonField(ask, turn) {
  return h(
    'form',
    {
      class: 'reason',
      'data-key': 'reason',
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        turn.answer(ask, {
          decision: 'deny',
          message: event.currentTarget.querySelector('input')?.value.trim() || null,
        });
      },
    },
    h('input', {
      class: 'input grow',
      dir: 'auto',
      'aria-label': 'Reason',
      placeholder:
        ask.asked.kind === 'plan' ? 'Say what the plan should do instead' : 'Say why, so that it can do better',
      maxlength: 4000,
      value: turn.reason,
      oninput: (/** @type {On<HTMLInputElement>} */ event) => turn.onReasonTyped(event.currentTarget.value),
    }),
    ask.asked.reason_follows ? h('span', { class: 'hint' }, 'Sent as your next message.') : null,
    h('button', { class: 'button danger', type: 'submit' }, ask.asked.kind === 'plan' ? 'Send' : 'Deny'),
    h('button', { class: 'button quiet', type: 'button', onclick: () => turn.onReason(false) }, 'Cancel'),
  );
}

/**
 * Why it can't be allowed yet; null when it can.
 * @param {OpenPermission} ask
 * @param {{inert: boolean, seen: boolean}} turn
 */
export function whyBlocked(ask, turn) {
  if (turn.inert) return 'In a moment';
  if (ask.sending) return 'Sent';
  return turn.seen ? null : 'Scroll to the end first';
}

/**
 * `always`: what may be allowed for longer than this session, behind one button and without a key; or that nothing may.
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {import('../../js/dom.js').Child} always
 * @param {import('../state.js').Device} [refusing] a machine that takes one answer for one request from here
 */
export function permissionButtons(ask, turn, always, refusing) {
  const options = ask.asked.options ?? [];
  const why = whyBlocked(ask, turn);
  const plan = ask.asked.kind === 'plan';
  const scope = plan || refusing ? null : scopeOf(ask.asked);
  const lasting = options.filter((option) => option.kind === 'allow_always');
  const plans = plan && !refusing;
  const once = optionOf(options, 'allow_once');
  return h(
    'footer',
    { 'data-key': 'foot' },
    denyButtons(ask, turn, optionOf(options, 'deny')),
    ask.sending ? h('span', { class: 'hint sent' }, h('span', { class: 'spin' }), ask.sending) : null,
    h(
      'span',
      { class: 'allows' },
      plans ? lasting.map((option) => planButton(ask, turn, option, why)) : (!plan || lasting.length > 0) && always,
      scope && sessionButton(ask, turn, scope, why),
      // Without an option of its own it takes a lasting one, if that is all the agent offers.
      (once || !refusing || !lasting.length) && onceButton(ask, turn, once, why),
    ),
  );
}

/**
 * @param {Option[]} options
 * @param {string} kind
 */
const optionOf = (options, kind) => options.find((option) => option.kind === kind);

/**
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {Option | undefined} option
 */
function denyButtons(ask, turn, option) {
  const plan = ask.asked.kind === 'plan';
  const disabled = Boolean(ask.sending);
  return [
    h(
      'button',
      {
        type: 'button',
        class: `button ${plan ? 'line keep' : 'danger'}`,
        disabled,
        // A reason that stands written beside it goes along.
        onclick: () =>
          turn.answer(ask, {
            decision: 'deny',
            option: option?.option_id ?? null,
            message: (turn.asksReason && turn.reason.trim()) || null,
          }),
      },
      plan ? (option?.name ?? 'Keep planning') : 'Deny',
      keyCap('D'),
    ),
    h(
      'button',
      { type: 'button', class: 'button quiet', disabled, onclick: () => turn.onReason(true) },
      plan ? 'Say what to change' : 'Deny with a reason',
      keyCap('⇧ D'),
    ),
  ];
}

/**
 * From now on in this session, by a rule of ours that can be made exactly. Its key never means more than that.
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {NonNullable<ReturnType<typeof scopeOf>>} scope
 * @param {string | null} why not
 */
const sessionButton = (ask, turn, scope, why) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button line scope allow',
      disabled: why !== null,
      title: why ?? `${scope.verb} ${scope.what} ${scope.rest}`,
      onclick: () => turn.answer(ask, { decision: 'allow', remember: true }),
    },
    h('span', null, `${scope.verb} `, h('code', null, visible(scope.what).slice(0, 60)), ` ${scope.rest}`),
    keyCap('S'),
  );

/**
 * Another way to go ahead with a plan, in the agent's own words.
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {Option} option
 * @param {string | null} why not
 */
const planButton = (ask, turn, option, why) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button line allow',
      disabled: why !== null,
      title: why ?? visible(option.scope ?? ''),
      onclick: () => turn.answer(ask, { decision: 'allow', option: option.option_id }),
    },
    visible(option.name),
  );

/**
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {Option | undefined} option
 * @param {string | null} why not
 */
const onceButton = (ask, turn, option, why) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button is-primary allow',
      disabled: why !== null,
      title: why,
      onclick: () => turn.answer(ask, { decision: 'allow', option: option?.option_id ?? null }),
    },
    ask.asked.kind === 'plan' ? (option?.name ?? 'Approve the plan') : 'Allow once',
    keyCap('A'),
  );
