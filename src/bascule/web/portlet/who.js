/** Who did something, as the reader would say it. */

import { sanitize } from '../js/visible.js';

/** The names this reader has, or had. @type {Set<string>} */
let mine = new Set();

/** @param {unknown} names */
export function setMine(names) {
  mine = new Set(Array.isArray(names) ? names : []);
}

/** @param {string | null | undefined} by */
export const who = (by) => (by && mine.has(by) ? 'You' : sanitize(by ?? ''));

/**
 * Within a sentence.
 * @param {string | null | undefined} by
 */
export const whom = (by) => (by && mine.has(by) ? 'you' : sanitize(by ?? ''));
