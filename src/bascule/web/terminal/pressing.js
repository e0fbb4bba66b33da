/** Keys of the phone's key bar, as bytes a program reads. Pure. */

/** @type {Record<string, string>} */
const ARROWS = { Up: 'A', Down: 'B', Right: 'C', Left: 'D' };
/** @type {Record<string, string>} */
const PLAIN = { Esc: '\x1b', Tab: '\t', '^C': '\x03', '|': '|', '/': '/', '-': '-', '~': '~' };

/**
 * @param {string} key as the bar names it
 * @param {boolean} application whether the program asked for the other form of the arrows
 * @returns {string}
 */
export function pressed(key, application) {
  if (key in ARROWS) return `\x1b${application ? 'O' : '['}${ARROWS[key]}`;
  return PLAIN[key] ?? '';
}

/** What Ctrl makes of one typed character; anything else is left as it is. @param {string} data */
export function withControl(data) {
  if (data.length !== 1) return data;
  const code = data.toUpperCase().charCodeAt(0);
  if (code >= 0x40 && code <= 0x5f) return String.fromCharCode(code - 0x40);
  if (data === ' ') return '\0';
  return data === '?' ? '\x7f' : data;
}

/** Does a pasted text hold more than one line, so that a shell would run some of it at once? @param {string} text */
export const isManyLines = (text) => /[\r\n]./s.test(text.replace(/\r\n/g, '\n')) || /[\r\n]$/.test(text);
