/**
 * The frames that draw diagrams and set formulas for a transcript. Each session has its own, made when it first asks:
 * what one agent wrote can't reach what is drawn for another. They get text and give text; nothing else passes.
 */

import { h } from '../../js/dom.js';
import { fieldsOf, isWhole } from '../../js/json.js';

const PATHS = /** @type {const} */ ({ diagram: '/diagram', math: '/math' });
const MAX_TEXT = 20_000;
const MAX_RESULT = 2_000_000;
const MAX_WAITING = 400;
const TIMEOUT = 20_000; // milliseconds

/** @typedef {import('../../js/frame_messages.d.ts').Drawing} Wanted */
/** @typedef {import('../../js/frame_messages.d.ts').ToTranscript} ToTranscript */
/**
 * @typedef {{
 *   frame: HTMLIFrameElement,
 *   port: MessagePort | null,
 *   queue: Wanted[],
 *   open: Set<number>,
 *   timer: ReturnType<typeof setTimeout> | undefined,
 * }} Drawer
 */

export class Drawings {
  /** @param {(id: string, message: ToTranscript) => void} tell a session's transcript */
  constructor(tell) {
    this.tell = tell;
    /** By session and kind. @type {Map<string, Drawer>} */
    this.drawers = new Map();
    addEventListener('message', (event) => this.#hello(event));
  }

  /**
   * @param {string} id
   * @param {Record<string, unknown>} message a frame's, so anything may be in it
   */
  draw(id, message) {
    const { number, kind, text } = message;
    if (!isWhole(number) || typeof text !== 'string') return;
    if (kind !== 'diagram' && kind !== 'math') return;
    const drawer = this.#drawer(id, kind);
    if (text.length > MAX_TEXT || drawer.open.size >= MAX_WAITING) {
      this.tell(id, { type: 'drawn', number, result: '', problem: 'It is too long to be drawn.' });
      return;
    }
    const wanted = { number, text, dark: message.dark === true, display: message.display === true };
    drawer.open.add(number);
    if (drawer.port) drawer.port.postMessage({ type: 'draw', ...wanted });
    else drawer.queue.push(wanted);
    drawer.timer ??= setTimeout(() => this.#giveUp(id, kind), TIMEOUT);
  }

  /** @param {string} id */
  forget(id) {
    for (const kind of Object.keys(PATHS)) {
      const drawer = this.drawers.get(`${kind} ${id}`);
      clearTimeout(drawer?.timer);
      drawer?.frame.remove();
      this.drawers.delete(`${kind} ${id}`);
    }
  }

  /**
   * @param {string} id
   * @param {keyof typeof PATHS} kind
   * @returns {Drawer}
   */
  #drawer(id, kind) {
    const known = this.drawers.get(`${kind} ${id}`);
    if (known) return known;
    const frame = h('iframe', {
      sandbox: 'allow-scripts',
      class: 'drawing-frame',
      title: 'Drawing',
      tabindex: -1,
      'aria-hidden': 'true',
      src: PATHS[kind],
    });
    document.body.append(frame);
    const drawer = { frame, port: null, queue: [], open: new Set(), timer: undefined };
    this.drawers.set(`${kind} ${id}`, drawer);
    return drawer;
  }

  /** @param {MessageEvent} event */
  #hello(event) {
    const found = [...this.drawers].find(([, one]) => one.frame.contentWindow === event.source);
    if (!found || event.data?.type !== 'ready' || event.ports.length !== 1 || found[1].port) return;
    const [key, drawer] = found;
    const id = key.slice(key.indexOf(' ') + 1);
    drawer.port = event.ports[0];
    drawer.port.onmessage = ({ data }) => this.#drawn(id, drawer, data);
    for (const wanted of drawer.queue.splice(0)) drawer.port.postMessage({ type: 'draw', ...wanted });
  }

  /**
   * @param {string} id
   * @param {Drawer} drawer
   * @param {unknown} said
   */
  #drawn(id, drawer, said) {
    const data = fieldsOf(said);
    if (data.type !== 'drawn' || !isWhole(data.number) || !drawer.open.delete(data.number)) return;
    if (!drawer.open.size) {
      clearTimeout(drawer.timer);
      drawer.timer = undefined;
    }
    const result = typeof data.result === 'string' && data.result.length <= MAX_RESULT ? data.result : '';
    const problem = typeof data.problem === 'string' ? data.problem.slice(0, 300) : '';
    this.tell(id, { type: 'drawn', number: data.number, result, problem });
  }

  /**
   * @param {string} id
   * @param {keyof typeof PATHS} kind
   */
  #giveUp(id, kind) {
    const drawer = this.drawers.get(`${kind} ${id}`);
    if (!drawer) return;
    for (const number of drawer.open)
      this.tell(id, { type: 'drawn', number, result: '', problem: 'Drawing it took too long.' });
    drawer.frame.remove();
    this.drawers.delete(`${kind} ${id}`);
  }
}
