/** How rules are spoken of: the three answers, and sentences that hold code. */

import { h } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { table } from '../../js/tables.js';

export const ANSWERS = /** @type {const} */ ([
  ['allow', 'Allow'],
  ['ask', 'Ask'],
  ['deny', 'Deny'],
]);
const TONES = table({ allow: 'is-allowed', deny: 'is-denied', ask: 'is-asked' });

/**
 * A sentence of the server's, with what stands in backquotes as code.
 * @param {string} text
 */
export const coded = (text) =>
  visible(text)
    .split('`')
    .map((piece, n) => (n % 2 ? h('code', null, piece) : piece));

/** @param {string} answer */
export const answerBadge = (answer) =>
  h(
    'span',
    { class: `verdict-mark ${TONES[answer] ?? ''}` },
    ANSWERS.find(([value]) => value === answer)?.[1] ?? answer,
  );
