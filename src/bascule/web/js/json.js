/** Reading what anybody may have made, JSON or a frame's message: its fields or its text; never a failure. Pure. */

/**
 * The fields of an object; none of anything else.
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
export const fieldsOf = (value) =>
  value && typeof value === 'object' ? /** @type {Record<string, unknown>} */ (value) : {};

/**
 * The code and the message of whatever was thrown.
 * @param {unknown} error
 * @returns {{code?: string, message: string}}
 */
export const errorOf = (error) => /** @type {{code?: string, message: string}} */ (error);

/**
 * @param {unknown} value
 * @returns {value is number}
 */
export const isWhole = (value) => Number.isSafeInteger(value);
