/**
 * The line to the server: a ticket, a socket, numbered calls with their answers, pushes; and coming back after
 * a loss, each session from the last event this page holds.
 */

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const PING_EVERY = 10_000;
const SILENT_AFTER = 25_000;

/** An answer that says no, or no answer at all (`OFFLINE`). */
export class Refusal extends Error {
  /** @param {{code: string, message: string} & Record<string, any>} error */
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
 * }} Line
 */

export class Feed {
  /**
   * @param {object} options
   * @param {() => string | null} options.key the secret of this browser
   * @param {(line: Line) => void} options.onLine
   * @param {(message: any) => void} options.onPush
   * @param {() => Promise<void>} options.onLive called after each connect, before the line counts as live
   */
  constructor({ key, onLine, onPush, onLive }) {
    this.key = key;
    this.onLine = onLine;
    this.onPush = onPush;
    this.onLive = onLive;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** Counts the tries to connect: "Try now" may begin one while another still waits for its ticket. */
    this.tries = 0;
    /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.number = 0;
    /** @type {Line} */
    this.line = { phase: 'connecting', attempt: 0, retryAt: null, heardAt: Date.now(), lostAt: null };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    setInterval(() => this.#pulse(), PING_EVERY);
    addEventListener('online', () => this.retry());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden && this.line.phase === 'lost') this.retry();
    });
  }

  /** @param {Partial<Line>} change */
  #set(change) {
    this.line = { ...this.line, ...change };
    this.onLine(this.line);
  }

  /** The newest try counts; an older one that is still under way comes to nothing. */
  async connect() {
    const mine = ++this.tries;
    clearTimeout(this.timer);
    this.#drop();
    try {
      const ticket = await this.#ticket();
      if (mine !== this.tries) return;
      if (ticket === null) this.#set({ phase: 'refused', retryAt: null });
      else await this.#open(ticket);
    } catch {
      if (mine === this.tries) this.#lost();
    }
  }

  retry() {
    if (this.line.phase === 'lost') void this.connect();
  }

  /** @returns {Promise<string | null>} null when this browser is not let in */
  async #ticket() {
    const answer = await fetch('/api/tickets', {
      method: 'POST',
      body: '{}',
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(10_000),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.key() ?? ''}` },
    });
    if (answer.status === 401 || answer.status === 403) return null;
    if (!answer.ok) throw offline();
    return (await answer.json()).ticket;
  }

  /**
   * @param {string} ticket
   * @returns {Promise<void>}
   */
  #open(ticket) {
    return new Promise((resolve, reject) => {
      const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
      const socket = new WebSocket(`${scheme}://${location.host}/ws?ticket=${encodeURIComponent(ticket)}`);
      this.socket = socket;
      socket.onopen = () => resolve(this.#live(socket));
      socket.onmessage = (event) => this.#take(event.data);
      socket.onclose = (event) => {
        reject(offline());
        if (this.socket === socket) this.#closed(event);
      };
    });
  }

  /** @param {WebSocket} socket */
  async #live(socket) {
    this.#set({ heardAt: Date.now() });
    await this.onLive();
    if (this.socket !== socket) throw offline();
    this.#set({ phase: 'live', attempt: 0, retryAt: null, lostAt: null });
  }

  /** @param {string} data */
  #take(data) {
    const message = JSON.parse(data);
    this.line.heardAt = Date.now();
    if (message.type) {
      this.onPush(message);
      return;
    }
    const call = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) call?.reject(new Refusal(message.error));
    else call?.resolve(message.ok);
  }

  /** @param {CloseEvent} event */
  #closed(event) {
    this.#drop();
    if (event.code === 1008 && event.reason === 'revoked') this.#set({ phase: 'refused', retryAt: null });
    else this.#lost();
  }

  #drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    for (const call of this.waiting.values()) call.reject(offline());
    this.waiting.clear();
  }

  #lost() {
    if (this.line.phase === 'refused') return;
    this.tries += 1; // the try whose line broke is over, and counts once
    const attempt = this.line.attempt + 1;
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1)) * (0.8 + Math.random() * 0.4);
    this.#set({ phase: 'lost', attempt, retryAt: Date.now() + wait, lostAt: this.line.lostAt ?? Date.now() });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.connect(), wait);
  }

  #pulse() {
    if (!this.socket || this.socket.readyState !== WebSocket.OPEN) return;
    if (Date.now() - this.line.heardAt > SILENT_AFTER) {
      this.#drop();
      this.#lost();
      return;
    }
    this.call('ping', {}).catch(() => undefined); // a lost answer is noticed by the silence
  }

  /**
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @returns {Promise<any>}
   */
  call(type, fields = {}) {
    const socket = this.socket;
    if (!socket || socket.readyState !== WebSocket.OPEN) return Promise.reject(offline());
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ ...fields, id, type }));
    });
  }
}
