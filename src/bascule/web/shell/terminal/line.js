/**
 * The socket of one terminal: bytes of the tape in, keys, sizes and acknowledgements out. After a loss it reads on
 * from the byte it holds; when that is gone, it begins again with what a screen needs.
 */

import { ReconnectingSocket } from '../../js/reconnecting_socket.js';

const LADDER = { first: 500, longest: 5000 };
const MAX_KEYS = 1024 * 1024 + 64; // in one message; a paste is taken whole or not at all
const ACK_EVERY = 128 * 1024;
const TAIL = 256 * 1024;
// How much of the tape, and how many lines of it, each "earlier" shows.
const TAILS = [
  { bytes: TAIL, lines: 5000 },
  { bytes: 1024 * 1024, lines: 20_000 },
  { bytes: 4 * 1024 * 1024, lines: 50_000 },
  { bytes: 16 * 1024 * 1024, lines: 100_000 },
];

/** @typedef {import('../../js/frame_messages.d.ts').Begin} Begin */
/** @typedef {import('../../js/types.d.ts').TerminalMessage} TerminalMessage */
/** @typedef {import('../../js/types.d.ts').TerminalBegan} TerminalBegan */

export class TerminalLine {
  /**
   * @param {string} id
   * @param {() => string | null} key
   * @param {{
   *   begin: (begin: Begin) => void,
   *   bytes: (offset: number, data: ArrayBuffer) => void,
   *   said: (message: Exclude<TerminalMessage, TerminalBegan>) => void,
   *   line: (state: 'live' | 'lost' | 'over' | 'refused') => void,
   * }} tell
   */
  constructor(id, key, tell) {
    this.id = id;
    this.tell = tell;
    this.state = /** @type {'connecting' | 'live' | 'lost' | 'over' | 'refused' | 'closed'} */ ('connecting');
    this.readOnly = false;
    /**
     * The next byte we want, of which run of which history; nothing yet when null.
     * @type {{offset: number, run: number, epoch: string} | null}
     */
    this.place = null;
    this.depth = 0;
    /** @type {number | null} */
    this.keep = null;
    this.acked = 0;
    /** @type {{cols: number, rows: number} | null} */
    this.fits = null;
    this.connection = new ReconnectingSocket({
      key,
      ticket: { purpose: 'terminal', sessionId: id },
      address: (ticket) => this.#address(ticket),
      ladder: LADDER,
      onOpen: () => undefined, // it counts as live from the server's `begin`
      onMessage: (data) => this.#take(data),
      onClose: () => this.state !== 'over' && this.state !== 'refused',
      onLost: () => this.#become('lost'),
      onRefused: () => this.#become('refused'),
    });
  }

  connect() {
    if (this.state !== 'closed') void this.connection.connect();
  }

  /**
   * Begin again from the tape's tail: another run, or more of the past.
   * @param {number | null} keep lines from the end to stay at
   */
  restart(keep = null) {
    this.place = null;
    this.keep = keep;
    this.state = 'connecting';
    this.connection.restart();
  }

  /** @param {number} lines */
  earlier(lines) {
    if (this.depth < TAILS.length - 1) this.depth += 1;
    this.restart(lines);
  }

  /** Asked to try now: the page has its own line back. */
  retry() {
    if (this.state === 'lost') this.connect();
  }

  close() {
    this.state = 'closed';
    this.connection.close();
  }

  /**
   * @param {Uint8Array} bytes
   * @returns {boolean} whether they could be sent
   */
  keys(bytes) {
    if (!this.connection.isOpen) return false;
    for (let at = 0; at < bytes.length; at += MAX_KEYS) this.connection.send(bytes.slice(at, at + MAX_KEYS));
    return true;
  }

  /**
   * @param {number} cols
   * @param {number} rows
   */
  resize(cols, rows) {
    this.fits = { cols, rows };
    if (this.place && !this.readOnly) this.#say({ type: 'resize', cols, rows });
  }

  claim() {
    this.#say({ type: 'claim' });
  }

  /**
   * The frame has drawn up to here.
   * @param {number} offset
   */
  ack(offset) {
    const caughtUp = offset === this.place?.offset;
    if (offset <= this.acked || (!caughtUp && offset - this.acked < ACK_EVERY)) return;
    this.acked = offset;
    this.#say({ type: 'ack', offset });
  }

  /** @param {string} ticket */
  #address(ticket) {
    const from = this.place
      ? `after=${this.place.offset}&run=${this.place.run}&epoch=${this.place.epoch}`
      : `after=tail&tail=${TAILS[this.depth].bytes}`;
    const lag = this.keep === null ? '' : '&lag=0'; // somebody asked for all of it
    return `/ws/terminal/${encodeURIComponent(this.id)}?${from}${lag}&ticket=${encodeURIComponent(ticket)}`;
  }

  /** @param {string | ArrayBuffer} data */
  #take(data) {
    if (typeof data !== 'string') {
      const offset = Number(new DataView(data).getBigUint64(0));
      if (this.place) this.place.offset = offset + data.byteLength - 8;
      this.tell.bytes(offset, data);
      return;
    }
    /** @type {TerminalMessage} */
    const message = JSON.parse(data);
    if (message.type === 'begin') this.#begin(message);
    else if (message.type === 'skipped' && this.place) this.place.offset = message.to;
    if (message.type === 'ended') this.#become('over');
    if (message.type === 'revoked' || message.type === 'expired') this.#become('refused');
    if (message.type !== 'begin') this.tell.said(message);
  }

  /** @param {TerminalBegan} message */
  #begin(message) {
    const goesOn =
      this.place !== null &&
      this.place.offset === message.offset &&
      this.place.run === message.run &&
      this.place.epoch === message.epoch;
    this.place = { offset: message.offset, run: message.run, epoch: message.epoch };
    this.acked = message.offset;
    this.connection.settled();
    this.readOnly = Boolean(message.readOnly);
    this.tell.begin({
      offset: message.offset,
      end: message.end,
      base: message.base,
      prelude: goesOn ? '' : message.prelude,
      cols: message.cols,
      rows: message.rows,
      readOnly: this.readOnly,
      over: message.over,
      fresh: !goesOn,
      earlier: message.offset > message.base && this.depth < TAILS.length - 1,
      scrollback: TAILS[this.depth].lines,
      keep: this.keep,
    });
    this.keep = null;
    this.#say({ type: 'ack', offset: message.offset }); // from now on we are sent no more than a window ahead
    if (this.fits && !this.readOnly && !message.over) this.#say({ type: 'resize', ...this.fits });
    this.#become('live');
  }

  /** @param {'live' | 'lost' | 'over' | 'refused'} state */
  #become(state) {
    this.state = state;
    this.tell.line(state);
  }

  /** @param {object} message */
  #say(message) {
    this.connection.send(JSON.stringify(message));
  }
}
