/** Pasting into a terminal: one line as it is, several only after a person has seen them and said yes. */

import { h } from '../js/dom.js';
import { isManyLines } from '../terminal/pressing.js';
import { pasteWords } from './terminal_words.js';

const MOST = 1024 * 1024;

/**
 * @param {HTMLElement} place where the question is asked
 * @param {import('./app.js').App} app
 * @param {(text: string) => void} paste
 * @param {() => void} back gives the terminal its focus again
 */
export function pasting(place, app, paste, back) {
  /** @param {string} text */
  function ask(text) {
    if (text.length > MOST) {
      app.note('That is more than 1 MB, too much to paste. Put it into a file.', { tone: 'bad' });
      return;
    }
    const { title, preview } = pasteWords(text);
    const done = (/** @type {boolean} */ yes) => {
      place.replaceChildren();
      if (yes) paste(text);
      back();
    };
    place.replaceChildren(h('div', { class: 'confirm', role: 'alertdialog', 'aria-label': title, onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === 'Escape') { event.stopPropagation(); done(false); } } },
      h('span', null, h('b', null, title), 'A shell may run each of them at once.', h('pre', null, preview)),
      h('button', { type: 'button', class: 'btn quiet', onclick: () => done(false) }, 'Cancel'),
      h('button', { type: 'button', class: 'btn line', onclick: () => done(true) }, 'Paste')));
    place.querySelector('button')?.focus();
  }

  async function fromClipboard() {
    try {
      const text = await navigator.clipboard.readText();
      if (isManyLines(text)) ask(text);
      else paste(text);
    } catch {
      app.note('The browser did not let us read the clipboard. Use its own paste in the terminal.', { tone: 'bad' });
    }
  }
  return { ask, fromClipboard };
}
