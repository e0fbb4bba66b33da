/** Keys of the phone's key bar, as bytes a program reads. Pure. */

const ARROWS = new Map([
  ['Up', 'A'],
  ['Down', 'B'],
  ['Right', 'C'],
  ['Left', 'D'],
]);
const PLAIN = new Map([
  ['Esc', '\x1b'],
  ['Tab', '\t'],
  ['^C', '\x03'],
  ['|', '|'],
  ['/', '/'],
  ['-', '-'],
  ['~', '~'],
]);

/**
 * @param {string} key as the bar names it
 * @param {boolean} application whether the program asked for the other form of the arrows
 * @returns {string}
 */
export function pressed(key, application) {
  if (ARROWS.has(key)) return `\x1b${application ? 'O' : '['}${ARROWS.get(key)}`;
  return PLAIN.get(key) ?? '';
}

/**
 * What Ctrl makes of one typed character; anything else is left as it is.
 * @param {string} data
 */
export function withControl(data) {
  if (data.length !== 1) return data;
  const code = data.toUpperCase().charCodeAt(0);
  if (code >= 0x40 && code <= 0x5f) return String.fromCharCode(code - 0x40);
  if (data === ' ') return '\0';
  return data === '?' ? '\x7f' : data;
}
