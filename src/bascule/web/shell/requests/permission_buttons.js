/** The buttons that answer a permission request, and the field for a reason. */

import { h, iconButton } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { keyCap, menu } from '../parts.js';
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
      'aria-label': 'Reason',
      placeholder:
        ask.asked.kind === 'plan' ? 'Say what the plan should do instead' : 'Say why, so that it can do better',
      maxlength: 4000,
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
 * @param {OpenPermission} ask
 * @param {Turn} turn
 */
export function permissionButtons(ask, turn) {
  const options = ask.asked.options ?? [];
  const why = whyBlocked(ask, turn);
  const always = options.filter((one) => one.kind === 'allow_always');
  const scope = scopeOf(ask.asked);
  return h(
    'footer',
    { 'data-key': 'foot' },
    denyButtons(ask, turn, optionOf(options, 'deny')),
    ask.sending ? h('span', { class: 'hint sent' }, h('span', { class: 'spin' }), ask.sending) : null,
    h(
      'span',
      { class: 'allows' },
      (scope || always.length > 0) && sessionButton(ask, turn, scope, always[0], why),
      scope && always.length > 0 && agentRules(ask, turn, always, why),
      onceButton(ask, turn, optionOf(options, 'allow_once'), why),
    ),
  );
}

/**
 * @param {Option[]} options
 * @param {string} kind
 */
const optionOf = (options, kind) => options.find((one) => one.kind === kind);

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
        class: 'button danger',
        disabled,
        onclick: () => turn.answer(ask, { decision: 'deny', option: option?.option_id ?? null }),
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
 * From now on in this session: by a rule of ours where one can be made exactly, else by the agent's own.
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {ReturnType<typeof scopeOf>} scope
 * @param {Option | undefined} option
 * @param {string | null} why not
 */
const sessionButton = (ask, turn, scope, option, why) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button line scope allow',
      disabled: why !== null,
      title: why ?? (scope ? `${scope.verb} ${scope.what} ${scope.rest}` : option?.scope),
      onclick: () =>
        turn.answer(ask, { decision: 'allow', ...(scope ? { remember: true } : { option: option?.option_id }) }),
    },
    scope
      ? h('span', null, `${scope.verb} `, h('code', null, visible(scope.what).slice(0, 60)), ` ${scope.rest}`)
      : h('span', null, option?.name),
    keyCap('S'),
  );

/**
 * @param {OpenPermission} ask
 * @param {Turn} turn
 * @param {Option[]} always
 * @param {string | null} why not
 */
const agentRules = (ask, turn, always, why) =>
  iconButton('more', 'The agent’s own rules', {
    disabled: why !== null,
    'aria-haspopup': 'menu',
    onclick: (/** @type {On} */ event) =>
      menu(event.currentTarget, [
        { title: 'The agent’s own rules' },
        ...always.map((one) => ({
          label: visible(one.name),
          note: visible(one.scope ?? ''),
          run: () => turn.answer(ask, { decision: 'allow', option: one.option_id }),
        })),
      ]),
  });

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
