/**
 * The frames agents' words are drawn in: one per open session, sandboxed with an origin of its own. A frame is
 * known by its window; after its first word only its port counts, and the port can ask for a few harmless things:
 * to read on in its own session, to search it; and, just after a person pressed something, to offer what they see.
 */

import { pointIn } from '../links.js';
import { h } from '../../js/dom.js';
import { fieldsOf, isWhole } from '../../js/json.js';
import { Drawings } from './drawings.js';

const MAX_FRAMES = 12;
// Of the shell's keys the harmless ones: none of them can reach a request.
const KEYS = new Set(['k', 'b', 'j', 'f', 'i', 'p']);
const PLACES = ['before', 'after', 'around'];
const MAX_SEARCH = 400;
const MAX_PATH = 4096;
const MAX_COPY = 4_000_000;
const MAX_KEPT = 1_048_000; // characters of a prompt

/** @typedef {import('../../js/frame_messages.d.ts').ToTranscript} ToTranscript */
/** @typedef {import('../../js/frame_messages.d.ts').Page} Page */
/** @typedef {{frame: HTMLIFrameElement, port: MessagePort | null, waiting: ToTranscript[], used: number}} Well */

export class Frames {
  /**
   * @param {HTMLElement} place
   * @param {{
   *   more: (id: string, place: Record<string, number>, number: number) => void,
   *   search: (id: string, text: string) => void,
   *   branch: (id: string) => void,
   *   edit: (id: string, seq: number) => void,
   *   source: (id: string) => void,
   *   keep: (text: string) => void,
   *   link: (href: string, at: import('../links.js').Point) => void,
   *   copy: (text: string) => void,
   *   changes: (id: string, seq: number | null) => void,
   *   file: (id: string, path: string, line: number) => void,
   *   found: (result: {count: number, at: number, looking: boolean}) => void,
   *   key: (key: string) => void,
   * }} answers
   * @param {() => string} theme
   * @param {() => string[]} names this browser's own, now and before
   * @param {(id: string) => boolean} mayBranch whether its conversation can be taken further in a second session
   * @param {() => boolean} mayKeep whether its messages can be saved in the prompt library
   */
  constructor(place, answers, theme, names, mayBranch, mayKeep) {
    this.place = place;
    this.answers = answers;
    this.theme = theme;
    this.names = names;
    this.mayBranch = mayBranch;
    this.mayKeep = mayKeep;
    /** @type {Map<string, Well>} */
    this.frames = new Map();
    this.drawings = new Drawings((id, message) => this.tell(id, message));
    /** @type {Well | null} */
    this.spare = null;
    /** @type {string | null} */
    this.shown = null;
    addEventListener('message', (event) => this.#hello(event));
  }

  /**
   * Only a frame of ours, by its window; its origin is opaque and says nothing.
   * @param {MessageEvent} event
   */
  #hello(event) {
    const well = [...this.frames.values(), ...(this.spare ? [this.spare] : [])].find(
      (frame) => frame.frame.contentWindow === event.source,
    );
    if (!well || event.data?.type !== 'ready' || event.ports.length !== 1 || well.port) return;
    well.port = event.ports[0];
    well.frame.classList.remove('unready');
    well.port.onmessage = (message) => {
      const id = [...this.frames].find(([, one]) => one === well)?.[0];
      if (id !== undefined) this.#asked(id, message.data);
    };
    for (const message of well.waiting) well.port.postMessage(message);
    well.waiting = [];
  }

  /**
   * @param {string} id
   * @param {unknown} said
   */
  #asked(id, said) {
    const message = fieldsOf(said);
    switch (message.type) {
      case 'more': {
        const place = placeIn(message);
        if (place && isWhole(message.number)) this.answers.more(id, place, message.number);
        break;
      }
      case 'search':
        if (typeof message.text === 'string' && message.text.length <= MAX_SEARCH)
          this.answers.search(id, message.text);
        break;
      case 'link':
        if (typeof message.href === 'string' && pressed())
          this.answers.link(message.href, pointIn(this.frames.get(id)?.frame, message));
        break;
      case 'copy':
        if (typeof message.text === 'string' && message.text.length <= MAX_COPY && pressed())
          this.answers.copy(message.text);
        break;
      case 'changes':
        if (pressed()) this.answers.changes(id, isWhole(message.seq) ? message.seq : null);
        break;
      case 'keep':
        if (typeof message.text === 'string' && message.text.length <= MAX_KEPT && pressed() && this.mayKeep())
          this.answers.keep(message.text);
        break;
      case 'branch':
        if (pressed() && this.mayBranch(id)) this.answers.branch(id);
        break;
      case 'edit':
        if (pressed() && isWhole(message.seq) && this.editsAfter(id) !== null) this.answers.edit(id, message.seq);
        break;
      case 'source':
        if (pressed()) this.answers.source(id);
        break;
      case 'file':
        if (typeof message.path === 'string' && message.path.length <= MAX_PATH && pressed())
          this.answers.file(id, message.path, isWhole(message.line) ? message.line : 0);
        break;
      case 'draw':
        this.drawings.draw(id, message);
        break;
      case 'key':
        if (this.#hasFocus(id) && typeof message.key === 'string' && KEYS.has(message.key))
          this.answers.key(message.key);
        break;
      case 'found':
        this.answers.found({
          count: Number(message.count) || 0,
          at: Number(message.at) || 0,
          looking: message.looking === true,
        });
        break;
      default:
        break;
    }
  }

  /**
   * A frame may pass on a key only while the person is in it.
   * @param {string} id
   */
  #hasFocus(id) {
    return document.activeElement === this.frames.get(id)?.frame;
  }

  /** @param {string | null} id */
  show(id) {
    if (id === this.shown) return;
    this.shown = id;
    for (const [name, well] of this.frames) {
      well.frame.classList.toggle('away', name !== id);
      well.frame.tabIndex = name === id ? 0 : -1;
    }
    const well = id === null ? undefined : this.frames.get(id);
    if (well) well.used = Date.now();
  }

  /**
   * @param {string} id
   * @returns {boolean} whether it had to be made, so that its content must be sent
   */
  ensure(id) {
    if (this.frames.has(id)) return false;
    const well = this.spare ?? this.#made();
    this.spare = null;
    well.used = Date.now();
    this.frames.set(id, well);
    this.#keepFew();
    if (id === this.shown) well.frame.classList.remove('away');
    this.tell(id, { type: 'theme', theme: this.theme() });
    this.tell(id, { type: 'me', names: this.names() });
    setTimeout(() => this.warm(), 1500);
    return true;
  }

  /** Keep one frame loaded ahead, so that the next session opens at once. */
  warm() {
    this.spare ??= this.#made();
  }

  /** @returns {Well} */
  #made() {
    const frame = h('iframe', {
      sandbox: 'allow-scripts',
      title: 'Transcript',
      tabindex: -1,
      src: `/portlet#${this.theme()}`,
      class: 'away unready',
    });
    this.place.append(frame);
    return { frame, port: null, waiting: [], used: 0 };
  }

  /** Frames that could not be loaded while the server was away are asked for again. */
  revive() {
    for (const { frame, port } of [...this.frames.values(), ...(this.spare ? [this.spare] : [])])
      if (!port) frame.src = `/portlet#${this.theme()}`;
  }

  #keepFew() {
    if (this.frames.size <= MAX_FRAMES) return;
    const [oldest] = [...this.frames].filter(([id]) => id !== this.shown).sort((a, b) => a[1].used - b[1].used)[0];
    this.forget(oldest);
    this.onForgotten?.(oldest);
  }

  /** @type {((id: string) => void) | undefined} */
  onForgotten;

  /** Whether this browser may read a session's files. */
  mayFiles = () => true;

  /**
   * After which number a session's messages can be edited; null: they can't.
   * @type {(id: string) => number | null}
   */
  editsAfter = () => null;

  /**
   * The title of the session whose conversation this one began as a copy of, where it is known.
   * @type {(id: string) => string}
   */
  sourceTitle = () => '';

  /** @param {string} id */
  forget(id) {
    this.frames.get(id)?.frame.remove();
    this.frames.delete(id);
    this.drawings.forget(id);
  }

  /**
   * @param {string} id
   * @param {ToTranscript} message
   */
  tell(id, message) {
    const well = this.frames.get(id);
    if (!well) return;
    if (well.port) well.port.postMessage(message);
    else well.waiting.push(message);
  }

  /** @param {ToTranscript} message */
  tellAll(message) {
    for (const id of this.frames.keys()) this.tell(id, message);
  }

  /**
   * @param {string} id
   * @param {Page & {session: import('../../js/types.d.ts').WireSessionView}} page
   */
  opened(id, page) {
    if (page.session.driver === 'terminal') return this.forget(id); // it has a frame of another kind
    this.ensure(id);
    this.tell(id, {
      type: 'open',
      cwd: page.session.cwd ?? '',
      seq: page.seq,
      entries: page.entries,
      before: page.before,
      after: page.after ?? null,
      files: this.mayFiles(),
    });
    this.tellMay(id);
  }

  /**
   * What may be done changes with what is known of the agents.
   * @param {string} id
   */
  tellMay(id) {
    const [editsAfter, source] = [this.editsAfter(id), this.sourceTitle(id)];
    this.tell(id, { type: 'may', branch: this.mayBranch(id), keep: this.mayKeep(), editsAfter, source });
  }

  /**
   * @param {string} id
   * @param {import('../../js/types.d.ts').Logged[]} entries
   */
  events(id, entries) {
    this.tell(id, { type: 'events', entries });
  }

  /**
   * @param {string} id
   * @param {string} text
   * @param {number[] | null} seqs null when the server did not say
   */
  hits(id, text, seqs) {
    this.tell(id, { type: 'hits', text, seqs });
  }

  /**
   * @param {string} id
   * @param {number} number of the question
   * @param {Page | null} page null when there is no answer now
   */
  page(id, number, page) {
    this.tell(id, {
      type: 'page',
      number,
      page: page && { seq: page.seq, entries: page.entries, before: page.before, after: page.after ?? null },
    });
  }

  /**
   * @param {string} id
   * @param {number} seq of an entry; the frame asks for what stands around it when it does not hold it
   */
  goTo(id, seq) {
    this.tell(id, { type: 'goto', seq });
  }
}

/** What a person just did in a frame counts for the page around it; a frame alone can't do it. */
const pressed = () => navigator.userActivation?.isActive ?? true;

/**
 * At most one place to read from.
 * @param {Record<string, unknown>} message
 * @returns {Record<string, number> | null}
 */
function placeIn(message) {
  const named = PLACES.filter((name) => message[name] !== undefined);
  if (!named.length) return {};
  const [place] = named;
  const seq = message[place];
  return named.length === 1 && isWhole(seq) && seq >= 0 ? { [place]: seq } : null;
}
