/** Where Markdown may be cut, so that a long or growing text is drawn piece by piece. Pure. */

const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)$/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const SURE = 12; // characters after which the beginning of a line can't become a list's mark any more

/**
 * The last place, not before `from`, where one block has ended and another begins.
 * @param {string} text
 * @param {number} from a place that is itself such an end
 */
export function blockEnd(text, from) {
  let end = from;
  let fence = '';
  let flush = false; // the open fence stands at the edge, in no list
  let list = false;
  let blank = false;
  for (let place = from; place < text.length;) {
    const line = text.indexOf('\n', place);
    const whole = line >= 0;
    const row = text.slice(place, whole ? line : undefined);
    const next = whole ? line + 1 : text.length;
    const mark = FENCE.exec(row);
    if (fence) {
      if (whole && mark && mark[2][0] === fence[0] && mark[2].length >= fence.length && !mark[3].trim()) {
        fence = '';
        if (flush && !list) end = next;
      }
    } else if (row.trim() === '') {
      blank = true;
    } else {
      const begins = blank && row[0] !== ' ' && row[0] !== '\t';
      if (begins && (!list || ((whole || row.length >= SURE) && !ITEM.test(row)))) {
        end = place;
        list = false;
      }
      blank = false;
      list ||= ITEM.test(row);
      if (mark && whole) [fence, flush] = [mark[2], mark[1] === ''];
    }
    place = next;
  }
  return end;
}

/**
 * A finished text in pieces of about `size` characters, each of whole blocks.
 * @param {string} text
 * @param {number} size
 * @returns {string[]}
 */
export function pieces(text, size) {
  const found = [];
  let from = 0;
  while (text.length - from > size) {
    // A block may be longer than a piece: look further until it ends.
    let reach = size;
    let end = blockEnd(text.slice(0, from + reach), from);
    while (end <= from && from + reach < text.length) {
      reach *= 2;
      end = blockEnd(text.slice(0, from + reach), from);
    }
    if (end <= from) break;
    found.push(text.slice(from, end));
    from = end;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/**
 * Whether blocks of this text may lean on each other: links defined elsewhere, notes, markup around blank lines.
 * @param {string} text
 */
export const leans = (text) => /^ {0,3}(?:\[[^\]\n]+\]:|<[a-z!/])/im.test(text);

/**
 * The code block a text begins with and has not ended: its language, and where its first line begins.
 * @param {string} tail
 */
export function openFence(tail) {
  const mark = /^(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n]*\n/.exec(tail);
  return mark ? { language: mark[2], begins: mark[0].length } : null;
}
