/** The requests of the session in view, one at a time and the oldest first; and what became of those just settled. */

import { newKey } from '../../js/api.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { clockTime, waited } from '../../js/format.js';
import { cardOf } from './card.js';
import { GUARD, endInSight, pressLetter } from './permission.js';
import { agentTitle, requestKey, deviceName, isGuest, mayAct, openRequests, shownSession } from '../state.js';
import { requestTitle } from './rule_scope.js';
import { put } from '../../js/tables.js';
import { tame } from '../../js/visible.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */

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

const PATIENCE = 15_000;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountRequests(root, app) {
  /** Since when each request has been in sight: a fresh one is inert for a moment. @type {Map<string, number>} */
  const since = new Map();
  /** @type {Set<string>} requests whose end was seen */
  const seen = new Set();
  /** @type {Map<string, import('./question.js').Draft>} */
  const drafts = new Map();
  /** @type {Map<string, {key: string, text: string}>} */
  const sending = new Map();
  let reasonFor = '';
  /** What a letter does to the request in view. @type {((pressed: string) => void) | null} */
  let letter = null;
  app.events.on('requestLetter', (pressed) => letter?.(pressed));
  let showing = '';
  const phone = matchMedia('(max-width: 720px)');
  const again = () => draw(app.store.get());

  /** @param {State} state */
  function draw(state) {
    const id = shownSession(state);
    const all = id ? openRequests(state, id) : [];
    const settled = id
      ? Object.values(state.requests)
          .filter((ask) => ask.session_id === id && ask.state !== 'open' && ask.answer?.by !== 'policy')
          .slice(-1)
      : [];
    const picked = state.route.name === 'inbox' ? state.inboxPick : id ? state.requestPick[id] : undefined;
    const at = Math.max(
      0,
      all.findIndex((ask) => requestKey(ask) === picked),
    );
    const ask = all[at];
    const open = Boolean(ask) && !state.later[requestKey(ask)];
    document.body.classList.toggle('asking', open);
    root.classList.toggle('has', all.length > 0);
    const modal = open && phone.matches && mayAct(state, ask.session_id);
    for (const part of BEHIND) document.getElementById(part)?.toggleAttribute('inert', modal);
    if (!ask) {
      const hadFocus = root.contains(document.activeElement);
      showing = '';
      update(
        root,
        settled.map((one) => settledCard(state, one)),
      );
      if (hadFocus && !root.contains(document.activeElement))
        document.getElementById(state.route.name === 'inbox' ? 'inbox-list' : 'message')?.focus();
      return;
    }
    const key = requestKey(ask);
    // Put aside and taken up again counts as appearing: the hand may be where a button will be.
    const look = `${key} ${open}`;
    if (showing !== look) appear(state, ask, key, look, at, all.length);
    const inert = performance.now() - (since.get(key) ?? 0) < GUARD;
    const sent = sending.get(key);
    const shown = sent ? { ...ask, sending: sent.text } : ask;
    const turn = {
      at,
      all,
      inert,
      modal,
      built: Boolean(root.querySelector(`[data-key="${CSS.escape(key)}"] .body`)),
      seen: seen.has(key),
      reason: reasonFor === key,
      draft: drafts.get(key) ?? new Map(),
      onPick: (/** @type {number} */ step) => pick(all[(at + step + all.length) % all.length]),
      onReason: (/** @type {boolean} */ on) => {
        reasonFor = on ? key : '';
        again();
        if (on) root.querySelector('input')?.focus();
        else root.querySelector('section')?.focus();
      },
      onScroll: () => {
        if (!seen.has(key) && endInSight(root)) {
          seen.add(key);
          again();
        }
      },
      onDraft: (/** @type {import('./question.js').Draft} */ draft) => {
        drafts.set(key, draft);
        again();
      },
      answer: (/** @type {OpenRequest} */ one, /** @type {Record<string, any>} */ command) =>
        answer(one, 'permission', command),
      send: (/** @type {OpenRequest} */ one, /** @type {Record<string, any>} */ command) =>
        answer(one, 'question', command),
    };
    letter = ask.kind === 'permission' ? (pressed) => void pressLetter(root, pressed, turn) : null;
    if (!mayAct(state, ask.session_id)) update(root, [readOnly(state, ask)]);
    else update(root, [cardOf(app, state, shown, turn)]);
    if (modal && !root.contains(document.activeElement)) root.querySelector('section')?.focus();
    lookForEnd(key);
  }

  /**
   * A request comes into sight, by itself or in another's place.
   * @param {State} state
   * @param {OpenRequest} ask
   * @param {string} key
   * @param {string} look
   * @param {number} at
   * @param {number} n
   */
  function appear(state, ask, key, look, at, n) {
    const hadFocus = root.contains(document.activeElement);
    showing = look;
    reasonFor = '';
    since.set(key, performance.now());
    setTimeout(again, GUARD + 10);
    const agent = agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');
    const alert = document.getElementById('alert');
    const wants = ask.kind === 'question' ? `${agent} asks you something` : requestTitle(agent, ask.asked ?? {});
    if (alert) alert.textContent = tame(`${wants}, ${at + 1} of ${n}`);
    // After an answer the focus goes to the next request itself, never onto a button of it.
    if (hadFocus) setTimeout(() => root.querySelector('section')?.focus());
  }

  /**
   * Short ones are seen whole at once.
   * @param {string} key
   */
  function lookForEnd(key) {
    if (!seen.has(key) && endInSight(root)) {
      seen.add(key);
      setTimeout(again);
    }
  }

  /** @param {OpenRequest} ask */
  function pick(ask) {
    app.store.set((state) =>
      state.route.name === 'inbox'
        ? { inboxPick: requestKey(ask) }
        : { requestPick: put(state.requestPick, ask.session_id, requestKey(ask)) },
    );
  }

  /**
   * @param {OpenRequest} ask
   * @param {'permission' | 'question'} kind
   * @param {Record<string, any>} command
   */
  function answer(ask, kind, command) {
    const key = requestKey(ask);
    if (sending.has(key)) return;
    const allow = command.decision === 'allow' || kind === 'question';
    if (allow && performance.now() - (since.get(key) ?? performance.now()) < GUARD) return;
    const where = deviceName(app.store.get(), app.store.get().sessions[ask.session_id]);
    const word = kind === 'question' ? 'Sent' : command.decision === 'allow' ? 'Allowed' : 'Denied';
    app.store.set((now) => ({
      requests: now.requests[key] ? put(now.requests, key, { ...now.requests[key], here: true }) : now.requests,
    }));
    sending.set(key, { key: newKey(), text: `${word}. Waiting for ${where} to confirm.` });
    again();
    const fields = Object.fromEntries(Object.entries(command).filter(([, value]) => value !== null));
    app.api[kind](ask.session_id, {
      requestId: ask.request_id,
      inputSha256: ask.input_sha256,
      key: sending.get(key)?.key,
      ...fields,
    })
      // The event settles it. Should none come, the request can be answered again after a while.
      .then(() => new Promise((resolve) => setTimeout(resolve, PATIENCE)))
      .catch((/** @type {any} */ error) => {
        // Somebody was faster, or it was taken back: the event that says so is on its way.
        if (error.code !== 'ALREADY_ANSWERED' && error.code !== 'REQUEST_WITHDRAWN') app.trouble(error);
      })
      .finally(() => {
        sending.delete(key);
        again();
      });
  }

  /**
   * What became of it, and whether there is anything left to do.
   * @param {State} state
   * @param {OpenRequest} ask
   * @returns {[string, string, string]}
   */
  function settledWords(state, ask) {
    const session = state.sessions[ask.session_id];
    const agent = agentTitle(state, session?.agent ?? '');
    if (ask.gone === 'restored')
      return [
        'info',
        'This request was answered before.',
        'An older copy of the log was put back, which does not say how.',
      ];
    if (ask.state !== 'answered') {
      return [
        'x',
        `${agent} took this request back.`,
        ask.gone === 'interrupted'
          ? 'The turn was stopped.'
          : ask.gone === 'ended'
            ? 'The session has ended.'
            : ask.gone === 'lost'
              ? 'Its process went away. If it still needs this, it asks again.'
              : 'It went on without an answer.',
      ];
    }
    const by = ask.answer?.by ?? '';
    const done = ask.kind === 'question' ? 'answered' : ask.answer.decision === 'allow' ? 'allowed' : 'denied';
    if (by === 'timeout') {
      const limit = state.me?.waits?.[ask.kind] ?? 0;
      const silent = limit ? `for ${waited(limit * 1000)}` : 'in time';
      return [
        'clock',
        `No answer ${silent}, so it was ${ask.kind === 'question' ? 'given up' : 'denied'}.`,
        'Send a message to let it try again.',
      ];
    }
    if (ask.here)
      return [
        'check',
        `${done[0].toUpperCase()}${done.slice(1)}.`,
        session ? `Waiting for ${deviceName(state, session)} to confirm.` : '',
      ];
    return [
      'check',
      `${by === state.me?.name ? 'You' : by} ${done} this ` +
        `${by === state.me?.name ? 'in another browser ' : ''}at ${clockTime(ask.answered_at ?? '')}.`,
      'Nothing left to do.',
    ];
  }

  /**
   * @param {State} state
   * @param {OpenRequest} ask
   */
  function settledCard(state, ask) {
    const [mark, first, second] = settledWords(state, ask);
    return h(
      'div',
      { class: 'note', role: 'status', 'data-key': `done ${requestKey(ask)}` },
      icon(mark),
      h('span', null, first, ' ', h('small', null, second)),
    );
  }

  /**
   * @param {State} state
   * @param {OpenRequest} ask
   */
  const readOnly = (state, ask) =>
    h(
      'div',
      { class: 'note' },
      icon('clock'),
      h(
        'span',
        null,
        ask.kind === 'question'
          ? `${agentTitle(state, state.sessions[ask.session_id]?.agent ?? '')} asks something.`
          : `${requestTitle(agentTitle(state, state.sessions[ask.session_id]?.agent ?? ''), ask.asked ?? {})}.`,
        h('small', null, `${(isGuest(state) && state.me?.madeBy) || 'Somebody else'} answers it.`),
      ),
    );

  // Whoever comes back to this tab sees the request for the first time.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden || !showing) return;
    since.set(showing.replace(/ \w+$/, ''), performance.now());
    setTimeout(again, GUARD + 10);
    again();
  });
  app.store.subscribe(draw);
  return { focus: () => /** @type {HTMLElement | null} */ (root.querySelector('section'))?.focus() };
}
