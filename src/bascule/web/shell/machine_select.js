/** A field to choose one of several machines. One that is away can’t be chosen. */

import { h } from '../js/dom.js';

/**
 * @param {import('./state.js').State} state
 * @param {string} now
 * @param {(device: string) => void} choose
 */
export const machineSelect = (state, now, choose) =>
  h(
    'select',
    {
      class: 'input',
      'aria-label': 'Machine',
      onchange: (/** @type {On<HTMLSelectElement>} */ event) => choose(event.currentTarget.value),
    },
    state.devices.map((one) =>
      h(
        'option',
        { value: one.device, selected: one.device === now, disabled: !one.online },
        one.online ? one.name : `${one.name} (away)`,
      ),
    ),
  );
