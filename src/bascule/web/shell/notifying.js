/** Desktop notifications: one for each request that opens while nobody looks at the page, gone when it is answered. */

import { folderName } from '../js/format.js';
import { visible } from '../js/visible.js';
import { agentTitle, titleOf } from './sessions.js';
import { mayAct, openRequests, requestKey } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/** What each notification stands for, so that it can be closed. @type {Map<string, Notification>} */
const shown = new Map();

/** @param {App} app */
export function mountNotifying(app) {
  app.store.subscribe((now, before) => {
    if (now.requests === before.requests) return;
    const open = openRequests(now);
    const keys = new Set(open.map(requestKey));
    for (const [key, one] of shown) {
      if (keys.has(key)) continue;
      one.close();
      shown.delete(key);
    }
    // What was open when the page was loaded is no news.
    if (!now.notify || !before.loaded || !document.hidden) return;
    const had = new Set(openRequests(before).map(requestKey));
    for (const ask of open) {
      const id = ask.session_id;
      if (!had.has(requestKey(ask)) && !now.muted.includes(id) && mayAct(now, id)) tell(app, now, ask);
    }
  });
}

/**
 * Nothing of the request itself: a notification stays on locked screens and in the system's own list.
 * @param {App} app
 * @param {State} state
 * @param {import('./state.js').OpenRequest} ask
 */
function tell(app, state, ask) {
  const session = state.sessions[ask.session_id];
  const agent = session ? agentTitle(state, session.agent) : 'An agent';
  const body = session ? `${titleOf(session)} · ${visible(folderName(session.cwd))}` : '';
  try {
    const one = new Notification(ask.kind === 'question' ? `${agent} has a question` : `${agent} asks for permission`, {
      body,
      tag: `request ${requestKey(ask)}`,
    });
    one.onclick = () => {
      window.focus();
      app.go({ name: 'session', id: ask.session_id });
      one.close();
    };
    shown.set(requestKey(ask), one);
  } catch {
    // Phones show none from a page; the switch is off again, and says so.
    app.store.set({ notify: false });
    app.note('This browser shows no notifications from a page. They are off.', { tone: 'bad', stay: true });
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
  const without = muted.filter((one) => one !== id);
  return [
    {
      label: isMuted ? 'Unmute notifications' : 'Mute notifications',
      icon: 'bell',
      run: () => app.store.set({ muted: isMuted ? without : [...without, id] }),
    },
  ];
}
