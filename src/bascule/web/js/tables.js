/**
 * Tables keyed by words of others: without a prototype, so that `constructor` or `__proto__` is a key like any. Pure.
 */

/**
 * @template V
 * @param {Record<string, V>} [from]
 * @returns {Record<string, V>}
 */
export const table = (from = {}) => Object.assign(Object.create(null), from);

/**
 * @template V
 * @param {Iterable<readonly [string, V]>} pairs
 * @returns {Record<string, V>}
 */
export function tableOf(pairs) {
  const made = /** @type {Record<string, V>} */ (table());
  for (const [key, value] of pairs) made[key] = value;
  return made;
}

/**
 * A copy in which one key has another value.
 * @template V
 * @param {Record<string, V>} before
 * @param {string} key
 * @param {V} value
 */
export function put(before, key, value) {
  const after = table(before);
  after[key] = value;
  return after;
}

/**
 * A copy without one key.
 * @template V
 * @param {Record<string, V>} before
 * @param {string} key
 */
export function without(before, key) {
  const after = table(before);
  delete after[key];
  return after;
}

/**
 * What stands under a key of an object that came from elsewhere; what it inherits does not count.
 * @template V
 * @param {Record<string, V> | null | undefined} from
 * @param {string} key
 * @returns {V | undefined}
 */
export const own = (from, key) => (from && Object.hasOwn(from, key) ? from[key] : undefined);
