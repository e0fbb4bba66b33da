/**
 * The requests this page knows: the server's list after each connect, its pushes from then on, and what became of those
 * that were settled while the page was away.
 */

import { filled } from '../../js/reduce.js';
import { put, table, tableOf, without } from '../../js/tables.js';
import { requestKey } from '../state.js';

const PAGE = 60;
const SHOWN_FOR = { answered: 12_000, withdrawn: 6000 }; // milliseconds after a request was settled

/** @typedef {import('../../js/store.js').Store<import('../state.js').State>} Store */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/** @typedef {import('../../js/types.d.ts').RequestView} RequestView */

/**
 * The open requests among a session's entries: a reader of this session alone gets no list.
 * @param {string} id
 * @param {import('../../js/types.d.ts').Entry[]} entries
 * @returns {OpenRequest[]}
 */
export const openIn = (id, entries) =>
  entries
    .filter((entry) => entry.kind === 'request')
    .filter(({ asked, state }) => asked && state === 'open')
    .map(({ asked, first_seq: seq, at }) => ({
      session_id: id,
      request_id: asked.request_id,
      ...(asked.type === 'question_asked' ? { kind: 'question', asked } : { kind: 'permission', asked }),
      state: 'open',
      opened_at: at,
      seq,
      input_sha256: asked.input_sha256,
    }));

/**
 * The same request as the server has it now; `kind` and `asked` belong together there too.
 * @param {OpenRequest | undefined} held
 * @param {RequestView | OpenRequest} request
 */
const updated = (held, request) => /** @type {OpenRequest} */ ({ ...held, ...request });

/**
 * What the page holds once the server has listed the open requests, and which open ones that list no longer names.
 * @param {Record<string, OpenRequest>} held
 * @param {(RequestView | OpenRequest)[]} listed
 */
export function afterList(held, listed) {
  const open = listed.map((request) => {
    const key = requestKey(request);
    return /** @type {const} */ ([key, updated(held[key], request)]);
  });
  const names = new Set(open.map(([key]) => key));
  const settled = Object.entries(held).filter(([, request]) => request.state !== 'open');
  const unlisted = Object.entries(held).filter(([key, request]) => request.state === 'open' && !names.has(key));
  return { requests: tableOf([...settled, ...open]), unlisted };
}

/**
 * A request after an event of its session's log that settles it.
 * @param {OpenRequest} request
 * @param {import('../../js/types.d.ts').Logged} logged
 * @returns {OpenRequest | null} null when the event does not settle it
 */
export function settledBy(request, { at, event }) {
  if (!('request_id' in event) || event.request_id !== request.request_id) return null;
  switch (event.type) {
    case 'permission_answered':
    case 'question_answered':
      return /** @type {OpenRequest} */ ({ ...request, state: 'answered', answer: event, answered_at: at });
    case 'permission_withdrawn':
    case 'question_withdrawn':
      return { ...request, state: 'withdrawn', gone: event.reason };
    default:
      return null;
  }
}

export class KnownRequests {
  /**
   * @param {Store} store
   * @param {import('../../js/api.js').Api} api
   */
  constructor(store, api) {
    this.store = store;
    this.api = api;
    /** Requests pushed while the list of them is under way: newer than the list. @type {RequestView[] | null} */
    this.pushed = null;
    /** Open before a loss and not listed after it; the events that follow say why. @type {Map<string, OpenRequest>} */
    this.unlisted = new Map();
  }

  /** From here on pushes are remembered, until `set` has taken the list. */
  expectList() {
    this.pushed = [];
  }

  /** All open requests, for `set`. */
  list() {
    this.expectList();
    return this.api.requests();
  }

  /**
   * The open requests of one session, read from its entries.
   * @param {string} id
   */
  async read(id) {
    this.expectList();
    const page = await this.api.entries(id, { limit: PAGE });
    this.set(openIn(id, page.entries.map(filled)));
  }

  /**
   * All open requests, as the server lists them. What is missing there is settled.
   * @param {(RequestView | OpenRequest)[]} listed
   */
  set(listed) {
    const { pushed } = this;
    this.pushed = null;
    const { requests, unlisted } = afterList(this.store.get().requests, listed);
    this.store.set({ requests });
    for (const key of Object.keys(requests)) this.unlisted.delete(key);
    for (const [key, request] of unlisted) this.unlisted.set(key, request);
    for (const request of pushed ?? []) this.take(request);
  }

  /**
   * The server pushed a request that was opened, answered, delivered or withdrawn.
   * @param {RequestView} request as `requests:list` has it
   */
  take(request) {
    this.pushed?.push(request);
    const key = requestKey(request);
    const known = this.store.get().requests[key];
    if (request.state === 'open') this.#put(updated(known, request));
    else if (!known) return;
    else if (request.state === 'withdrawn') this.#settle({ ...updated(known, request), gone: request.reason });
    else if (known.here && request.state !== 'answered') this.#remove(key);
    else if (known.state === 'open') this.#settle({ ...updated(known, request), state: 'answered' });
  }

  /**
   * An event of a session that is followed. Of a request settled while the page was away nobody pushes anything: its
   * session's log says who answered it.
   * @param {string} id
   * @param {import('../../js/types.d.ts').Logged} logged
   */
  absorb(id, logged) {
    if (!('request_id' in logged.event) || !logged.event.request_id) return;
    const key = requestKey({ session_id: id, request_id: logged.event.request_id });
    const known = this.store.get().requests[key];
    if (logged.event.type === 'answer_delivered' && known?.here && known.state === 'answered') this.#remove(key);
    const unlisted = this.unlisted.get(key);
    const settled = unlisted && settledBy(unlisted, logged);
    if (!settled) return;
    this.unlisted.delete(key);
    this.#settle(settled);
  }

  /**
   * Nothing of this session any more, or of none.
   * @param {string} [id]
   */
  forget(id) {
    /** @param {OpenRequest} request */
    const stays = (request) => id !== undefined && request.session_id !== id;
    for (const [key, request] of this.unlisted) if (!stays(request)) this.unlisted.delete(key);
    this.store.set(({ requests }) => ({
      requests: id === undefined ? table() : tableOf(Object.entries(requests).filter(([, one]) => stays(one))),
    }));
  }

  /** @param {OpenRequest} request */
  #put(request) {
    this.unlisted.delete(requestKey(request));
    this.store.set((state) => ({ requests: put(state.requests, requestKey(request), request) }));
  }

  /** @param {string} key */
  #remove(key) {
    this.store.set((state) => ({ requests: without(state.requests, key) }));
  }

  /**
   * What became of a request is shown a moment, then leaves.
   * @param {OpenRequest} request
   */
  #settle(request) {
    this.#put(request);
    const key = requestKey(request);
    setTimeout(
      () => {
        if ((this.store.get().requests[key]?.state ?? 'open') !== 'open') this.#remove(key);
      },
      SHOWN_FOR[/** @type {keyof typeof SHOWN_FOR} */ (request.state)],
    );
  }
}
