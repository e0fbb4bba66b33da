/**
 * Text a person must judge, with every character that would hide, reorder or imitate made visible.
 * The twin of `policy/visible.py`; both are held to `tests/fixtures/visible.json`.
 */

// Characters that draw nothing, look like an ordinary space, or change the order or colour of what follows.
const HIDDEN_RANGES = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x034f, 0x034f],
  [0x061c, 0x061c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xfffe, 0xffff],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

// Of these, the ones that can turn a line around. The rest belongs to honest prose: emoji are joined and
// coloured with zero-width characters.
const UNRULY_RANGES = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
  [0xd800, 0xdfff],
];

/**
 * @param {number[][]} ranges
 * @param {string} flags
 */
const anyOf = (ranges, flags) => {
  const spans = ranges.map(([low, high]) => `\\u{${low.toString(16)}}-\\u{${high.toString(16)}}`);
  return new RegExp(`[${spans.join('')}]`, flags);
};

const hidden = anyOf(HIDDEN_RANGES, 'gu');
const hiddenOnce = anyOf(HIDDEN_RANGES, 'u');
const unruly = anyOf(UNRULY_RANGES, 'gu');

/** @param {string} character */
const escape = (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * The text as it must be shown beside an Allow button.
 * @param {string} text
 */
export const visible = (text) => text.replace(hidden, escape);

/**
 * Whether the text holds a character that `visible` would write out.
 * @param {string} text
 */
export const hasHidden = (text) => hiddenOnce.test(text);

/**
 * An agent's prose: controls and bidi marks written out, emoji left whole.
 * @param {string} text
 */
export const sanitize = (text) => text.replace(unruly, escape);

// What no element ever holds raw: it would turn its neighbours around, or is no text at all.
const disorderly = anyOf(
  [
    [0x00, 0x08],
    [0x0b, 0x0c],
    [0x0e, 0x1f],
    [0x7f, 0x9f],
    [0x061c, 0x061c],
    [0x200e, 0x200f],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
  ],
  'gu',
);

/**
 * Line ends stay, whichever they are.
 * @param {string} text
 */
export const orderly = (text) => text.replace(disorderly, escape);

/**
 * The same as `visible`, cut into pieces, so that what was written out can be marked.
 * @param {string} text
 * @returns {{text: string, escaped: boolean}[]}
 */
export function visiblePieces(text) {
  const pieces = [];
  let last = 0;
  for (const match of text.matchAll(hidden)) {
    if (match.index > last) pieces.push({ text: text.slice(last, match.index), escaped: false });
    pieces.push({ text: escape(match[0]), escaped: true });
    last = match.index + match[0].length;
  }
  if (last < text.length) pieces.push({ text: text.slice(last), escaped: false });
  return pieces;
}
