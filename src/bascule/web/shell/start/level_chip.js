/** How much of the machine the new session may reach: one of the levels its owner allows. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { LEVELS, levelName } from '../capability.js';
import { menu } from '../parts.js';

/**
 * The level that a start comes to: what was chosen, if it can be had there, else the highest.
 * @param {import('../state.js').Device | undefined} device
 * @param {string} chosen
 */
export function levelOf(device, chosen) {
  const offered = device?.levels ?? ['full'];
  return offered.find((level) => level === chosen) ?? offered.at(-1) ?? 'full';
}

/**
 * @param {import('../state.js').Device | undefined} device
 * @param {string} chosen
 * @param {(level: string) => void} choose
 */
export function levelChip(device, chosen, choose) {
  const offered = device?.levels ?? ['full'];
  const level = levelOf(device, chosen);
  const label = [icon('lock', 14), levelName(level)];
  if (offered.length < 2) return h('span', { class: 'chip k-level', 'data-key': 'level' }, label);
  return h(
    'button',
    {
      type: 'button',
      class: 'chip k-level',
      'data-key': 'level',
      'aria-haspopup': 'menu',
      title: LEVELS[level]?.note ?? '',
      onclick: (/** @type {On} */ event) =>
        menu(
          event.currentTarget,
          offered.map((one) => ({
            label: levelName(one),
            note: LEVELS[one]?.note ?? '',
            on: one === level,
            run: () => choose(one),
          })),
        ),
    },
    h('span', { class: 'spoken' }, 'May reach: '),
    label,
    h('span', { class: 'chip__caret' }, icon('down', 12)),
  );
}
