/**
 * The frame of one terminal. It has no secret and no network: bytes of the tape come over one port, and back go
 * keys for this terminal, how far it has drawn, what fits its window, and commands: a link, a copy, a paste.
 */

import './sheets.js';
import { FitAddon } from '../vendor/xterm-fit.js';
import { SearchAddon } from '../vendor/xterm-search.js';
import { Unicode11Addon } from '../vendor/xterm-unicode11.js';
import { WebLinksAddon } from '../vendor/xterm-web-links.js';
import { Terminal } from '../vendor/xterm.js';
import { firstTheme, setTheme as setPageTheme, shellPort } from '../js/frame.js';
import { linkWays } from './links.js';
import { colours, monospace } from './look.js';
import { needsAsking, withoutControls } from './pasted.js';
import { pressed } from './pressing.js';

const BELL_SECONDS = 0.2;
const LONGEST_COPY = 16 * 1024 * 1024;

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const { tell, listen } = shellPort();

let theme = firstTheme();
let earlier = false; // the tape has more than we were sent
/**
 * After a longer tail was replayed: where the reader was, counted from the end.
 * @type {{until: number, lines: number} | null}
 */
let keeping = null;
let proposed = '';

/** Where the pointer was last, for what opens beside it. */
let pointed = { x: 0, y: 0 };
addEventListener('pointerup', ({ clientX: x, clientY: y }) => (pointed = { x, y }), true);
const links = linkWays(place('target'), (href) => tell({ type: 'link', href, ...pointed }));
const terminal = new Terminal({
  allowProposedApi: true, // Unicode versions and search marks are behind this
  cols: 80,
  rows: 24,
  scrollback: 5000,
  fontSize: 13,
  fontFamily: monospace(),
  lineHeight: 1.25,
  cursorBlink: false,
  minimumContrastRatio: 4.5,
  macOptionIsMeta: true,
  linkHandler: links.named,
  theme: colours(theme),
});
const fit = new FitAddon();
const search = new SearchAddon();
terminal.loadAddon(fit);
terminal.loadAddon(search);
terminal.loadAddon(new Unicode11Addon());
terminal.loadAddon(new WebLinksAddon(links.found.activate, links.found));
terminal.unicode.activeVersion = '11';
terminal.open(place('screen'));

/** @type {import('../js/frame_messages.d.ts').Handlers<import('../js/frame_messages.d.ts').ToTerminal>} */
const takes = {
  begin: (message) => {
    earlier = message.earlier;
    terminal.options.disableStdin = message.readOnly || message.over;
    if (message.scrollback) terminal.options.scrollback = message.scrollback;
    if (message.fresh) terminal.reset();
    terminal.write(message.prelude);
    keeping = message.keep === null ? null : { until: message.end, lines: message.keep };
    showEarlier();
    if (keeping && message.offset >= message.end) settle(message.offset);
  },
  bytes: (message) => {
    const data = new Uint8Array(message.data, 8);
    const reached = message.offset + data.length;
    terminal.write(data, () => {
      tell({ type: 'ack', offset: reached });
      settle(reached);
    });
  },
  skipped: (message) => {
    earlier = true;
    terminal.write(message.prelude, showEarlier);
  },
  size: (message) => terminal.resize(message.cols, message.rows),
  over: () => {
    terminal.options.disableStdin = true;
    terminal.options.cursorStyle = 'underline';
  },
  theme: (message) => setTheme(message.theme),
  font: (message) => {
    terminal.options.fontSize = message.size;
    propose();
  },
  press: (message) => terminal.input(pressed(message.key, terminal.modes.applicationCursorKeysMode), true),
  paste: (message) => {
    terminal.paste(withoutControls(message.text));
    terminal.focus();
    tell({ type: 'pasted' });
  },
  copy: () => copy(),
  find: (message) => find(message.text, message.step),
  // It may come late: a menu that was opened meanwhile keeps the focus.
  focus: () => document.hasFocus() && terminal.focus(),
};

addEventListener('focus', () => terminal.focus()); // also when a window comes back that has its focus here

/** @param {number} reached */
function settle(reached) {
  if (!keeping || reached < keeping.until) return;
  terminal.scrollToLine(Math.max(0, terminal.buffer.active.baseY - keeping.lines));
  keeping = null;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
const send = (bytes) => tell({ type: 'keys', data: bytes.buffer }, [bytes.buffer]);

function copy() {
  const text = terminal.getSelection();
  if (text) tell({ type: 'copy', text: text.slice(0, LONGEST_COPY) });
  else tell({ type: 'nothing' });
}

/**
 * @param {string} text
 * @param {number} step
 */
function find(text, step) {
  if (!text) {
    search.clearDecorations();
    return;
  }
  const marks = {
    matchBackground: '#3d59a1',
    activeMatchBackground: '#ff9e64',
    matchOverviewRuler: '#3d59a1',
    activeMatchColorOverviewRuler: '#ff9e64',
  };
  const found =
    step > 0
      ? search.findNext(text, { decorations: marks })
      : search.findPrevious(text, { decorations: marks, incremental: step === 0 });
  if (!found) tell({ type: 'found', count: 0, at: 0 });
}

/** What fits this window. The terminal itself changes only when everybody's size is settled. */
function propose() {
  const size = fit.proposeDimensions();
  if (!size || !size.cols || !size.rows || `${size.cols}x${size.rows}` === proposed) return;
  proposed = `${size.cols}x${size.rows}`;
  tell({ type: 'fit', cols: size.cols, rows: size.rows });
}

function showEarlier() {
  const { active } = terminal.buffer;
  const full = active.length >= (terminal.options.scrollback ?? 0) + terminal.rows;
  place('earlier').hidden = !(
    active.type === 'normal' &&
    active.viewportY === 0 &&
    active.baseY > 0 &&
    (earlier || full)
  );
}

/** @param {string} wanted */
function setTheme(wanted) {
  theme = wanted;
  setPageTheme(wanted);
  terminal.options.theme = colours(wanted);
}

terminal.onData((/** @type {string} */ data) => send(new TextEncoder().encode(data)));
terminal.onBinary((/** @type {string} */ data) => send(Uint8Array.from(data, (one) => one.charCodeAt(0) & 255)));
terminal.onRender(showEarlier); // whatever moves the view is drawn
terminal.onBell(() => {
  tell({ type: 'bell' });
  document.body.classList.add('rang');
  setTimeout(() => document.body.classList.remove('rang'), BELL_SECONDS * 1000);
});
search.onDidChangeResults((/** @type {{resultIndex: number, resultCount: number}} */ at) =>
  tell({ type: 'found', count: at.resultCount, at: at.resultIndex + 1 }),
);
terminal.attachCustomKeyEventHandler((/** @type {KeyboardEvent} */ event) => {
  // As in other terminals; a full-screen program gets them itself.
  if (
    event.shiftKey &&
    !event.ctrlKey &&
    (event.key === 'Home' || event.key === 'End') &&
    terminal.buffer.active.type === 'normal'
  ) {
    if (event.type === 'keydown') event.key === 'Home' ? terminal.scrollToTop() : terminal.scrollToBottom();
    return false;
  }
  if (!event.ctrlKey || !event.shiftKey || event.altKey) return true;
  const key = event.key.toLowerCase();
  if (key === 'v') return false; // the browser's own paste
  if (!['c', 'f', 'k'].includes(key)) return true;
  event.preventDefault();
  if (event.type !== 'keydown') return false;
  if (key === 'c') copy();
  else tell({ type: 'key', key });
  return false;
});
/**
 * Several lines at once may run commands unseen, and so may control characters; the shell shows them and asks first.
 * @param {Event} event
 * @param {string} text
 */
function askFirst(event, text) {
  if (!needsAsking(text) || terminal.options.disableStdin) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  tell({ type: 'paste', text });
}
addEventListener('paste', (event) => askFirst(event, event.clipboardData?.getData('text/plain') ?? ''), true);
// What a phone's keyboard keeps in a clipboard of its own comes as if it had been typed. A line end alone is the Enter
// key.
addEventListener(
  'beforeinput',
  (event) => {
    const text = event.data ?? event.dataTransfer?.getData('text/plain') ?? '';
    if (text.length > 1 && event.cancelable) askFirst(event, text);
  },
  true,
);
place('earlier')
  .querySelector('button')
  ?.addEventListener('click', () =>
    tell({ type: 'earlier', lines: terminal.buffer.active.baseY - terminal.buffer.active.viewportY }),
  );
matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => setTheme(theme));
new ResizeObserver(() => requestAnimationFrame(propose)).observe(place('screen'));
setTheme(theme);
listen(takes);
