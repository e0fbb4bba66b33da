/**
 * The frame an agent's words live in. It has no secret and no network; it is told everything over one port and
 * can ask for five things: older entries, a link to be opened, text to be copied, the changes to be shown, a key
 * of the shell's own to be heard.
 */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { fold, transcript, trimmed, withOlder } from '../js/reduce.js';
import { find } from './find.js';
import { Scroll } from './scroll.js';
import { View } from './view.js';

const MOST_ENTRIES = 400;

const column = /** @type {HTMLElement} */ (document.getElementById('col'));
const announcer = /** @type {HTMLElement} */ (document.getElementById('announce'));
const channel = new MessageChannel();
const port = channel.port1;
/** @param {any} message */
const tell = (message) => port.postMessage(message);

const view = new View(column, {
  copy: (text) => tell({ type: 'copy', text }),
  link: (href) => tell({ type: 'link', href }),
  changes: () => tell({ type: 'changes' }),
});
const gap = h('div', { class: 'gap lost', hidden: true });
const loading = h('p', { class: 'more', hidden: true }, 'Loading earlier messages');
column.before(loading);
column.after(gap);
const jump = h('button', { type: 'button', class: 'jump', hidden: true, title: 'Jump to the latest', 'aria-label': 'Jump to the latest' }, icon('down'));
document.body.append(jump);
const scroll = new Scroll(jump, () => {
  if (state.before !== null && !asking) {
    asking = true;
    loading.hidden = false;
    tell({ type: 'more', before: state.before });
  }
});

let state = transcript(0, [], null);
let asking = false;
let drawing = false;

/** @type {Record<string, (message: any) => void>} */
const takes = {
  open: (message) => {
    view.cwd = message.cwd;
    state = transcript(message.seq, message.entries, message.before);
    draw();
    scroll.toEnd();
  },
  events: (message) => {
    state = fold(state, message.entries);
    if (scroll.atEnd) state = trimmed(state, MOST_ENTRIES + 100).entries.length > MOST_ENTRIES + 99 ? trimmed(state, MOST_ENTRIES) : state;
    announce();
    schedule();
  },
  older: (message) => {
    asking = false;
    loading.hidden = true;
    scroll.keeping(() => {
      state = withOlder(state, message.entries, message.before);
      draw();
    });
  },
  theme: (message) => setTheme(message.theme),
  lost: (message) => {
    gap.hidden = !message.text;
    gap.textContent = message.text;
    scroll.follow();
  },
  find: (message) => tell({ type: 'found', ...find(column, message.text, message.step ?? 0) }),
  prompt: (message) => scroll.toPrompt(message.step),
};

function schedule() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    draw();
  });
}

function draw() {
  view.show(state);
  scroll.follow();
}

/** Screen readers hear a finished block, not every token. */
function announce() {
  for (const seq of state.changed) {
    const entry = state.entries.find((one) => one.first_seq === seq);
    if (entry?.kind === 'text' && entry.voice === 'assistant' && !entry.open) announcer.textContent = entry.text.slice(0, 600);
  }
}

/** @param {string} theme */
function setTheme(theme) {
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

// The shell's own keys are pressed here, too, once a reader has clicked into the transcript.
addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && 'kbjfi'.includes(event.key)) {
    event.preventDefault();
    tell({ type: 'key', key: event.key });
  }
});
setTheme(location.hash.slice(1));
port.onmessage = (/** @type {MessageEvent} */ event) => takes[event.data?.type]?.(event.data);
// The shell has this frame's own address; only it can be the parent (frame-ancestors), and only it gets the port.
parent.postMessage({ type: 'ready' }, new URL(location.href).origin, [channel.port2]);
