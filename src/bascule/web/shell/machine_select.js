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
    state.devices.map((device) =>
      h(
        'option',
        { value: device.device, selected: device.device === now, disabled: !device.online },
        device.online ? device.name : `${device.name} (away)`,
      ),
    ),
  );
