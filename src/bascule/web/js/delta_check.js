/** Checks a document from the editor's frame or this browser's storage before anything uses it. Pure. */

import { fieldsOf } from './json.js';

/** @typedef {import('./types.d.ts').Delta} Delta */
/** @typedef {import('./types.d.ts').DeltaOp} DeltaOp */

const MAX_OPS = 50_000;
const MAX_TEXT = 1_048_576;
const MAX_VALUE = 4096;

/** A document without text. @type {Delta} */
export const EMPTY = { ops: [{ insert: '\n' }] };

/**
 * The document, made anew of what is allowed in one; null for anything else.
 * @param {unknown} value
 * @returns {Delta | null}
 */
export function checkedDelta(value) {
  const { ops: given } = fieldsOf(value);
  if (!Array.isArray(given) || given.length > MAX_OPS) return null;
  let length = 0;
  /** @type {DeltaOp[]} */
  const ops = [];
  for (const op of given) {
    const made = checkedOp(op);
    if (!made) return null;
    length += typeof made.insert === 'string' ? made.insert.length : 1;
    if (length > MAX_TEXT) return null;
    ops.push(made);
  }
  return { ops: ops.length ? ops : EMPTY.ops };
}

/**
 * @param {unknown} value
 * @returns {DeltaOp | null}
 */
function checkedOp(value) {
  const op = fieldsOf(value);
  const insert = typeof op.insert === 'string' ? op.insert : embed(op.insert);
  if (!insert || Object.keys(op).some((name) => name !== 'insert' && name !== 'attributes')) return null;
  if (op.attributes === undefined) return { insert };
  const attributes = Object.entries(Object(op.attributes));
  if (!attributes.every(([, one]) => isPlain(one))) return null;
  return { insert, attributes: Object.fromEntries(attributes) };
}

/** @param {unknown} value */
function embed(value) {
  if (!value || typeof value !== 'object' || Array.isArray(value)) return null;
  const parts = Object.entries(value);
  const short = parts.every(([, one]) => typeof one === 'string' && one.length <= MAX_VALUE);
  return short ? Object.fromEntries(parts) : null;
}

/** @param {unknown} value */
const isPlain = (value) =>
  value === null ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value)) ||
  (typeof value === 'string' && value.length <= MAX_VALUE);

/**
 * A document of unformatted text.
 * @param {string} text
 * @returns {Delta}
 */
export const plainDelta = (text) => ({ ops: [{ insert: text.endsWith('\n') ? text : `${text}\n` }] });
