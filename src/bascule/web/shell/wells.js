/**
 * The frames agents' words are drawn in: one per open session, sandboxed with an origin of its own. A frame is
 * known by its window; after its first word only its port counts, and the port can ask for five harmless things.
 */

import { h } from '../js/dom.js';

const MOST_FRAMES = 12;
// Of the shell's keys the harmless ones: none of them can reach a request.
const KEYS = new Set(['k', 'b', 'j', 'f', 'i']);

/** @typedef {{frame: HTMLIFrameElement, port: MessagePort | null, waiting: any[], used: number}} Well */

export class Wells {
  /**
   * @param {HTMLElement} place
   * @param {{more: (id: string, before: number) => void, link: (href: string) => void, copy: (text: string) => void, changes: (id: string) => void, found: (result: {count: number, at: number}) => void, key: (key: string) => void}} answers
   * @param {() => string} theme
   */
  constructor(place, answers, theme) {
    this.place = place;
    this.answers = answers;
    this.theme = theme;
    /** @type {Map<string, Well>} */
    this.wells = new Map();
    /** @type {Well | null} */
    this.spare = null;
    /** @type {string | null} */
    this.shown = null;
    addEventListener('message', (event) => this.#hello(event));
  }

  /** Only a frame of ours, by its window; its origin is opaque and says nothing. @param {MessageEvent} event */
  #hello(event) {
    const well = [...this.wells.values(), ...(this.spare ? [this.spare] : [])].find((one) => one.frame.contentWindow === event.source);
    if (!well || event.data?.type !== 'ready' || event.ports.length !== 1 || well.port) return;
    well.port = event.ports[0];
    well.port.onmessage = (message) => {
      const id = [...this.wells].find(([, one]) => one === well)?.[0];
      if (id !== undefined) this.#asked(id, message.data);
    };
    for (const message of well.waiting) well.port.postMessage(message);
    well.waiting = [];
  }

  /** @param {string} id @param {any} message */
  #asked(id, message) {
    switch (message?.type) {
      case 'more': if (Number.isSafeInteger(message.before)) this.answers.more(id, message.before); break;
      case 'link': if (typeof message.href === 'string') this.answers.link(message.href); break;
      case 'copy': if (typeof message.text === 'string') this.answers.copy(message.text); break;
      case 'changes': this.answers.changes(id); break;
      case 'key': if (this.#hasFocus(id) && KEYS.has(message.key)) this.answers.key(message.key); break;
      case 'found': this.answers.found({ count: Number(message.count) || 0, at: Number(message.at) || 0 }); break;
      default: break;
    }
  }

  /** A frame may pass on a key only while the person is in it. @param {string} id */
  #hasFocus(id) {
    return document.activeElement === this.wells.get(id)?.frame;
  }

  /** @param {string | null} id */
  show(id) {
    if (id === this.shown) return;
    this.shown = id;
    for (const [name, well] of this.wells) {
      well.frame.classList.toggle('away', name !== id);
      well.frame.tabIndex = name === id ? 0 : -1;
    }
    const well = id === null ? undefined : this.wells.get(id);
    if (well) well.used = Date.now();
  }

  /** @param {string} id @returns {boolean} whether it had to be made, so that its content must be sent */
  ensure(id) {
    if (this.wells.has(id)) return false;
    const well = this.spare ?? this.#made();
    this.spare = null;
    well.used = Date.now();
    this.wells.set(id, well);
    this.#keepFew();
    if (id === this.shown) well.frame.classList.remove('away');
    this.tell(id, { type: 'theme', theme: this.theme() });
    setTimeout(() => this.warm(), 1500);
    return true;
  }

  /** Keep one frame loaded ahead, so that the next session opens at once. */
  warm() {
    this.spare ??= this.#made();
  }

  /** @returns {Well} */
  #made() {
    const frame = h('iframe', { sandbox: 'allow-scripts', title: 'Transcript', tabindex: -1, src: `/portlet#${this.theme()}`, class: 'away' });
    this.place.append(frame);
    return { frame, port: null, waiting: [], used: 0 };
  }

  #keepFew() {
    if (this.wells.size <= MOST_FRAMES) return;
    const [oldest] = [...this.wells].filter(([id]) => id !== this.shown).sort((a, b) => a[1].used - b[1].used)[0];
    this.forget(oldest);
    this.onForgotten?.(oldest);
  }

  /** @type {((id: string) => void) | undefined} */
  onForgotten;

  /** @param {string} id */
  forget(id) {
    this.wells.get(id)?.frame.remove();
    this.wells.delete(id);
  }

  /** @param {string} id @param {any} message */
  tell(id, message) {
    const well = this.wells.get(id);
    if (!well) return;
    if (well.port) well.port.postMessage(message);
    else well.waiting.push(message);
  }

  /** @param {any} message */
  tellAll(message) {
    for (const id of this.wells.keys()) this.tell(id, message);
  }

  /** @param {string} id @param {any} page */
  opened(id, page) {
    this.ensure(id);
    this.tell(id, { type: 'open', cwd: page.session.cwd ?? '', seq: page.seq, entries: page.entries, before: page.before });
  }

  /** @param {string} id @param {any[]} entries */
  events(id, entries) {
    this.tell(id, { type: 'events', entries });
  }

  /** @param {string} id @param {any} page */
  older(id, page) {
    this.tell(id, { type: 'older', entries: page.entries, before: page.before });
  }
}
