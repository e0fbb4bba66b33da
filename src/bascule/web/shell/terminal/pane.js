/**
 * One terminal in the page: the frame that draws it, the socket it is fed from, and around it, in the shell, its
 * bar, its foot, its keys, and the question before several lines are pasted. The frame is known by its window.
 */

import { pointIn } from '../links.js';
import { h, iconButton, update } from '../../js/dom.js';
import { fieldsOf, isWhole } from '../../js/json.js';
import { textOf } from '../../terminal/pasted.js';
import { resume } from '../making_room.js';
import { menu } from '../parts.js';
import { paneBar, paneFoot } from './around.js';
import { findBar } from './find.js';
import { fontSize, setFontSize } from './font.js';
import { keyBar } from './keybar.js';
import { TerminalLine } from './line.js';
import { pasting } from './paste.js';

/** @typedef {import('../app.js').App} App */

const TYPING_SECONDS = 3;
const BELL_SECONDS = 2;
const LONGEST_KEY = 32; // bytes; more at once is a paste

export class TerminalPane {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   * @param {string} id
   * @param {{beside: boolean, close: () => void, move: () => void}} way
   */
  constructor(root, app, id, way) {
    this.app = app;
    this.id = id;
    this.way = way;
    this.root = root;
    /** @type {MessagePort | null} */
    this.port = null;
    /** @type {import('./format.js').Foot} */
    this.foot = { line: 'connecting', readOnly: false, typing: '', size: null, ended: null, skipped: 0, unread: 0 };
    this.run = app.store.get().sessions[id]?.started_seq ?? 0;
    this.pasted = ''; // the text of the last keys, when they were a paste
    /** @type {Record<string, ReturnType<typeof setTimeout>>} */
    this.timers = {};
    this.line = new TerminalLine(id, app.feed.key, {
      begin: (begin) => this.#began(begin),
      bytes: (offset, data) => this.port?.postMessage({ type: 'bytes', offset, data }, [data]),
      said: (message) => this.#said(message),
      line: (state) => this.#change({ line: state }),
    });
    const { theme } = app.store.get();
    this.frame = h('iframe', {
      sandbox: 'allow-scripts',
      title: 'Terminal',
      src: `/terminal#${theme}`,
      class: 'term-frame',
    });
    this.keybar = keyBar({
      press: (key) => this.#tell({ type: 'press', key }),
      paste: () => void this.pasting.fromClipboard(),
    });
    this.bar = h('div', { class: 'terminal-bar' });
    this.find = findBar(
      (text, step) => this.#tell({ type: 'find', text, step }),
      () => this.focus(),
    );
    const ask = h('div', { class: 'terminal-confirm' });
    this.pasting = pasting(
      ask,
      app,
      (text) => this.#tell({ type: 'paste', text }),
      () => this.focus(),
    );
    this.footer = h('div', { class: 'terminal-foot', role: 'status' });
    root.replaceChildren(
      this.bar,
      this.find.bar,
      h('div', { class: 'well terminal-well' }, this.frame),
      ask,
      this.keybar.bar,
      this.footer,
    );
    this.hello = (/** @type {MessageEvent} */ event) => this.#hello(event);
    addEventListener('message', this.hello);
    this.unsubscribe = app.store.subscribe((now, before) => this.#stateChanged(now, before));
    this.#draw();
  }

  close() {
    removeEventListener('message', this.hello);
    this.unsubscribe();
    this.line.close();
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    this.root.replaceChildren();
  }

  focus() {
    this.frame.focus();
    this.#tell({ type: 'focus' });
  }

  openFind() {
    this.find.open();
  }

  /**
   * Only our own frame, by its window; its origin is opaque and says nothing.
   * @param {MessageEvent} event
   */
  #hello(event) {
    if (
      event.source !== this.frame.contentWindow ||
      event.data?.type !== 'ready' ||
      event.ports.length !== 1 ||
      this.port
    )
      return;
    this.port = event.ports[0];
    this.port.onmessage = (message) => this.#asked(message.data);
    this.#tell({ type: 'font', size: fontSize() });
    this.#tell({ type: 'theme', theme: this.app.store.get().theme });
    void this.line.connect();
    // A person who opened it wants to type; the focus of a field stays.
    const free =
      !document.activeElement ||
      !document.activeElement.closest(
        'input, textarea, select, [role=dialog], [role=alertdialog], [role=menu], iframe',
      );
    if (free && matchMedia('(pointer: fine)').matches) this.focus();
  }

  /**
   * What the frame may ask for, and nothing else.
   * @param {unknown} said
   */
  #asked(said) {
    const message = fieldsOf(said);
    switch (message.type) {
      case 'keys':
        if (message.data instanceof ArrayBuffer) this.#typed(this.keybar.taken(new Uint8Array(message.data)));
        break;
      case 'ack':
        if (isWhole(message.offset)) this.line.ack(message.offset);
        break;
      case 'fit':
        if (isWhole(message.cols) && isWhole(message.rows)) this.line.resize(message.cols, message.rows);
        break;
      case 'link':
        if (typeof message.href === 'string') this.app.openLink(message.href, pointIn(this.frame, message));
        break;
      case 'copy':
        if (typeof message.text === 'string' && this.#hasFocus()) this.app.copy(message.text);
        break;
      case 'nothing':
        this.app.note('Select some text first.');
        break;
      case 'paste':
        if (typeof message.text === 'string' && this.#hasFocus()) this.pasting.ask(message.text);
        break;
      case 'pasted':
        this.pasting.typed();
        break;
      case 'earlier':
        if (isWhole(message.lines)) this.line.earlier(message.lines);
        break;
      case 'bell':
        this.#rang();
        break;
      case 'found':
        this.find.found(Number(message.count) || 0, Number(message.at) || 0);
        break;
      case 'key':
        if (!this.#hasFocus()) break;
        if (message.key === 'f') this.openFind();
        if (message.key === 'k') this.app.events.emit('shortcut', 'k');
        break;
      default:
        break;
    }
  }

  /**
   * A paste that can't be sent is handed back; of a key that can't, the foot speaks.
   * @param {Uint8Array} keys
   */
  #typed(keys) {
    this.pasted = keys.length > LONGEST_KEY ? textOf(keys) : '';
    if (!this.line.keys(keys) && this.pasted)
      this.pasting.heldBack(
        'There is no connection',
        'It was not typed. Paste it again when the connection is back.',
        this.pasted,
      );
  }

  /** A frame is listened to about the clipboard only while the person is in it, or has just used our buttons. */
  #hasFocus() {
    return document.activeElement === this.frame || this.root.contains(document.activeElement);
  }

  /** @param {import('./line.js').Begin} begin */
  #began(begin) {
    this.#tell({ type: 'begin', ...begin });
    this.#tell({ type: 'size', cols: begin.cols, rows: begin.rows });
    this.#change({ readOnly: begin.readOnly, ended: null, unread: 0, skipped: begin.fresh ? 0 : this.foot.skipped });
  }

  /** @param {Exclude<import('../../js/types.d.ts').TerminalMessage, {type: 'begin'}>} message */
  #said(message) {
    switch (message.type) {
      case 'size':
        this.#tell({ type: 'size', cols: message.cols, rows: message.rows });
        this.#change({ size: message });
        break;
      case 'typing':
        this.#change({ typing: message.by });
        this.#later('typing', TYPING_SECONDS, () => this.#change({ typing: '' }));
        break;
      case 'skipped':
        this.#tell({ type: 'skipped', prelude: message.prelude });
        this.#change({ skipped: this.foot.skipped + message.to - message.from });
        break;
      case 'unread':
        this.#change({ unread: Number(message.bytes) || 0 });
        break;
      case 'ended':
        this.#tell({ type: 'over' });
        this.#change({ ended: message, typing: '' });
        break;
      case 'error':
        if (message.error.code === 'LINE_TOO_LONG')
          this.pasting.heldBack('The program can’t take a line this long', message.error.message, this.pasted);
        else this.app.trouble(new Error(message.error.message));
        break;
      default:
        break;
    }
  }

  /**
   * @param {import('../state.js').State} now
   * @param {import('../state.js').State} before
   */
  #stateChanged(now, before) {
    if (now.theme !== before.theme) this.#tell({ type: 'theme', theme: now.theme });
    if (now.line.phase === 'live' && before.line.phase !== 'live') this.line.retry();
    const run = now.sessions[this.id]?.started_seq ?? this.run;
    if (run !== this.run) {
      this.run = run;
      this.line.restart(); // it was started again: another tape
    }
    if (now.sessions[this.id] !== before.sessions[this.id]) this.#draw();
  }

  /** @param {Partial<import('./format.js').Foot>} patch */
  #change(patch) {
    this.foot = { ...this.foot, ...patch };
    this.#draw();
  }

  /** @param {import('../../js/frame_messages.d.ts').ToTerminal} message */
  #tell(message) {
    this.port?.postMessage(message);
  }

  /**
   * @param {string} name
   * @param {number} seconds
   * @param {() => void} run
   */
  #later(name, seconds, run) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(run, seconds * 1000);
  }

  /** The tab blinks, and nothing more: it may be another one that is in front. */
  #rang() {
    const tab = document.querySelector(`.session-tab[data-key="${CSS.escape(this.id)}"]`);
    tab?.setAttribute('data-ringing', '');
    this.#later('bell', BELL_SECONDS, () => tab?.removeAttribute('data-ringing'));
  }

  /** @param {number} step */
  #setFont(step) {
    this.#tell({ type: 'font', size: setFontSize(step) });
    this.#draw();
  }

  #tools() {
    return [
      iconButton('search', 'Find (Ctrl Shift F)', { onclick: () => this.openFind() }),
      iconButton('copy', 'Copy the selection (Ctrl Shift C)', { onclick: () => this.#tell({ type: 'copy' }) }),
      iconButton('more', 'More', {
        'aria-haspopup': 'menu',
        onclick: (/** @type {On} */ event) => this.#more(event.currentTarget),
      }),
    ];
  }

  /** @param {HTMLElement} anchor */
  #more(anchor) {
    const others = this.foot.size && !this.foot.size.owner && !this.foot.readOnly && !this.foot.ended;
    menu(anchor, [
      { label: 'Paste', icon: 'inbox', run: () => void this.pasting.fromClipboard() },
      { label: 'Larger text', note: `${fontSize()} px`, icon: 'plus', run: () => this.#setFont(1) },
      { label: 'Smaller text', icon: 'diff', run: () => this.#setFont(-1) },
      ...(others ? [{ label: 'Fit it to my window', icon: 'panel', run: () => this.line.claim() }] : []),
      { label: this.way.beside ? 'Show it alone' : 'Show it beside a chat', icon: 'columns', run: this.way.move },
    ]);
  }

  #draw() {
    const state = this.app.store.get();
    const session = state.sessions[this.id];
    const { foot, way } = this;
    this.keybar.bar.hidden = foot.readOnly || Boolean(foot.ended);
    update(this.bar, way.beside && session ? paneBar(state, session, this.#tools(), way.close) : []);
    const again = () => resume(this.app, this.id);
    update(this.footer, paneFoot(foot, way.beside ? [] : this.#tools(), again));
  }
}
