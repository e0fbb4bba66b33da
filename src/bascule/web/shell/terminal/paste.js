/**
 * Pasting into a terminal: one plain line as it is, anything else only after a person has seen all of it and said yes.
 */

import { h } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { MAX_PASTED, byteLength, linesOf, needsAsking } from '../../terminal/pasted.js';
import { shown } from '../requests/plan.js';
import { pasteWords } from './format.js';

const MAX_MARKED = 64 * 1024; // characters; a longer text is written out without marks

/**
 * @typedef {{label: string, run: () => void, waits?: boolean}} PasteChoice
 * One that waits leaves the card, and with it the focus, until the frame has typed the text: what is typed next
 * belongs after it.
 */

/**
 * The whole text with a question; the first choice is the safe one. Escape closes it, as the choices do.
 * @param {{title: string, notes: string[], text: string, choices: PasteChoice[]}} about
 * @param {() => void} close
 */
function pasteCard({ title, notes, text, choices }, close) {
  const whole = linesOf(text).join('\n');
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return h(
    'div',
    { class: 'confirm paste', role: 'alertdialog', 'aria-label': title, onkeydown },
    h(
      'div',
      null,
      h('b', null, title),
      notes.map((note) => h('p', null, note)),
      h(
        'pre',
        { tabindex: 0, role: 'group', 'aria-label': 'The whole text' },
        whole.length > MAX_MARKED ? visible(whole) : shown(whole),
      ),
    ),
    choices.map(({ label, run, waits }, n) => {
      const onclick = (/** @type {On} */ event) => {
        if (!waits) close();
        else if (event.currentTarget.getAttribute('aria-disabled')) return;
        else event.currentTarget.setAttribute('aria-disabled', 'true');
        run();
      };
      return h('button', { type: 'button', class: `button ${n ? 'line' : 'quiet'}`, onclick }, label);
    }),
  );
}

/**
 * @param {HTMLElement} place where the question is asked
 * @param {import('../app.js').App} app
 * @param {(text: string) => void} paste leaves control characters out
 * @param {() => void} back gives the terminal its focus again
 */
export function pasting(place, app, paste, back) {
  /** @type {Element | null} */
  let typing = null; // the card whose text is on its way to the frame

  function close() {
    place.replaceChildren();
    back();
  }

  /**
   * @param {string} title
   * @param {string[]} notes
   * @param {string} text
   * @param {PasteChoice[]} choices
   */
  function card(title, notes, text, choices) {
    place.replaceChildren(pasteCard({ title, notes, text, choices }, close));
    /** @type {HTMLElement | null} */ (place.querySelector('.button'))?.focus();
  }

  /** @param {string} text */
  function ask(text) {
    if (byteLength(text) > MAX_PASTED) {
      app.note('That is more than 1 MB, too much to paste. Put it into a file.', { tone: 'bad' });
      return;
    }
    if (!needsAsking(text)) {
      paste(text);
      return;
    }
    const { title, notes, yes } = pasteWords(text);
    card(title, notes, text, [
      { label: 'Cancel', run: () => undefined },
      {
        label: yes,
        waits: true,
        run: () => {
          typing = /** @type {Element | null} */ (place.firstElementChild);
          paste(text);
        },
      },
    ]);
  }

  /** The frame has typed what was pasted last: only now may keys follow. */
  function typed() {
    if (typing && typing === place.firstElementChild) close();
    typing = null;
  }

  /**
   * What was pasted did not reach the program: say why, and hand it back.
   * @param {string} title
   * @param {string} why
   * @param {string} text
   */
  function heldBack(title, why, text) {
    if (!text) app.note(why, { tone: 'bad' });
    else
      card(title, [why], text, [
        { label: 'Close', run: () => undefined },
        { label: 'Copy the text', run: () => app.copy(text) },
      ]);
  }

  async function fromClipboard() {
    try {
      ask(await navigator.clipboard.readText());
    } catch {
      app.note('The browser did not let us read the clipboard. Use its own paste in the terminal.', { tone: 'bad' });
    }
  }
  return { ask, typed, heldBack, fromClipboard };
}
