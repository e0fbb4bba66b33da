/**
 * The frame an agent's words live in. It has no secret and no network; it gets everything over one port and can
 * ask for a few harmless things: other entries of its own conversation, a search in it, a link to be opened, text to
 * be copied, the changes to be shown, a second session to be offered, a message to
 * be edited, a key of the shell's own to be heard.
 */

import { h } from '../js/dom.js';
import { firstTheme, setTheme, shellPort } from '../js/frame.js';
import { icon } from '../js/icons.js';
import { announced } from './announce.js';
import { mountAskedAbove } from './asked_above.js';
import { Drawer, drawAgain } from './drawing.js';
import { Find } from './find.js';
import { Scroll } from './scroll.js';
import { tick } from './tool.js';
import { View } from './view.js';
import { Window, nearest } from './loaded_entries.js';
import { setMine } from './who.js';

const DEAR = 6; // milliseconds
const column = /** @type {HTMLElement} */ (document.getElementById('col'));
const announcer = /** @type {HTMLElement} */ (document.getElementById('announce'));
const shapes = document.getElementById('shapes');
const { tell, listen } = shellPort();

const gap = h('div', { class: 'gap-line lost', hidden: true });
const loading = h('p', { class: 'more', hidden: true }, 'Loading earlier messages');
const loadingNewer = h('p', { class: 'more', hidden: true }, 'Loading later messages');
column.before(loading);
column.after(loadingNewer, gap);
const jump = h(
  'button',
  { type: 'button', class: 'jump', hidden: true, title: 'Jump to the latest', 'aria-label': 'Jump to the latest' },
  icon('down'),
);
document.body.append(jump);

/** Where the last click was, for what opens beside it. */
let clicked = { x: 0, y: 0 };
addEventListener(
  'click',
  (event) => {
    const box = event.target instanceof Element ? event.target.getBoundingClientRect() : null;
    // A key makes a click without a place.
    clicked = event.detail ? { x: event.clientX, y: event.clientY } : { x: box?.left ?? 0, y: box?.bottom ?? 0 };
  },
  true,
);

const drawer = new Drawer(tell);
const view = new View(column, {
  copy: (text) => tell({ type: 'copy', text }),
  link: (href) => tell({ type: 'link', href, ...clicked }),
  changes: (seq) => tell({ type: 'changes', seq }),
  branch: () => tell({ type: 'branch' }),
  edit: (seq) => tell({ type: 'edit', seq }),
  source: () => tell({ type: 'source' }),
  keep: (text) => tell({ type: 'keep', text }),
  draw: (wanted) => drawer.draw(wanted),
});
const held = new Window((place, number) => {
  loading.hidden = place.before === undefined;
  loadingNewer.hidden = place.after === undefined;
  tell({ type: 'more', number, ...place });
});
const scroll = new Scroll(column, jump, {
  live: () => held.live,
  older: () => void held.older(),
  newer: () => void held.newer(),
  latest: () => {
    if (held.live) scroll.toEnd();
    else if (held.latest()) arrived = () => scroll.toEnd();
  },
});
mountAskedAbove(column, (message) => scroll.to(message, 'start'));
const find = new Find({ window: held, view, scroll, column, bring, tell });

/** What to do once the page that was asked for is here. @type {(() => void) | null} */
let arrived = null;
let drawing = false;
let rested = 0;

/**
 * Load what is around a number, or (-1) the page above, then go on.
 * @param {number} seq
 * @param {() => void} run
 */
function bring(seq, run) {
  if (seq >= 0 ? held.around(seq) : held.older() || held.asked?.side === 'older') arrived = run;
}

/** @param {number} seq */
function goTo(seq) {
  if (!held.holds(seq)) {
    bring(seq, () => goTo(seq));
    return;
  }
  let place = held.entries.indexOf(nearest(held.entries, seq));
  let element = null;
  // Some entries are shown by another one, so the nearest that can be seen is meant.
  while (place >= 0 && !element) element = view.reveal(held.entries[place--]);
  if (!element) return;
  scroll.to(element, 'center');
  const block = element.closest('.block') ?? element;
  block.classList.add('marked');
  setTimeout(() => block.classList.remove('marked'), 4000);
}

/** @param {number} step */
function toPrompt(step) {
  if (scroll.toPrompt(step)) return;
  if (step < 0 && held.state.before === null) scroll.to(column, 'start');
  else if (step < 0) bring(-1, () => toPrompt(step));
  else if (!held.live && held.newer()) arrived = () => toPrompt(step);
  else if (held.live) scroll.toEnd();
}

/** @type {import('../js/frame_messages.d.ts').Handlers<import('../js/frame_messages.d.ts').ToTranscript>} */
const takes = {
  open: (message) => {
    shapes?.remove();
    view.cwd = message.cwd;
    view.ask.file = message.files ? (path, line) => tell({ type: 'file', path, line }) : undefined;
    arrived = null;
    held.open(message);
    draw();
    scroll.toEnd();
  },
  events: (message) => {
    held.events(message.entries);
    announcer.textContent = announced(held.state) || announcer.textContent;
    schedule();
  },
  page: ({ number, page }) => {
    const reader = scroll.readerSeq();
    const side = held.answered(number, page);
    if (!held.asked) loading.hidden = loadingNewer.hidden = true;
    const run = held.asked ? null : arrived;
    if (run) arrived = null;
    if (side === null) return;
    if (side === 'here') {
      scroll.atEnd = false;
      draw();
    } else {
      // A reader who looks for something further on has left the lines in sight.
      scroll.keeping(() => forgetFar(!run ? reader : side === 'older' ? 0 : Infinity));
    }
    if (run) run();
    else scroll.near();
  },
  theme: (message) => {
    setTheme(message.theme);
    drawAgain();
  },
  drawn: (message) => drawer.drawn(message),
  me: (message) => setMine(message.names),
  lost: (message) => {
    gap.hidden = !message.text;
    gap.textContent = message.text;
    scroll.follow();
  },
  may: (message) => {
    view.mayContinue = message.branch === true;
    view.editsAfter = message.editsAfter;
    view.source = message.source;
    document.body.classList.toggle('may-keep', message.keep === true);
    schedule();
  },
  find: (message) => find.find(message.text, message.step ?? 0),
  hits: (message) => find.found(message.text, message.seqs),
  prompt: (message) => toPrompt(message.step),
  goto: (message) => goTo(message.seq),
};

/** At most once a frame; and where a drawing is dear, leave most of the time to the reader's own scrolling. */
function schedule() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(function next() {
    if (performance.now() < rested) {
      requestAnimationFrame(next);
      return;
    }
    drawing = false;
    const began = performance.now();
    draw();
    const took = performance.now() - began;
    rested = took < DEAR ? 0 : began + 3 * took;
  });
}

function draw() {
  view.following = scroll.atEnd;
  if (!scroll.atEnd && held.crowded) {
    scroll.keeping(() => forgetFar(scroll.readerSeq()));
    return;
  }
  if (scroll.atEnd) held.keepNear(held.entries.length);
  else if (held.entries.length > view.state.entries.length) scroll.news();
  view.show(held.state);
  scroll.follow();
}

/** @param {number} reader the first number of what they look at */
function forgetFar(reader) {
  const place = held.entries.findIndex((entry) => entry.first_seq >= reader);
  held.keepNear(place < 0 ? held.entries.length : place);
  view.show(held.state);
}

// The shell's own keys are pressed here, too, once a reader has clicked into the transcript.
addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && 'kbjfip'.includes(event.key)) {
    event.preventDefault();
    tell({ type: 'key', key: event.key });
  } else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    event.preventDefault();
    toPrompt(event.key === 'ArrowUp' ? -1 : 1);
  }
});
setInterval(() => tick(column, Date.now()), 1000);
setTheme(firstTheme());
listen(takes);
