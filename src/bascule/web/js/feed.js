/**
 * The connection to the server: numbered calls with their answers, pushes, a heartbeat, and what the page hears of
 * its state.
 */

import { ReconnectingSocket } from './reconnecting_socket.js';

// The page is usable again within two seconds of a server that answers, however long it was gone.
export const LADDER = { first: 500, longest: 1200 };
const PING_EVERY = 10_000;
const SILENT_AFTER = 25_000;

/** An answer that says no, or no answer at all (`OFFLINE`). */
export class Refusal extends Error {
  /** @param {import('./types.d.ts').Fault} error */
  constructor(error) {
    super(error.message);
    this.code = error.code;
    this.fields = error;
  }
}

const offline = () => new Refusal({ code: 'OFFLINE', message: 'Not connected right now.' });

/**
 * @typedef {{
 *   phase: 'connecting' | 'live' | 'lost' | 'refused',
 *   attempt: number,
 *   retryAt: number | null,
 *   heardAt: number,
 *   lostAt: number | null,
 *   why?: import('./reconnecting_socket.js').Refused | null,
 *   fault?: Refusal | null,
 * }} Line
 * `fault`: the server was reached, and refused what the page begins with.
 */

/**
 * What the server sends: a push, or the answer to a call, by its number. Which answer it is, its call knows.
 * @typedef {import('./types.d.ts').Push} Push
 * @typedef {Push | {id: number, error: import('./types.d.ts').Fault} | {id: number, ok: never}} Message
 */

export class Feed {
  /**
   * @param {object} options
   * @param {() => string | null} options.key the secret of this browser
   * @param {(line: Line) => void} options.onLine
   * @param {(message: import('./types.d.ts').Push) => void} options.onPush
   * @param {() => Promise<void>} options.onLive called after each connect, before the line counts as live
   */
  constructor({ key, onLine, onPush, onLive }) {
    this.key = key;
    this.onLine = onLine;
    this.onPush = onPush;
    this.onLive = onLive;
    /** @type {Map<number, {resolve: (answer: never) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.number = 0;
    /** @type {Refusal | null} */
    this.fault = null;
    /** @type {Line} */
    this.line = { phase: 'connecting', attempt: 0, retryAt: null, heardAt: Date.now(), lostAt: null };
    this.connection = new ReconnectingSocket({
      key,
      address: (ticket) => `/ws?ticket=${encodeURIComponent(ticket)}`,
      ladder: LADDER,
      onOpen: () => this.#opened(),
      onMessage: (data) => this.#take(String(data)),
      onClose: (event) => this.#closed(event),
      onLost: (attempt, wait) => this.#lost(attempt, wait),
      onRefused: (why) => this.#set({ phase: 'refused', retryAt: null, why }),
      onDrop: () => this.#dropCalls(),
    });
    setInterval(() => this.#pulse(), PING_EVERY);
    addEventListener('online', () => this.retry());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.retry();
    });
  }

  /** @param {Partial<Line>} change */
  #set(change) {
    this.line = { ...this.line, ...change };
    this.onLine(this.line);
  }

  connect() {
    return this.connection.connect();
  }

  /**
   * This browser has no key: ask what to do about that.
   * @param {import('./reconnecting_socket.js').Refused | null} [known]
   */
  askWhy(known = null) {
    return this.connection.askWhy(known);
  }

  retry() {
    if (this.line.phase === 'lost') void this.connect();
  }

  async #opened() {
    const { socket } = this.connection;
    this.#set({ heardAt: Date.now() });
    try {
      await this.onLive();
    } catch (error) {
      this.fault = error instanceof Refusal && error.code !== 'OFFLINE' ? error : null;
      throw error;
    }
    if (this.connection.socket !== socket) throw offline();
    this.connection.settled();
    this.#set({ phase: 'live', attempt: 0, retryAt: null, lostAt: null, fault: null });
  }

  /** @param {string} data */
  #take(data) {
    /** @type {Message} */
    const message = JSON.parse(data);
    this.line.heardAt = Date.now();
    if ('type' in message) {
      this.onPush(message);
      return;
    }
    const call = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if ('error' in message) call?.reject(new Refusal(message.error));
    else call?.resolve(message.ok);
  }

  /** @param {CloseEvent} event */
  #closed(event) {
    const revoked = event.code === 1008 && event.reason === 'revoked';
    const ended = { reason: 'revoked', at: new Date().toISOString(), by: '', share: 0 };
    if (revoked) void this.connection.askWhy({ ended });
    return !revoked;
  }

  #dropCalls() {
    for (const call of this.waiting.values()) call.reject(offline());
    this.waiting.clear();
  }

  /**
   * @param {number} attempt
   * @param {number} wait
   */
  #lost(attempt, wait) {
    const now = Date.now();
    const { fault } = this;
    this.fault = null;
    this.#set({ phase: 'lost', attempt, retryAt: now + wait, lostAt: this.line.lostAt ?? now, fault });
  }

  #pulse() {
    if (!this.connection.isOpen) return;
    if (Date.now() - this.line.heardAt > SILENT_AFTER) this.connection.abandon();
    else this.call('ping', {}).catch(() => undefined); // a lost answer is noticed by the silence
  }

  /**
   * Ask for an operation by its message type. `key` makes it safe to send twice; `device` names a machine.
   * @template {keyof import('./types.js').Operations} Name
   * @param {Name} type
   * @param {import('./types.js').Operations[Name]['body'] & {key?: string, device?: string | null}} fields
   * @returns {Promise<import('./types.js').Operations[Name]['answer']>}
   */
  call(type, fields) {
    if (!this.connection.isOpen) return Promise.reject(offline());
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.connection.send(JSON.stringify({ ...fields, id, type }));
    });
  }
}
