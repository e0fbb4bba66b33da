/** That the server’s database is an older copy: what came again, what is gone, and what to look at. */

import { count, moment } from '../../js/format.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').Restored} Restored */

/**
 * The restore that nobody has read of in this browser.
 * @param {State} state
 * @returns {Restored | null}
 */
export function unreadRestore({ me, restoredSeen }) {
  const restored = me?.restored;
  return restored && markOf(restored) !== restoredSeen ? restored : null;
}

/**
 * It is said again when another machine has sent something again.
 * @param {Restored} restored
 */
export const markOf = ({ at, machines = [] }) => [at, ...machines.map((machine) => machine.device)].join(' ');

/**
 * @param {Restored} restored
 * @returns {[string, string]}
 */
export function restoredWords({ backupAt, machines = [] }) {
  if (backupAt)
    return [
      `This server was restored from a backup of ${moment(backupAt, Date.now())}. `,
      'What was made after it is not here. Links made before then no longer work, and machines have to join again.',
    ];
  const again = machines
    .map((machine) => `${visible(machine.name)} sent ${count(machine.rows, 'event')} again. `)
    .join('');
  return [
    'An older copy of this server’s database was put back. ',
    `${again}Links, projects and rules made after that copy are gone; links that were revoked stay revoked.`,
  ];
}
