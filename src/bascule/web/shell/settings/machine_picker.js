/** Which machine a part of the settings is about, once there are several. */

import { h } from '../../js/dom.js';
import { machineSelect } from '../machine_select.js';
import { deviceById, hereId, onDevice, several, usualDevice } from '../machines.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */

/**
 * The one that was chosen while it is there, else the usual one.
 * @param {Context} context
 * @param {State} state
 */
export function pickedDevice({ loaded }, state) {
  const chosen = deviceById(state, loaded.machine);
  return chosen?.online ? chosen : usualDevice(state);
}

/**
 * What a call about that machine needs besides its own fields.
 * @param {Context} context
 */
export function where(context) {
  const state = context.app.store.get();
  return onDevice(state, pickedDevice(context, state)?.device);
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function isHere(context, state) {
  const device = pickedDevice(context, state)?.device;
  return !several(state) || !hereId(state) || device === hereId(state);
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function machinePicker(context, state) {
  if (!several(state)) return null;
  const choose = (/** @type {string} */ device) => {
    context.loaded.machine = device;
    context.reload();
  };
  return h(
    'label',
    { class: 'machine-field', 'data-key': 'machine' },
    h('span', null, 'On'),
    machineSelect(state, pickedDevice(context, state)?.device ?? '', choose),
  );
}
