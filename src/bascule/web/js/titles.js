/** A session's title from the first thing it was asked. Pure; the twin of `model/titles.py`, with the same fixtures. */

const TITLE_LENGTH = 50;
const LOOKED_AT = 400; // characters of a line: the rest can't be in the title
const READ = 20_000; // characters of the message

const FENCE = /^(```|~~~)/u;
const LEAD = /^(#{1,6} |> ?|[-*+] |[0-9]{1,3}[.)] |\[[ xX]\] )+/u;
const RULE = /^[-*_=#>| ]+$/u;
const LINK = /!?\[([^[\]]+)\]\([^()]*\)/gu;
const MARKS = /(\*\*|~~|`)|(?<= )#{1,6} |(?<![^ ])\*(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}])\*(?![^ ,.:;!?])/gu;
const SENTENCE = /^(.{6,}?[^ .!?]{2}[.!?]+)(?= )/u;
const WIDE_SENTENCE = /^(.{4,}?[。！？])/u; // where no space follows a sentence

/** @param {string} text */
export function titleFrom(text) {
  const said = firstParagraph(text);
  const found = WIDE_SENTENCE.exec(said) ?? SENTENCE.exec(said);
  return cut((found ? found[1] : said).replace(/[.。:,;]+$/u, '') || said);
}

/**
 * The first lines that say something, as one. In code only when there is nothing else.
 * @param {string} text
 */
function firstParagraph(text) {
  const lines = text
    .slice(0, READ)
    .trim()
    .split('\n')
    .map((line) => Array.from(line).slice(0, LOOKED_AT).join('').split(/\s+/u).filter(Boolean).join(' '));
  let fenced = false;
  let said = '';
  for (const line of lines) {
    const begins = LEAD.test(line);
    if (FENCE.test(line)) fenced = !fenced;
    if (said && (!line || begins || fenced || Array.from(said).length > LOOKED_AT)) break;
    if (line && !fenced && !FENCE.test(line) && !RULE.test(line)) {
      said = `${said} ${plain(line)}`.trim();
      if (begins && said) break;
    }
  }
  return said || (lines.find((line) => line && !FENCE.test(line)) ?? '');
}

/** @param {string} line */
const plain = (line) => line.replace(LEAD, '').replace(LINK, '$1').replace(MARKS, '').trim();

/**
 * At the end of a word, if one ends in its second half.
 * @param {string} title
 */
function cut(title) {
  const letters = Array.from(title);
  if (letters.length <= TITLE_LENGTH) return title;
  const head = letters.slice(0, TITLE_LENGTH);
  const space = head.lastIndexOf(' ');
  const kept = space > TITLE_LENGTH / 2 ? head.slice(0, space) : head.slice(0, TITLE_LENGTH - 1);
  return kept.join('').replace(/[ ,;:.(-]+$/u, '') + '…';
}
