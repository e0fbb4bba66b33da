/**
 * Diagrams and formulas in an agent's text. They are drawn elsewhere, in frames that hold nothing else; here a diagram
 * is an image, which can neither run nor load anything, and a formula is MathML that was cleaned first.
 */

import DOMPurify from '../vendor/purify.js';
import { copyButton } from '../js/copy_button.js';
import { h } from '../js/dom.js';
import { highlighted } from '../js/highlight.js';

/** @typedef {{result: string, problem: string}} Drawn */
/** @typedef {{kind: 'diagram' | 'math', text: string, dark: boolean, display: boolean}} Wanted */

const KEPT = 100;

/** Asks the shell for drawings, each once. */
export class Drawer {
  /** @param {(message: import('../js/frame_messages.d.ts').FromFrame) => void} tell */
  constructor(tell) {
    this.tell = tell;
    this.number = 0;
    /** @type {Map<number, (drawn: Drawn) => void>} */
    this.waiting = new Map();
    /** @type {Map<string, Promise<Drawn>>} */
    this.known = new Map();
  }

  /** @param {Wanted} wanted */
  draw(wanted) {
    const key = JSON.stringify(wanted);
    const known = this.known.get(key);
    if (known) return known;
    const number = ++this.number;
    /** @type {Promise<Drawn>} */
    const drawn = new Promise((resolve) => this.waiting.set(number, resolve));
    this.known.set(key, drawn);
    if (this.known.size > KEPT) this.known.delete(this.known.keys().next().value ?? '');
    this.tell({ type: 'draw', number, ...wanted });
    return drawn;
  }

  /** @param {{number: number} & Drawn} message */
  drawn({ number, result, problem }) {
    this.waiting.get(number)?.({ result, problem });
    this.waiting.delete(number);
  }
}

/** Whether this transcript is shown on a dark ground now. */
const isDark = () =>
  document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

/** What to draw again when the theme changes. @type {Set<() => void>} */
const shown = new Set();

/** The theme is another one. */
export function drawAgain() {
  for (const draw of [...shown]) draw();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain);

/**
 * A diagram's source until it is drawn, and whenever a reader wants it.
 * @param {string} text
 * @param {{copy: (text: string) => void, draw?: (wanted: Wanted) => Promise<Drawn>}} ask
 */
export function diagramBlock(text, ask) {
  const state = h('span', null, 'mermaid');
  const source = h('pre', { tabindex: 0 }, h('code', null, highlighted(text, 'plaintext')));
  const place = h('div', { class: 'diagram', hidden: true });
  const swap = h('button', { type: 'button', class: 'link', hidden: true }, 'Source');
  const block = h(
    'div',
    { class: 'code-block' },
    h(
      'header',
      null,
      state,
      h(
        'span',
        { class: 'code-block__acts' },
        swap,
        copyButton('Copy source', () => ask.copy(text)),
      ),
    ),
    place,
    source,
  );
  swap.onclick = () => {
    place.hidden = !place.hidden;
    source.hidden = !place.hidden;
    swap.textContent = place.hidden ? 'Diagram' : 'Source';
  };
  const draw = async () => {
    if (!ask.draw || (place.childElementCount && !block.isConnected)) {
      shown.delete(draw);
      return;
    }
    const { result, problem } = await ask.draw({ kind: 'diagram', text, dark: isDark(), display: true });
    if (!result) {
      state.textContent = 'mermaid · not drawn';
      state.title = problem;
      return;
    }
    const first = swap.hidden;
    place.replaceChildren(picture(result));
    swap.hidden = false;
    if (first) {
      place.hidden = false;
      source.hidden = true;
    }
  };
  shown.add(draw);
  void draw();
  return block;
}

/** @param {string} svg */
const picture = (svg) =>
  h(
    'button',
    {
      type: 'button',
      class: 'picture-button',
      title: 'Show it larger or smaller',
      onclick: (/** @type {On} */ event) => event.currentTarget.classList.toggle('whole'),
    },
    h('img', {
      class: 'diagram__picture',
      alt: 'Diagram. “Source” shows its text.',
      src: `data:image/svg+xml;base64,${encoded(svg)}`,
    }),
  );

/** @param {string} text */
function encoded(text) {
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/**
 * A formula: its source, until it is set.
 * @param {string} text
 * @param {boolean} display on lines of its own
 * @param {{draw?: (wanted: Wanted) => Promise<Drawn>}} ask
 */
export function formula(text, display, ask) {
  const place = h(display ? 'div' : 'span', { class: display ? 'math is-display' : 'math' }, h('code', null, text));
  void ask.draw?.({ kind: 'math', text, dark: false, display }).then(({ result, problem }) => {
    if (result) place.replaceChildren(mathOf(result));
    else place.title = problem;
  });
  return place;
}

/**
 * @param {string} markup
 * @returns {DocumentFragment}
 */
const mathOf = (markup) =>
  DOMPurify.sanitize(markup, {
    USE_PROFILES: { mathMl: true },
    FORBID_CONTENTS: ['annotation'],
    RETURN_DOM_FRAGMENT: true,
  });
