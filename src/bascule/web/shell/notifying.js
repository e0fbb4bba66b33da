/** Desktop notifications: one for whatever needs a person while nobody looks at the page, gone when it is answered. */

import { folderName } from '../js/format.js';
import { visible } from '../js/visible.js';
import { guarded, guardTitle } from './requests/guard.js';
import { agentTitle, titleOf } from './sessions.js';
import { mayAct, openRequests, requestKey } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */
/** @typedef {{key: string, id: string, words: (agent: string) => string}} Needed in session `id` */

/** What each notification stands for, so that it can be closed. @type {Map<string, Notification>} */
const shown = new Map();

/** @param {App} app */
export function mountNotifying(app) {
  app.store.subscribe((now, before) => {
    if (now.requests === before.requests && now.sessions === before.sessions) return;
    if (!shown.size && !(now.notify && document.hidden)) return;
    const open = needed(now);
    const keys = new Set(open.map((request) => request.key));
    for (const [key, one] of shown) {
      if (keys.has(key)) continue;
      one.close();
      shown.delete(key);
    }
    // What was open when the page was loaded is no news.
    if (!now.notify || !before.loaded || !document.hidden) return;
    const had = new Set(needed(before).map((request) => request.key));
    for (const request of open) {
      if (!had.has(request.key) && !now.muted.includes(request.id) && mayAct(now, request.id)) tell(app, now, request);
    }
  });
}

/**
 * Requests and questions of agents, and what a guard rail asks.
 * @param {State} state
 * @returns {Needed[]}
 */
function needed(state) {
  const asked = openRequests(state).map((ask) => ({
    key: requestKey(ask),
    id: ask.session_id,
    words: (/** @type {string} */ agent) =>
      ask.kind === 'question' ? `${agent} has a question` : `${agent} asks for permission`,
  }));
  const held = guarded(state).flatMap(({ session_id: id, guard }) =>
    guard
      ? { key: `${id}/${guard.guard_id}`, id, words: (/** @type {string} */ agent) => `${agent}: ${guardTitle(guard)}` }
      : [],
  );
  return [...asked, ...held];
}

/**
 * Nothing of the request itself: a notification stays on locked screens and in the system's own list.
 * @param {App} app
 * @param {State} state
 * @param {Needed} one
 */
function tell(app, state, { key, id, words }) {
  const session = state.sessions[id];
  const agent = session ? agentTitle(state, session.agent) : 'An agent';
  const body = session ? `${titleOf(session)} · ${visible(folderName(session.cwd))}` : '';
  try {
    const notification = new Notification(words(agent), { body, tag: `request ${key}` });
    notification.onclick = () => {
      window.focus();
      app.go({ name: 'session', id });
      notification.close();
    };
    shown.set(key, notification);
  } catch {
    // Phones show none from a page; the switch is off again, and says so.
    app.store.set({ notify: false });
    app.note('This browser can’t show notifications from a page, so they stay off.', { tone: 'bad', stay: true });
  }
}

/** Why there can be none here, if so. */
export function whyNone() {
  if (!('Notification' in window)) return 'This browser can’t show them here: that needs https, or 127.0.0.1.';
  if (Notification.permission !== 'denied') return '';
  return 'This browser blocks them for this address. Allow notifications in its settings for the site.';
}

/**
 * @param {App} app
 * @param {boolean} wanted
 */
export async function switchNotifying(app, wanted) {
  if (wanted && Notification.permission === 'default') await Notification.requestPermission();
  app.store.set({ notify: wanted && Notification.permission === 'granted' });
  if (wanted && whyNone()) app.note(whyNone(), { tone: 'bad' });
}

/**
 * The item of a session's menu, where there are notifications at all.
 * @param {App} app
 * @param {string} id
 */
export function muteChoice(app, id) {
  const { notify, muted } = app.store.get();
  if (!notify) return [];
  const isMuted = muted.includes(id);
  const without = muted.filter((other) => other !== id);
  return [
    {
      label: isMuted ? 'Unmute notifications' : 'Mute notifications',
      icon: 'bell',
      run: () => app.store.set({ muted: isMuted ? without : [...without, id] }),
    },
  ];
}
