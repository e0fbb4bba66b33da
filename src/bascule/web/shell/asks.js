/** The requests of the session in view, one at a time and the oldest first; and what became of those just settled. */

import { newKey } from '../js/api.js';
import { h, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { clockTime } from '../js/words.js';
import { GUARD, permissionCard } from './permission.js';
import { questionCard } from './question.js';
import { agentTitle, askKey, deviceName, mayAct, openAsks, shownSession } from './state.js';
import { wishOf } from './scope.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Ask} Ask */

/** @param {HTMLElement} root @param {App} app */
export function mountAsks(root, app) {
  /** Since when each request has been in sight: a fresh one is inert for a moment. @type {Map<string, number>} */
  const since = new Map();
  /** @type {Set<string>} requests whose end was seen */
  const seen = new Set();
  /** @type {Map<string, import('./question.js').Draft>} */
  const drafts = new Map();
  /** @type {Map<string, {key: string, text: string}>} */
  const sending = new Map();
  let reasonFor = '';
  let showing = '';
  const again = () => draw(app.store.get());

  /** @param {State} state */
  function draw(state) {
    const id = shownSession(state);
    const all = id ? openAsks(state, id) : [];
    const settled = id ? Object.values(state.asks).filter((ask) => ask.session_id === id && ask.state !== 'open').slice(-1) : [];
    const picked = state.route.name === 'inbox' ? state.inboxPick : id ? state.askPick[id] : undefined;
    const at = Math.max(0, all.findIndex((ask) => askKey(ask) === picked));
    const ask = all[at];
    document.body.classList.toggle('asking', Boolean(ask) && !state.later[askKey(ask)]);
    root.classList.toggle('has', all.length > 0);
    if (!ask) {
      showing = '';
      update(root, settled.map((one) => settledCard(state, one)));
      return;
    }
    const key = askKey(ask);
    if (showing !== key) appear(state, ask, key, at, all.length);
    const inert = performance.now() - (since.get(key) ?? 0) < GUARD;
    const sent = sending.get(key);
    const shown = sent ? { ...ask, sending: sent.text } : ask;
    const turn = {
      at, all, inert, seen: seen.has(key), reason: reasonFor === key, draft: drafts.get(key) ?? {},
      onPick: (/** @type {number} */ step) => pick(all[(at + step + all.length) % all.length]),
      onReason: (/** @type {boolean} */ on) => { reasonFor = on ? key : ''; again(); if (on) root.querySelector('input')?.focus(); else root.querySelector('section')?.focus(); },
      onSeen: () => { seen.add(key); again(); },
      onDraft: (/** @type {import('./question.js').Draft} */ draft) => { drafts.set(key, draft); again(); },
      answer: (/** @type {Ask} */ one, /** @type {Record<string, any>} */ wish) => answer(one, 'permission', wish),
      send: (/** @type {Ask} */ one, /** @type {Record<string, any>} */ wish) => answer(one, 'question', wish),
    };
    if (!mayAct(state, ask.session_id)) update(root, [readOnly(state, ask)]);
    else update(root, [ask.kind === 'question' ? questionCard(app, state, shown, turn) : permissionCard(app, state, shown, turn)]);
    lookForEnd(key);
  }

  /** A request comes into sight, by itself or in another's place. @param {State} state @param {Ask} ask @param {string} key @param {number} at @param {number} n */
  function appear(state, ask, key, at, n) {
    const hadFocus = root.contains(document.activeElement);
    showing = key;
    reasonFor = '';
    since.set(key, performance.now());
    setTimeout(again, GUARD + 10);
    const agent = agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');
    const alert = document.getElementById('alert');
    if (alert) alert.textContent = `${ask.kind === 'question' ? `${agent} asks you something` : wishOf(agent, ask.asked)}, ${at + 1} of ${n}`;
    // After an answer the focus goes to the next request itself, never onto a button of it.
    if (hadFocus) setTimeout(() => root.querySelector('section')?.focus());
  }

  /** Short ones are seen whole at once. @param {string} key */
  function lookForEnd(key) {
    const body = root.querySelector('.body');
    if (!seen.has(key) && (!body || body.scrollHeight <= body.clientHeight + 4)) {
      seen.add(key);
      setTimeout(again);
    }
  }

  /** @param {Ask} ask */
  function pick(ask) {
    app.store.set((state) => (state.route.name === 'inbox' ? { inboxPick: askKey(ask) } : { askPick: { ...state.askPick, [ask.session_id]: askKey(ask) } }));
  }

  /** @param {Ask} ask @param {'permission' | 'question'} kind @param {Record<string, any>} wish */
  function answer(ask, kind, wish) {
    const key = askKey(ask);
    if (sending.has(key)) return;
    const allow = wish.decision === 'allow' || kind === 'question';
    if (allow && performance.now() - (since.get(key) ?? performance.now()) < GUARD) return;
    const where = deviceName(app.store.get(), app.store.get().sessions[ask.session_id]);
    const word = kind === 'question' ? 'Sent' : wish.decision === 'allow' ? 'Allowed' : 'Denied';
    sending.set(key, { key: newKey(), text: `${word}. Waiting for ${where} to confirm.` });
    again();
    const fields = Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== null));
    app.api[kind](ask.session_id, { requestId: ask.request_id, inputSha256: ask.input_sha256, key: sending.get(key)?.key, ...fields })
      .catch((/** @type {any} */ error) => {
        // Somebody was faster, or it was taken back: the event that says so is on its way.
        if (error.code !== 'ALREADY_ANSWERED' && error.code !== 'REQUEST_WITHDRAWN') app.trouble(error);
      })
      .finally(() => { sending.delete(key); again(); });
  }

  /** @param {State} state @param {Ask} ask */
  function settledCard(state, ask) {
    const agent = agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');
    const by = ask.answer?.by ?? '';
    const mine = by === state.me?.name;
    let text = `${agent} took this request back.`;
    if (ask.state === 'answered') {
      const done = ask.kind === 'question' ? 'answered' : ask.answer.decision === 'allow' ? 'allowed' : 'denied';
      text = mine ? `${done[0].toUpperCase()}${done.slice(1)}. Waiting for ${deviceName(state, state.sessions[ask.session_id])} to confirm.` : `${by} ${done} this at ${clockTime(ask.answered_at ?? '')}. Nothing left to do.`;
    } else if (ask.gone === 'timeout') text = 'No answer in time, so it was denied. Send a message to let it try again.';
    return h('div', { class: 'note', role: 'status', 'data-key': `done ${askKey(ask)}` }, icon(ask.state === 'answered' ? 'check' : 'info'), h('span', null, text));
  }

  /** @param {State} state @param {Ask} ask */
  const readOnly = (state, ask) => h('div', { class: 'note' }, icon('clock'), h('span', null, `${wishOf(agentTitle(state, state.sessions[ask.session_id]?.agent ?? ''), ask.asked)}. Somebody else answers it.`));

  app.store.subscribe(draw);
  return { focus: () => /** @type {HTMLElement | null} */ (root.querySelector('section'))?.focus() };
}
