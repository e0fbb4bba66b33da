/**
 * Quill Deltas: a document's plain text, and the same as Markdown. Pure; the twin of `model/delta.py`, with the same
 * fixtures. Text that a person typed is not escaped, so both forms of a document without formatting are the same.
 */

/** @typedef {Record<string, unknown>} Fields */
/** @typedef {{ text: string, marks: (string | true | null)[], embed?: boolean }} Piece a run of text, or an embed */
/** @typedef {'text' | 'header' | 'list' | 'quote' | 'code' | 'table' | 'rule'} Kind */
/** @typedef {{ pieces: Piece[], kind: Kind, value: string | number, indent: number, ended: boolean }} Line */

const NO_DOCUMENT = 'This is not a Quill document. It must be {"ops": [...]}, or the list of ops alone.';
const LANGUAGE = /^[A-Za-z0-9+#._-]{1,40}$/u;
const ODD_ADDRESS = /[ ()<>]/u;
const BLANKS = ' \t\u00a0';
// From the outside in. A link has its address for a mark, the others true.
const MARKS = ['link', 'bold', 'italic', 'strike', 'code'];
const SIGNS = /** @type {Record<string, string>} */ ({ bold: '**', italic: '*', strike: '~~' });
const BOXES = /** @type {Record<string, string>} */ ({ checked: '[x] ', unchecked: '[ ] ' });
const SORTS = ['ordered', 'bullet', 'checked', 'unchecked'];
const NO_MARKS = MARKS.map(() => null);

/**
 * All text as it is, `[Image]` for an image, and nothing for other embeds.
 * @param {unknown} delta `{ops}`, a Delta of Quill's or a list of ops
 */
export function deltaToText(delta) {
  return insertsOf(delta)
    .map(({ insert }) => (typeof insert === 'string' ? insert : insert.image ? '[Image]' : ''))
    .join('');
}

/**
 * Headings, lists, quotes, code, tables, links and emphasis as Markdown; other formatting is left out.
 * @param {unknown} delta `{ops}`, a Delta of Quill's or a list of ops
 */
export function deltaToMarkdown(delta) {
  const lines = linesOf(delta);
  const numbers = new ListNumbers();
  /** @type {{ kind: string, text: string }[]} */
  const written = [];
  for (const block of grouped(lines, (one, two) => one.kind === two.kind && sameCode(one, two))) {
    const { kind, value } = block[0];
    numbers.begin(kind);
    if (kind === 'code') written.push({ kind: `code ${value}`, text: fenced(block, String(value)) });
    else if (kind === 'table') written.push({ kind, text: tableOf(block) });
    else for (const line of block) written.push({ kind, text: kind === 'list' ? numbers.item(line) : plainLine(line) });
  }
  return joined(written) + (lines.at(-1)?.ended ? '\n' : '');
}

/**
 * @param {Line} one
 * @param {Line} two
 */
const sameCode = (one, two) => one.kind !== 'code' || one.value === two.value;

/**
 * @param {unknown} value
 * @returns {value is Fields}
 */
const isFields = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

// Reading

/**
 * Each insert with its attributes.
 * @param {unknown} delta
 */
function insertsOf(delta) {
  const ops = isFields(delta) ? delta.ops : delta;
  if (!Array.isArray(ops)) throw new TypeError(NO_DOCUMENT);
  return ops.map((op, at) => {
    const insert = /** @type {unknown} */ (isFields(op) ? op.insert : null);
    if (typeof insert !== 'string' && !isFields(insert))
      throw new TypeError(`This is not a Quill document: op ${at + 1} is not an insert.`);
    return { insert, attributes: isFields(op.attributes) ? op.attributes : {} };
  });
}

/**
 * A newline ends a line, and its attributes say what the line is.
 * @param {unknown} delta
 */
function linesOf(delta) {
  /** @type {Line[]} */
  const lines = [];
  /** @type {Piece[]} */
  let pieces = [];
  const written = () => pieces.some((piece) => piece.text);
  for (const { insert, attributes } of insertsOf(delta)) {
    const marks = marksOf(attributes);
    if (typeof insert === 'string') {
      const [first, ...others] = insert.split('\n');
      pieces.push({ text: first, marks });
      for (const text of others) {
        lines.push(lineOf(pieces, attributes));
        pieces = [{ text, marks }];
      }
    } else if ('video' in insert || 'divider' in insert || 'hr' in insert) {
      if (written()) lines.push(lineOf(pieces, {}));
      lines.push(blockEmbed(insert));
      pieces = [];
    } else {
      pieces.push({ text: embedOf(insert, attributes), marks, embed: true });
    }
  }
  if (written()) lines.push({ ...lineOf(pieces, {}), ended: false });
  return lines;
}

/**
 * @param {Piece[]} pieces
 * @param {Fields} block
 * @returns {Line}
 */
function lineOf(pieces, block) {
  /** @type {(kind: Kind, value: string | number, indent?: number) => Line} */
  const line = (kind, value, indent = 0) => ({ pieces, kind, value, indent, ended: true });
  const { 'code-block': code, header, list, indent, table } = block;
  if (code) return line('code', typeof code === 'string' && code !== 'plain' && LANGUAGE.test(code) ? code : '');
  if (isWithin(header, 6)) return line('header', header);
  if (typeof list === 'string' && SORTS.includes(list)) return line('list', list, isWithin(indent, 9) ? indent : 0);
  if (block.blockquote) return line('quote', '');
  return typeof table === 'string' ? line('table', table) : line('text', '');
}

/**
 * @param {unknown} value
 * @param {number} most
 * @returns {value is number}
 */
const isWithin = (value, most) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;

/**
 * @param {Fields} attributes
 * @returns {Piece['marks']}
 */
function marksOf(attributes) {
  const { link } = attributes;
  const address = typeof link === 'string' && link && !link.includes('\n') ? link : null;
  return [address, ...MARKS.slice(1).map((name) => (attributes[name] ? /** @type {const} */ (true) : null))];
}

/**
 * An embed inside a line. One whose meaning is unknown is left out.
 * @param {Fields} embed
 * @param {Fields} attributes
 */
function embedOf({ image, formula, mention }, { alt }) {
  if (image) {
    const name = typeof alt === 'string' && alt ? inBrackets(alt) : 'Image';
    const shown = typeof image === 'string' && !image.startsWith('data:') && !image.includes('\n');
    return shown ? `![${name}](${addressOf(image)})` : `[${name}]`;
  }
  if (typeof formula === 'string') return `$${formula}$`;
  if (!isFields(mention) || typeof mention.value !== 'string') return '';
  return (typeof mention.denotationChar === 'string' ? mention.denotationChar : '') + mention.value;
}

/**
 * @param {Fields} embed
 * @returns {Line}
 */
function blockEmbed(embed) {
  /** @type {(kind: Kind, text: string) => Line} */
  const line = (kind, text) => ({ pieces: [{ text, marks: NO_MARKS }], kind, value: '', indent: 0, ended: true });
  if (!('video' in embed)) return line('rule', '---');
  const { video } = embed;
  return line('text', typeof video === 'string' && !video.includes('\n') ? `[Video](${addressOf(video)})` : '[Video]');
}

// Writing

/** Numbers as Quill shows them: a paragraph or a heading starts them again, code or a quote does not. */
class ListNumbers {
  /** @type {Map<number, number>} */
  #counts = new Map();
  /** @type {{ indent: number, width: number }[]} */
  #parents = [];

  /** @param {Kind} kind */
  begin(kind) {
    this.#parents = [];
    if (kind === 'text' || kind === 'header') this.#counts.clear();
  }

  /** @param {Line} line */
  item({ indent, value, pieces }) {
    for (const at of [...this.#counts.keys()]) if (at > indent) this.#counts.delete(at);
    this.#parents = this.#parents.filter((parent) => parent.indent < indent);
    let marker = '- ';
    if (value === 'ordered') {
      this.#counts.set(indent, (this.#counts.get(indent) ?? 0) + 1);
      marker = `${this.#counts.get(indent)}. `;
    }
    const before = ' '.repeat(this.#parents.reduce((sum, parent) => sum + parent.width, 0));
    this.#parents.push({ indent, width: marker.length });
    return before + led(marker + (BOXES[value] ?? ''), inline(pieces));
  }
}

/** @param {Line} line */
function plainLine({ kind, value, pieces }) {
  const text = inline(pieces);
  if (kind === 'header') return text ? `${'#'.repeat(Number(value))} ${text}` : '';
  return kind === 'quote' ? led('> ', text) : text;
}

/**
 * @param {string} lead
 * @param {string} text
 */
const led = (lead, text) => (text ? lead + text : lead.trimEnd());

/**
 * @param {Line[]} block
 * @param {string} language
 */
function fenced(block, language) {
  const code = block.map((line) => line.pieces.map((piece) => piece.text).join('')).join('\n');
  const fence = '`'.repeat(Math.max(3, longestTicks(code) + 1));
  return `${fence}${language}\n${code}\n${fence}`;
}

/** @param {Line[]} block */
function tableOf(block) {
  const rows = grouped(block, (one, two) => one.value === two.value).map((row) =>
    row.map((line) => inline(line.pieces).replaceAll('|', '\\|')),
  );
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const [first, ...others] = rows.map((row) => [...row, ...Array(width - row.length).fill('')]);
  return [first, Array(width).fill('---'), ...others].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/**
 * One line break between lines, and an empty line where two kinds meet: Markdown would join them.
 * @param {{ kind: string, text: string }[]} written
 */
function joined(written) {
  return written
    .map(({ kind, text }, at) => {
      if (!at) return text;
      const before = written[at - 1];
      return (kind !== before.kind && text && before.text ? '\n\n' : '\n') + text;
    })
    .join('');
}

/**
 * Neighbours with the same mark share its signs; blanks at their edges stay outside.
 * @param {Piece[]} pieces
 * @returns {string}
 */
function inline(pieces, level = 0) {
  if (level === MARKS.length)
    return pieces.map(({ text, marks, embed }) => (marks[0] && !embed ? inBrackets(text) : text)).join('');
  const written = pieces.filter((piece) => piece.text);
  return grouped(written, (one, two) => one.marks[level] === two.marks[level])
    .map((group) => {
      const text = inline(group, level + 1);
      const mark = group[0].marks[level];
      let [begin, end] = [0, text.length];
      while (begin < end && BLANKS.includes(text[begin])) begin += 1;
      while (end > begin && BLANKS.includes(text[end - 1])) end -= 1;
      if (mark === null || begin === end) return text;
      return text.slice(0, begin) + marked(MARKS[level], mark, text.slice(begin, end)) + text.slice(end);
    })
    .join('');
}

/**
 * @param {string} name
 * @param {string | true} mark
 * @param {string} text
 */
function marked(name, mark, text) {
  if (name === 'code') {
    const ticks = '`'.repeat(longestTicks(text) + 1);
    const gap = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
    return ticks + gap + text + gap + ticks;
  }
  if (mark === true) return SIGNS[name] + text + SIGNS[name];
  return text === mark ? text : `[${text}](${addressOf(mark)})`;
}

/** @param {string} address */
const addressOf = (address) =>
  ODD_ADDRESS.test(address) ? `<${address.replaceAll('<', '%3C').replaceAll('>', '%3E')}>` : address;

/** @param {string} text */
const inBrackets = (text) => text.replace(/[[\]]/gu, (found) => `\\${found}`);

/** @param {string} text */
const longestTicks = (text) => (text.match(/`+/gu) ?? []).reduce((most, run) => Math.max(most, run.length), 0);

/**
 * Neighbours that belong together.
 * @template T
 * @param {T[]} list
 * @param {(one: T, two: T) => boolean} together
 */
function grouped(list, together) {
  /** @type {T[][]} */
  const groups = [];
  for (const item of list) {
    const last = groups.at(-1);
    if (last && together(last[0], item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}
