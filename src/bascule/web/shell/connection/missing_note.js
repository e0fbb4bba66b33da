/** Above a list of things from all machines: which of them did not tell theirs yet. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { missingWords } from '../machines.js';

/** @param {import('../state.js').State} state */
export function missingNote(state) {
  const words = missingWords(state);
  return words && missingLine(words);
}

/** @param {string} words */
export const missingLine = (words) =>
  h('p', { class: 'missing-note', role: 'status', 'data-key': 'missing' }, icon('off', 14), h('span', null, words));
