/** Find in this conversation: marks by the highlight API, so that no element is touched. */

/** @type {{text: string, ranges: Range[], at: number}} */
let last = { text: '', ranges: [], at: -1 };

/**
 * @param {HTMLElement} column
 * @param {string} text
 * @param {number} step 0 for a new search
 * @returns {{count: number, at: number}}
 */
export function find(column, text, step) {
  if (!text) {
    CSS.highlights.clear();
    last = { text: '', ranges: [], at: -1 };
    return { count: 0, at: 0 };
  }
  if (text !== last.text || step === 0) {
    const ranges = rangesOf(column, text.toLowerCase());
    last = { text, ranges, at: ranges.length - 1 };
  } else if (last.ranges.length) {
    last.at = (last.at + step + last.ranges.length) % last.ranges.length;
  }
  CSS.highlights.set('found', new Highlight(...last.ranges));
  const here = last.ranges[last.at];
  if (here) {
    CSS.highlights.set('here', new Highlight(here));
    here.startContainer.parentElement?.scrollIntoView({ block: 'center' });
  }
  return { count: last.ranges.length, at: last.at + 1 };
}

/** @param {HTMLElement} column @param {string} text */
function rangesOf(column, text) {
  const ranges = [];
  const walker = document.createTreeWalker(column, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 2000; node = walker.nextNode()) {
    const hay = (node.nodeValue ?? '').toLowerCase();
    for (let at = hay.indexOf(text); at >= 0; at = hay.indexOf(text, at + text.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      ranges.push(range);
    }
  }
  return ranges;
}
