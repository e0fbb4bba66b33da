/** A machine that asks to join: who says so, from where, and the code that its owner compares before an answer. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { loadPairings } from '../connecting.js';
import { waitingPairings } from '../machines.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Pairing} Pairing */

/**
 * @param {Context} context
 * @param {State} state
 */
export const pairingCards = (context, state) =>
  waitingPairings(state).map((pairing) => pairingCard(context, state, pairing));

/**
 * @param {Context} context
 * @param {State} state
 * @param {Pairing} pairing
 */
function pairingCard(context, state, pairing) {
  const name = visible(pairing.name);
  const busy = context.loaded.answering === pairing.id;
  const agents = pairing.agents.map((agent) => visible(agent)).join(', ');
  return h(
    'section',
    { class: 'card pairing', 'data-key': `pairing ${pairing.id}`, 'aria-label': `${name} asks to join` },
    h(
      'header',
      null,
      icon('device', 18),
      h('h3', null, `${name} asks to join`),
      h('span', { class: 'spacer' }),
      h('small', null, endsWords((pairing.ends - Date.now()) / 1000)),
    ),
    h(
      'div',
      { class: 'pairing__body' },
      h(
        'div',
        { class: 'pairing__code' },
        h('small', null, 'Its terminal must show this code'),
        h('output', { class: 'mono', 'aria-label': `Code ${spelled(pairing.code)}` }, pairing.code),
      ),
      h(
        'dl',
        { class: 'facts' },
        fact('User', visible(pairing.user)),
        fact('Address', visible(pairing.address)),
        fact('Bascule', visible(pairing.version)),
        agents && fact('Agents', agents),
      ),
    ),
    !pairing.known && replacesChoice(context, state, pairing),
    pairing.known &&
      h(
        'p',
        { class: 'hint' },
        'A machine with this identity has already joined. If you allow this, its key is replaced.',
      ),
    h(
      'p',
      null,
      `Allow it only if you have just run the command on ${name}, and the codes are the same. From then on ` +
        'agents can be started there from this page.',
    ),
    h(
      'footer',
      null,
      h('span', { class: 'spacer' }),
      h(
        'button',
        { type: 'button', class: 'button line', disabled: busy, onclick: () => void answer(context, pairing, false) },
        'Deny',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'button is-primary',
          disabled: busy,
          onclick: () => void answer(context, pairing, true),
        },
        'The codes match, allow',
      ),
    ),
  );
}

/**
 * A machine that was installed anew has another identity: its owner says which one it was.
 * @param {Context} context
 * @param {State} state
 * @param {Pairing} pairing
 */
function replacesChoice({ loaded }, state, pairing) {
  const away = state.devices.filter((device) => device.state === 'away');
  if (!away.length) return null;
  /** @param {Event} event */
  const choose = (event) => {
    loaded.replaces = { [pairing.id]: /** @type {HTMLSelectElement} */ (event.target).value };
  };
  return h(
    'label',
    { class: 'pairing__replaces' },
    'It is ',
    h(
      'select',
      { class: 'input', onchange: choose },
      h('option', { value: '' }, 'another machine'),
      away.map((device) => h('option', { value: device.device }, `${visible(device.name)}, reinstalled`)),
    ),
  );
}

/**
 * @param {string} name
 * @param {string} value
 */
const fact = (name, value) => h('div', { 'data-key': name }, h('dt', null, name), h('dd', null, value));

/** @param {string} code */
const spelled = (code) => code.split('').join(' ');

/** @param {number} seconds */
const endsWords = (seconds) =>
  seconds < 60 ? 'ends in less than a minute' : `ends in ${Math.round(seconds / 60)} min`;

/**
 * @param {Context} context
 * @param {Pairing} pairing
 * @param {boolean} allow
 */
async function answer({ app, loaded, again }, pairing, allow) {
  const name = visible(pairing.name);
  loaded.answering = pairing.id;
  again();
  try {
    await app.api.answerPairing(pairing, allow, loaded.replaces?.[pairing.id]);
    app.note(allow ? `${name} may join. It will connect on its own.` : `${name} was not let in.`);
    app.store.set(({ pairings }) => ({ pairings: pairings.filter((other) => other.id !== pairing.id) }));
  } catch (error) {
    app.trouble(error);
    void loadPairings(app.store, app.api);
  }
  loaded.answering = '';
  again();
}
