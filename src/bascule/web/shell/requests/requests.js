/** The requests of the session in view, one at a time and the oldest first; and what became of those just settled. */

import { update } from '../../js/dom.js';
import { put } from '../../js/tables.js';
import { sanitize } from '../../js/visible.js';
import { agentTitle } from '../sessions.js';
import { mayAct, requestKey } from '../state.js';
import { Answering } from './answering.js';
import { cardOf } from './card.js';
import { requestsInView } from './in_view.js';
import { listenForLetters } from './letters.js';
import { endInSight, pressLetter } from './permission.js';
import { pickByNumber } from './question.js';
import { requestTitle } from './rule_scope.js';
import { readOnlyCard, settledCard } from './settled.js';
import { TypedWords } from './typed.js';
import { answerCard } from './waiting.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/** @typedef {import('./answering.js').Given} Given */
/**
 * What the card of a request shows besides the request, and what it can ask for.
 * @typedef {{
 *   at: number,
 *   all: OpenRequest[],
 *   modal: boolean,
 *   inert: boolean,
 *   built: boolean,
 *   seen: boolean,
 *   asksReason: boolean,
 *   reason: string,
 *   draft: import('./question.js').Draft,
 *   onPick: (step: number) => void,
 *   onReason: (on: boolean) => void,
 *   onReasonTyped: (reason: string) => void,
 *   onScroll: () => void,
 *   onDraft: (draft: import('./question.js').Draft) => void,
 *   answer: (ask: OpenRequest, command: Given) => void,
 *   send: (ask: OpenRequest, command: Given) => void,
 * }} Turn
 */

// On a phone a request is modal: nothing behind it can be reached until it is answered or put aside.
const BEHIND = [
  'side',
  'tabs',
  'banner',
  'sbar',
  'mswitch',
  'panel',
  'find',
  'well',
  'confirm',
  'queue',
  'composer',
  'bnav',
];

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountRequests(root, app) {
  const dock = new RequestDock(root, app);
  listenForLetters(root, app, (pressed) => dock.letter?.(pressed) ?? false);
  // A person who comes back to this tab sees the request for the first time.
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) dock.appearAgain();
  });
  app.store.subscribe((state) => dock.draw(state));
  return { focus: () => dock.focusCard() };
}

class RequestDock {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.typed = new TypedWords(app);
    this.answering = new Answering(
      app,
      () => this.again(),
      (key) => this.typed.sent(key),
    );
    /** Requests whose end was seen. @type {Set<string>} */
    this.seen = new Set();
    this.showing = ''; // the request in view
    this.open = false; // or put aside
    /** What a letter does to the request in view. @type {((pressed: string) => boolean) | null} */
    this.letter = null;
    this.phone = matchMedia('(max-width: 720px)');
  }

  again() {
    this.draw(this.app.store.get());
  }

  focusCard() {
    this.root.querySelector('section')?.focus();
  }

  hasFocus() {
    return this.root.contains(document.activeElement);
  }

  appearAgain() {
    if (!this.showing) return;
    this.answering.appeared(this.showing);
    this.again();
  }

  /** @param {State} state */
  draw(state) {
    this.typed.settle(state, (key) => this.answering.sending.has(key));
    const { all, at, settled, given } = requestsInView(state);
    const notes = given.map((answer) => answerCard(this.app, state, answer));
    const ask = all[at];
    const open = Boolean(ask) && !state.later[requestKey(ask)];
    const modal = open && this.phone.matches && mayAct(state, ask.session_id);
    document.body.classList.toggle('asking', open);
    this.root.classList.toggle('has', all.length > 0);
    for (const part of BEHIND) document.getElementById(part)?.toggleAttribute('inert', modal);
    if (ask) this.#drawOpen(state, all, at, { open, modal, notes });
    else this.#drawSettled(state, settled, notes);
  }

  /**
   * @param {State} state
   * @param {OpenRequest[]} settled
   * @param {HTMLElement[]} notes
   */
  #drawSettled(state, settled, notes) {
    const hadFocus = this.hasFocus();
    this.showing = '';
    update(this.root, [...settled.map((request) => settledCard(state, request)), ...notes]);
    if (hadFocus && !this.hasFocus()) this.#focusNext();
  }

  /** Nothing is left to answer: on to the list, or to writing. The composer may be drawn only after this. */
  #focusNext() {
    queueMicrotask(() => {
      if (this.app.store.get().route.name === 'inbox') document.getElementById('inbox-list')?.focus();
      else this.app.events.emit('write', null);
    });
  }

  /**
   * @param {State} state
   * @param {OpenRequest[]} all
   * @param {number} at
   * @param {{open: boolean, modal: boolean, notes: HTMLElement[]}} how
   */
  #drawOpen(state, all, at, { open, modal, notes }) {
    const ask = all[at];
    const key = requestKey(ask);
    // Put aside and taken up again counts as appearing: the hand may be where a button will be.
    if (this.showing !== key || this.open !== open) {
      this.#appear(key, open);
      announce(state, ask, `${at + 1} of ${all.length}`);
    }
    const turn = this.#turn(all, at, modal);
    const sending = this.answering.sending.get(key);
    this.letter = (pressed) =>
      ask.kind === 'permission' ? pressLetter(this.root, pressed, turn) : pickByNumber(this.root, pressed);
    if (!mayAct(state, ask.session_id)) update(this.root, [...notes, readOnlyCard(state, ask)]);
    else update(this.root, [...notes, cardOf(this.app, state, sending ? { ...ask, sending } : ask, turn)]);
    if (modal && !this.hasFocus()) this.focusCard();
    // Short ones are seen whole at once.
    if (this.#seesEnd(key)) setTimeout(() => this.again());
  }

  /**
   * A request comes into sight, by itself or in another's place.
   * @param {string} key
   * @param {boolean} open
   */
  #appear(key, open) {
    Object.assign(this, { showing: key, open });
    this.answering.appeared(key);
    // After an answer the focus goes to the next request itself, never onto a button of it.
    if (open && this.hasFocus()) queueMicrotask(() => this.focusCard());
  }

  /**
   * @param {string} key
   * @returns {boolean} whether it does for the first time
   */
  #seesEnd(key) {
    if (this.seen.has(key) || !endInSight(this.root)) return false;
    this.seen.add(key);
    return true;
  }

  /**
   * What the card of a request shows besides the request, and what it can ask for.
   * @param {OpenRequest[]} all
   * @param {number} at
   * @param {boolean} modal
   * @returns {Turn}
   */
  #turn(all, at, modal) {
    const key = requestKey(all[at]);
    const { asking, reason, draft } = this.typed.of(key);
    return {
      at,
      all,
      modal,
      inert: this.answering.isInert(key),
      built: Boolean(this.root.querySelector(`[data-key="${CSS.escape(key)}"] .body`)),
      seen: this.seen.has(key),
      asksReason: asking,
      reason,
      draft,
      onPick: (step) => this.#pick(all[(at + step + all.length) % all.length]),
      onReason: (on) => this.#askReason(key, on),
      onReasonTyped: (words) => this.typed.keep(key, { reason: words }),
      onScroll: () => {
        if (this.#seesEnd(key)) this.again();
      },
      onDraft: (given) => {
        this.typed.keep(key, { draft: given });
        this.again();
      },
      answer: (request, command) => this.#answer(request, 'permission', command),
      send: (request, command) => this.#answer(request, 'question', command),
    };
  }

  /**
   * The button that was pressed is off from now on, so the request itself keeps the focus until it is settled.
   * @param {OpenRequest} ask
   * @param {'permission' | 'question'} kind
   * @param {Given} command
   */
  #answer(ask, kind, command) {
    if (this.hasFocus()) this.focusCard();
    this.answering.answer(ask, kind, command);
  }

  /**
   * @param {string} key
   * @param {boolean} on
   */
  #askReason(key, on) {
    this.typed.keep(key, { asking: on });
    this.again();
    if (on) this.root.querySelector('input')?.focus();
    else this.focusCard();
  }

  /** @param {OpenRequest} ask */
  #pick(ask) {
    this.app.store.set((state) =>
      state.route.name === 'inbox'
        ? { inboxPick: requestKey(ask) }
        : { requestPick: put(state.requestPick, ask.session_id, requestKey(ask)) },
    );
  }
}

/**
 * Said aloud for people who can't see it come.
 * @param {State} state
 * @param {OpenRequest} ask
 * @param {string} place
 */
function announce(state, ask, place) {
  const alert = document.getElementById('alert');
  const agent = agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');
  const wants = ask.kind === 'question' ? `${agent} has a question` : requestTitle(agent, ask.asked ?? {});
  if (alert) alert.textContent = sanitize(`${wants}, ${place}`);
}
