/** Of a machine in the settings: what starts from elsewhere need there, and whether it trusts this browser. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { mayApprove } from '../start/waiting_starts.js';
import { dropKey, keepKey, trustedDevices } from '../start/trusted_keys.js';
import { begin } from '../parts.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Device} Device */

/** @type {Record<string, string>} */
const WORDS = {
  notify_only: 'announced there',
  local_confirm: 'need approval there',
  oob_confirm: 'need approval there, or by a message to its owner',
  trusted_browsers: 'only from browsers it trusts',
  auto: 'start at once',
};

/** @param {Device} device */
export function approvalWords({ starts }) {
  if (starts?.blockedUntil) {
    const until = new Date(starts.blockedUntil * 1000);
    return `blocked until ${until.toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })}`;
  }
  return WORDS[starts?.approval ?? ''] ?? '';
}

/** @param {Context} context */
export async function loadTrust({ loaded, again }) {
  loaded.trusted = await trustedDevices().catch(() => []); // a private window keeps nothing
  again();
}

/**
 * @param {Context} context
 * @param {State} state
 * @param {Device} device
 */
export function trustActions(context, state, device) {
  const { app, loaded, again } = context;
  const knows = (loaded.trusted ?? []).includes(device.device);
  const open = () => {
    loaded.trusting = { device: device.device, code: '', problem: '' };
    again();
    begin('.trust-form input');
  };
  const drop = () => void dropKey(device.device).then(() => loadTrust(context), app.trouble);
  const unblock = () => void app.api.blockStarts(false).catch(app.trouble);
  return [
    device.starts?.approval &&
      (knows ? button('shield', 'Stop signing starts', drop) : button('shield', 'Trust this browser', open)),
    device.starts?.blockedUntil && mayApprove(state, device) && button('play', 'Accept starts again', unblock),
  ];
}

/**
 * @param {Context} context
 * @param {Device} device
 */
export function trustForm(context, device) {
  const { app, loaded, again } = context;
  const { trusting } = loaded;
  if (trusting?.device !== device.device) return null;
  const close = () => {
    loaded.trusting = null;
    again();
  };
  const save = async (/** @type {string} */ typed) => {
    try {
      await keepKey(device.device, typed);
      close();
      await loadTrust(context);
      app.note(`This browser signs its starts on ${device.name} now.`);
    } catch (error) {
      loaded.trusting = { ...trusting, code: typed, problem: /** @type {Error} */ (error).message };
      again();
    }
  };
  return h(
    'form',
    {
      class: 'trust-form',
      'data-key': 'trust',
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        void save(event.currentTarget.querySelector('input')?.value ?? '');
      },
    },
    h(
      'p',
      { class: 'hint' },
      `Run this on ${device.name}, and enter the code it shows. The code stays in this browser.`,
    ),
    h('p', { class: 'command-line' }, h('code', null, 'bascule trust generate --browser NAME')),
    h(
      'div',
      { class: 'trust-form__row' },
      h('input', {
        class: 'input mono',
        'aria-label': `Code that ${device.name} shows`,
        placeholder: 'XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-X',
        value: trusting.code,
        maxlength: 60,
        autocomplete: 'off',
        spellcheck: 'false',
      }),
      h('button', { type: 'submit', class: 'button is-primary' }, 'Trust this browser'),
      h('button', { type: 'button', class: 'button quiet', onclick: close }, 'Cancel'),
    ),
    trusting.problem && h('p', { class: 'error-message', role: 'alert' }, icon('alert', 14), trusting.problem),
  );
}

/**
 * @param {string} mark
 * @param {string} label
 * @param {() => void} onclick
 */
const button = (mark, label, onclick) =>
  h('button', { type: 'button', class: 'button quiet', 'data-key': label, onclick }, icon(mark, 14), label);
