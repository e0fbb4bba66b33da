/**
 * A WebSocket that reconnects: at once after a loss, then after pauses twice as long each, up to a limit; each try
 * takes a fresh ticket. What is said over it is its owner's business.
 */

const TICKET_TIMEOUT = 10_000;
const JITTER = 0.2;

/** @typedef {{first: number, longest: number}} Ladder milliseconds: the first pause, and the longest one */

/**
 * How long to wait before a try: the first is made at once. Later pauses double each time, a fifth more or less so
 * that browsers do not come all at once.
 * @param {number} attempt 1 after the first loss
 * @param {Ladder} ladder
 * @param {number} [random] from 0 to 1
 */
export function backoff(attempt, { first, longest }, random = Math.random()) {
  if (attempt === 1) return 0;
  return Math.min(longest, first * 2 ** (attempt - 2) * (1 - JITTER + random * 2 * JITTER));
}

/**
 * What the server says about a key that opens nothing: what became of it, and on its own machine how to get another.
 * `pair` is the code by which it refused a one-time link.
 * @typedef {{
 *   ended?: {reason: string, at: string, by: string, share: number},
 *   command?: string,
 *   pair?: string,
 * }} Refused
 */

/** @typedef {import('./types.d.ts').HttpOperations['POST /api/tickets']} Ticket */

/**
 * @typedef {object} Options
 * @property {() => string | null} key the secret of this browser
 * @property {Ticket['body']} [ticket] what the ticket is for
 * @property {(ticket: string) => string} address path and query of the socket
 * @property {Ladder} ladder
 * @property {() => Promise<void> | void} onOpen
 * @property {(data: string | ArrayBuffer) => void} onMessage
 * @property {(event: CloseEvent) => boolean} onClose whether to connect again
 * @property {(attempt: number, wait: number) => void} onLost
 * @property {(why: Refused | null) => void} onRefused this browser is not let in
 * @property {() => void} [onDrop] the socket is gone, closed by either side
 */

export class ReconnectingSocket {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** Losses since the owner last called `settled`. */
    this.attempt = 0;
    /** Not let in: nothing is tried again by itself. */
    this.refused = false;
    /** The newest try counts; an older one that still waits for its ticket comes to nothing. */
    this.tries = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Over when the socket is open and `onOpen` is done, or when this try failed. */
  async connect() {
    const mine = ++this.tries;
    clearTimeout(this.timer);
    this.drop();
    try {
      const ticket = await this.#ticket();
      if (mine !== this.tries) return;
      if (typeof ticket === 'string') await this.#open(ticket);
      else this.refuse(ticket);
    } catch {
      if (mine === this.tries) this.#lost(); // no server, or it was too slow
    }
  }

  /** Connect as if nothing had been lost before. */
  restart() {
    this.settled();
    void this.connect();
  }

  /** The connection works: the next loss is a first one again. */
  settled() {
    this.attempt = 0;
    this.refused = false;
  }

  /** @param {Refused | null} why */
  refuse(why) {
    this.refused = true;
    this.options.onRefused(why);
  }

  /**
   * Not let in; the server knows more about the reason.
   * @param {Refused | null} known
   */
  async askWhy(known) {
    this.refuse(known);
    const why = await this.#ticket().catch(() => null); // no server: then nothing is known
    if (!this.refused || !why || typeof why === 'string') return;
    this.refuse(known?.pair ? { ...why, pair: known.pair } : why);
  }

  /** The other side fell silent: close, and try again. */
  abandon() {
    this.drop();
    this.#lost();
  }

  /** For good. */
  close() {
    this.tries += 1;
    clearTimeout(this.timer);
    this.drop();
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.options.onDrop?.();
  }

  /** @param {string | Uint8Array<ArrayBuffer>} data */
  send(data) {
    if (this.isOpen) this.socket?.send(data);
  }

  /** @returns {Promise<string | Refused>} why not, when this browser is not let in */
  async #ticket() {
    const key = this.options.key();
    const answer = await fetch('/api/tickets', {
      method: 'POST',
      body: JSON.stringify(this.options.ticket ?? {}),
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(TICKET_TIMEOUT),
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    });
    if (answer.status === 401 || answer.status === 403) {
      /** @type {{error?: Refused} | null} */
      const body = await answer.json().catch(() => null); // a proxy's answer says nothing
      return body?.error ?? {};
    }
    if (!answer.ok) throw new Error(String(answer.status));
    /** @type {Ticket['answer']} */
    const { ticket } = await answer.json();
    return ticket;
  }

  /**
   * @param {string} ticket
   * @returns {Promise<void>}
   */
  #open(ticket) {
    return new Promise((resolve, reject) => {
      const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
      const socket = new WebSocket(`${scheme}://${location.host}${this.options.address(ticket)}`);
      socket.binaryType = 'arraybuffer';
      this.socket = socket;
      socket.onopen = () => resolve(this.options.onOpen());
      socket.onmessage = (event) => {
        if (this.socket === socket) this.options.onMessage(event.data);
      };
      socket.onclose = (event) => {
        reject(new Error('The connection closed.'));
        if (this.socket === socket) this.#closed(event);
      };
    });
  }

  /** @param {CloseEvent} event */
  #closed(event) {
    this.drop();
    if (this.options.onClose(event)) this.#lost();
  }

  #lost() {
    if (this.refused) return;
    this.tries += 1; // the try whose connection broke is over, and counts once
    this.attempt += 1;
    const wait = backoff(this.attempt, this.options.ladder);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.connect(), wait);
    this.options.onLost(this.attempt, wait);
  }
}
