/** Terminal output as coloured pieces. Pure: colours become class names, every other escape is dropped. */

/** @typedef {{text: string, classes: string[]}} Piece */

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
// CSI … final, OSC … BEL or ST, two-character escapes, and lone control characters but tab and newline.
const KINDS = [
  /\x1b\[([0-9;:?<=>]*)([ -/]*)([@-~])/,
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?/,
  /\x1b[PX^_][^\x1b]*(?:\x1b\\)?/,
  /\x1b[ -/]*[0-~]?/,
  /[\x00-\x08\x0b-\x1f\x7f-\x9f]/,
];
const ESCAPES = new RegExp(KINDS.map((kind) => kind.source).join('|'), 'g');

/**
 * @param {string} text
 * @returns {Piece[]}
 */
export function ansiPieces(text) {
  /** @type {Piece[]} */
  const pieces = [];
  const style = { colour: '', bold: false, dim: false, italic: false, underline: false };
  let last = 0;
  /** @param {string} part */
  const add = (part) => {
    if (!part) return;
    const classes = [
      style.colour && `ansi-${style.colour}`,
      style.bold && 'ansi-bold',
      style.dim && 'ansi-dim',
      style.italic && 'ansi-italic',
      style.underline && 'ansi-under',
    ].filter((one) => typeof one === 'string' && one !== '');
    pieces.push({ text: part, classes: /** @type {string[]} */ (classes) });
  };
  const source = overwritten(text);
  for (const match of source.matchAll(ESCAPES)) {
    add(source.slice(last, match.index));
    last = match.index + match[0].length;
    if (match[3] === 'm') restyle(style, match[1]);
  }
  add(source.slice(last));
  return pieces;
}

/**
 * A progress bar draws over its line with carriage returns: only the last drawing counts.
 * @param {string} text
 */
function overwritten(text) {
  if (!text.includes('\r')) return text;
  return text
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => line.split('\r').filter(Boolean).pop() ?? '')
    .join('\n');
}

/**
 * @param {{colour: string, bold: boolean, dim: boolean, italic: boolean, underline: boolean}} style
 * @param {string} codes
 */
function restyle(style, codes) {
  const list = codes.split(/[;:]/).map(Number);
  for (let n = 0; n < list.length; n++) {
    const code = list[n] || 0;
    if (code === 0) Object.assign(style, { colour: '', bold: false, dim: false, italic: false, underline: false });
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 39) style.colour = '';
    else if (code >= 30 && code <= 37) style.colour = NAMES[code - 30];
    else if (code >= 90 && code <= 97) style.colour = NAMES[code - 90];
    else if (code === 38 || code === 48) {
      if (code === 38 && list[n + 1] === 5) style.colour = NAMES[(list[n + 2] || 0) % 8];
      n += list[n + 1] === 2 ? 4 : 2; // a palette place or three amounts follow
    }
  }
}
