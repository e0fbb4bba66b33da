/** Settings, Machines: those that ask to join, those that have, and how to add one. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { isNear } from '../../js/format.js';
import { loadPairings } from '../connecting.js';
import { onDevice } from '../machines.js';
import { loadTrust } from './browser_trust.js';
import { machineCard } from './machine_card.js';
import { pairingCards } from './join_requests.js';
import { partHead, problem } from './parts.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */

/** @param {Context} context */
export async function loadMachines(context) {
  const { app, loaded, again } = context;
  const limitsOf = (loaded.limitsOf ??= {});
  void loadTrust(context);
  void loadPairings(app.store, app.api);
  const state = app.store.get();
  for (const { device, online } of state.devices)
    if (online)
      app.api.settings(onDevice(state, device)).then(
        (settings) => {
          limitsOf[device] = settings.limits;
          again();
        },
        () => undefined, // an older machine does not tell: its card leaves the limits out
      );
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function machinesPart(context, state) {
  const owner = !state.me || state.me.role === 'owner';
  return [
    partHead('Machines', 'Computers whose agents you use from here. Each keeps its own files, agents and limits.'),
    problem(context.loaded.problem),
    owner && pairingCards(context, state),
    state.devices.map((device) => machineCard(context, state, device, owner)),
    owner && addCard(context),
  ].flat();
}

/** @param {Context} context */
function addCard({ app }) {
  const near = isNear(location.hostname);
  const command = `bascule daemon join ${near ? 'https://THIS-SERVER' : location.origin}`;
  return h(
    'section',
    { class: 'card settings-card add-machine', 'data-key': 'add', 'aria-labelledby': 'add-machine' },
    h('h3', { id: 'add-machine' }, 'Add a machine'),
    h(
      'ol',
      { class: 'numbered' },
      h('li', null, 'Install Bascule there.'),
      h(
        'li',
        null,
        'Run this there. It shows a code and waits for you:',
        h(
          'div',
          { class: 'input mono copy-line' },
          h('span', { title: command }, command),
          copyButton('Copy the command', () => app.copy(command)),
        ),
        near &&
          h(
            'small',
            null,
            'This page’s address works on this machine only. Use the address at which the other ' + 'one can reach it.',
          ),
      ),
      h('li', null, 'It appears here. Compare the code, then allow it.'),
    ),
  );
}
