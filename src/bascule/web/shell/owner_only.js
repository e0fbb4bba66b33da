/**
 * What a machine takes from its own person only: all that lets agents do more without asking. Another machine’s hub is
 * refused it, so its page offers none of it and says where it can be done. Pure.
 */

import { visible } from '../js/visible.js';
import { deviceOf } from './machines.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Device} Device */
/** @typedef {import('./state.js').AgentInfo} AgentInfo */
/** @typedef {import('./machines.js').Placed} Placed */

export const LET_HUB = 'bascule daemon hub-may-widen yes';
const ALLOWING = new Set(['auto', 'auto_read']); // of our own modes
const CONFIRMS = new Set(['local_confirm', 'oob_confirm']);

/**
 * The machine that refuses this page what would widen; undefined when it may.
 * @param {State} state
 * @param {Placed | undefined} placed a session, a project
 */
export function refusing(state, placed) {
  const device = placed && deviceOf(state, placed);
  return device?.ownerOnly ? device : undefined;
}

/**
 * In a menu, below what can’t be chosen.
 * @param {Device} device
 */
export const onlyThere = ({ name }) => `only on ${visible(name)} itself: it does not take this from here`;

/**
 * The whole of it, with what to do.
 * @param {Device} device
 * @param {string} what
 */
export function onlyThereWords(device, what) {
  const name = visible(device.name);
  return (
    `${name} takes ${what} only on ${name} itself: in its own page, or with bascule there. If this hub is as much ` +
    `yours as ${name} is, let it, with this on ${name}:`
  );
}

/** @param {string} mode */
export const allowsByItself = (mode) => ALLOWING.has(mode);

/**
 * Whether an agent asks in a mode of its own, as its machine says.
 * @param {AgentInfo | undefined} agent
 * @param {string} mode
 */
export const asksIn = (agent, mode) => agent?.asking_modes?.includes(mode) ?? false;

/**
 * How a start’s requests are answered: a mode that its machine would refuse asks instead.
 * @template {string} Mode
 * @param {Mode} mode
 * @param {Device | undefined} refuses
 * @returns {Mode | 'relay'}
 */
export const startMode = (mode, refuses) => (refuses && allowsByItself(mode) ? 'relay' : mode);

/**
 * The machine that would refuse a start in a mode that allows. Where its person approves each start, or this browser
 * signs its own, they see or say how it is to run.
 * @param {Device | undefined} device
 * @param {boolean} signs whether this browser’s starts there are signed
 */
export function refusingStart(device, signs) {
  if (!device?.ownerOnly || signs || CONFIRMS.has(device.starts?.approval ?? '')) return undefined;
  return device;
}
