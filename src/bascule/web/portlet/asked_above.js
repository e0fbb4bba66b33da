/** While a long answer is read, what was asked stays in sight: one line at the top, which leads back to it. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';

const ROOM = 56; // pixels: a message this near to the top needs no other line

/**
 * @param {HTMLElement} column
 * @param {(message: Element) => void} goTo
 */
export function mountAskedAbove(column, goTo) {
  const words = h('span', { dir: 'auto' });
  const line = h('button', { type: 'button', class: 'asked-above', hidden: true }, icon('up', 12), words);
  /** @type {Element | null} */
  let asked = null;
  let drawing = false;
  line.onclick = () => {
    if (asked) goTo(asked);
  };
  column.before(line);

  function look() {
    drawing = false;
    const messages = [...column.querySelectorAll('.user-message')];
    const above = messages.findLastIndex((message) => message.getBoundingClientRect().bottom < 0);
    const next = messages[above + 1]?.getBoundingClientRect().top ?? Infinity;
    asked = above >= 0 && next > ROOM ? messages[above] : null;
    line.hidden = !asked;
    const text = asked?.querySelector('.said')?.textContent?.trim().split('\n')[0].slice(0, 300) ?? '';
    if (words.textContent !== text) {
      words.textContent = text;
      line.setAttribute('aria-label', `Go to what was asked: ${text}`);
    }
  }
  addEventListener(
    'scroll',
    () => {
      if (drawing) return;
      drawing = true;
      requestAnimationFrame(look);
    },
    { passive: true },
  );
}
