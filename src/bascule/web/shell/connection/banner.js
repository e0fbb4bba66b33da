/** What the line to the server and its devices is doing, in one thin line; the transcript stays as it is meanwhile. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { clockTime, count, ordinal, waited } from '../../js/format.js';
import { several, waitingPairings } from '../machines.js';
import { ownerButton } from '../owner_note.js';
import { refusing } from '../owner_only.js';
import { STORAGE_ADVICE, awayOf, longWait } from './away.js';
import { markOf, restoredWords, unreadRestore } from './restored.js';
import { titleOf } from '../sessions.js';
import { mayAct, shownSession } from '../state.js';
import { unloggedWords } from '../sidebar/unlogged.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./away.js').Away} Away */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountBanner(root, app) {
  /** @param {State} state */
  function draw(state) {
    const away = awayOf(state);
    update(root, [bannerOf(app, state, away), pairingBanner(app, state)]);
    app.frames.tellAll({
      type: 'lost',
      text: away ? `Last word from ${away.name} ${clockTime(new Date(away.heardAt).toISOString())}` : '',
    });
  }

  let last = '';
  app.store.subscribe((state) => {
    const away = awayOf(state);
    const mark = JSON.stringify([
      away,
      state.back,
      state.updated,
      state.me?.role,
      state.route.name,
      state.replaced,
      unreadRestore(state),
      state.unlogged.length,
      state.side,
      endsSoon(state),
      waitingPairings(state).map((pairing) => pairing.id),
      state.route.part,
    ]);
    if (mark === last) return;
    last = mark;
    draw(state);
  });
}

/**
 * One at a time, the most pressing.
 * @param {App} app
 * @param {State} state
 * @param {Away | null} away
 */
function bannerOf(app, state, away) {
  // Beside a session the long wait has a card of its own.
  if (away) return away.long && state.route.name === 'session' ? null : awayBanner(app, away);
  if (state.updated) return updatedBanner(state.updated);
  const restore = unreadRestore(state);
  if (restore) return restoredBanner(app, restore);
  if (state.replaced) return replacedBanner(app);
  const ending = endsSoon(state);
  if (ending) return endsSoonBanner(app, ending, refusing(state, state.sessions[ending.id]));
  if (state.unlogged.length && (phone() ? state.route.name !== 'list' : !state.side)) return unloggedBanner(app, state);
  if (state.back) return backBanner(state, state.back);
  if (state.me?.role === 'viewer' && !state.me.sessionId)
    return banner('info', 'eye', 'You’re following live. ', 'You can’t send, type or approve.');
  return null;
}

/**
 * @param {string} label
 * @param {() => void} onclick
 */
const button = (label, onclick) => h('button', { type: 'button', class: 'button is-small line', onclick }, label);

/** @param {string} version */
const updatedBanner = (version) =>
  banner(
    'info',
    'refresh',
    `Bascule is now ${version}. `,
    'This page is from the version before. Drafts and tabs are kept.',
    button('Reload', () => location.reload()),
  );

/**
 * The session that a limit is about to end: the one in view, else the one that ends first.
 * @param {State} state
 */
function endsSoon(state) {
  const ending = Object.values(state.sessions).filter(
    (session) => session.ends_at && mayAct(state, session.session_id),
  );
  const first = ending.sort((a, b) => Date.parse(a.ends_at ?? '') - Date.parse(b.ends_at ?? ''))[0];
  const shown = ending.find((session) => session.session_id === shownSession(state)) ?? first;
  if (!shown?.ends_at) return null;
  const left = Math.ceil((Date.parse(shown.ends_at) - Date.now()) / 60_000);
  return {
    id: shown.session_id,
    title: titleOf(shown),
    when: left > 0 ? `in ${count(left, 'minute')}, at ${clockTime(shown.ends_at)}` : 'now',
    idle: shown.ends_for === 'idle_limit',
  };
}

/**
 * @param {App} app
 * @param {NonNullable<ReturnType<typeof endsSoon>>} ending
 * @param {import('../state.js').Device | undefined} refuses the machine that gives it more time only there
 */
const endsSoonBanner = (app, { id, title, when, idle }, refuses) =>
  banner(
    'warn',
    'clock',
    `“${visible(title)}” ends ${when}. `,
    idle ? 'It has been idle for a while.' : 'It is about to reach its time limit.',
    refuses
      ? ownerButton(refuses, `Keep it running on ${visible(refuses.name)}`, 'more time for a session')
      : button('Keep it running', () => void app.api.keep(id).catch(app.trouble)),
  );

/** @param {App} app */
const replacedBanner = (app) =>
  banner(
    'info',
    'refresh',
    'The log on this machine was replaced; ',
    'this view was loaded again.',
    button('OK', () => app.store.set({ replaced: false })),
  );

/**
 * @param {App} app
 * @param {import('./restored.js').Restored} restore
 */
const restoredBanner = (app, restore) =>
  banner(
    'warn',
    'refresh',
    ...restoredWords(restore),
    button('OK', () => app.store.set({ restoredSeen: markOf(restore), replaced: false })),
  );

/**
 * @param {App} app
 * @param {State} state
 */
const unloggedBanner = (app, state) =>
  banner(
    'warn',
    'alert',
    `${unloggedWords(state)} `,
    'Recover or end each of them.',
    button('Show', () => (phone() ? app.go({ name: 'list' }) : app.store.set({ side: true }))),
  );

/**
 * @param {State} state
 * @param {NonNullable<State['back']>} back
 */
function backBanner(state, { events, restarted }) {
  const caught = events ? `${count(events, 'event')} caught up.` : 'Nothing was missed.';
  if (!restarted) return banner('info', 'check', `${serverName(state)} is back. `, caught);
  return banner(
    'info',
    'refresh',
    'Bascule was restarted. ',
    `Agents kept working. ${caught} Sessions that allowed things automatically ask again.`,
  );
}

/** @type {Record<Away['kind'], (name: string) => string>} */
const TITLES = {
  line: (name) => `Lost ${name}. `,
  storage: () => 'The server can’t use its database. ',
  device: (name) => `${name} is away. `,
  stale: (name) => `${name} is quiet. `,
  update: (name) => `${name} needs an update. `,
};

/**
 * The seconds are for the eye: read aloud each time, they would drown everything else.
 * @param {number} ms
 */
const heardWords = (ms) => h('span', { 'aria-hidden': 'true' }, `Last heard ${waited(ms)} ago`);

/** @param {Away} away */
const tryingWords = ({ attempt, wait }) =>
  `Trying again, ${ordinal(attempt)} time${wait ? `, in ${wait} s` : ' now'}. `;

/** @type {Record<Away['kind'], (away: Away) => import('../../js/dom.js').Child[]>} */
const AWAY_WORDS = {
  line: (away) => [tryingWords(away), 'Agents there keep working and nothing is lost.'],
  storage: (away) => [
    `${visible(away.problem ?? '')} ${STORAGE_ADVICE} `,
    h('span', { 'aria-hidden': 'true' }, tryingWords(away)),
  ],
  device: ({ ms }) => [heardWords(ms), '; what it wrote so far is here. It reconnects on its own.'],
  stale: ({ ms }) => [heardWords(ms), '. What you send may have to wait.'],
  update: () => ['Its Bascule is too old for this server. What it wrote so far is here.'],
};

/**
 * A machine asks to join: said wherever the owner is, until it is answered.
 * @param {App} app
 * @param {State} state
 */
function pairingBanner(app, state) {
  const [first, ...others] = waitingPairings(state);
  const there = state.route.name === 'settings' && state.route.part === 'devices';
  if (!first || there || state.line.phase !== 'live') return null;
  const who = others.length
    ? `${count(others.length + 1, 'machine')} ask to join. `
    : `${visible(first.name)} asks to join. `;
  return banner(
    'info',
    'device',
    who,
    others.length
      ? 'Compare their codes, then allow or deny.'
      : ['Its code is ', h('b', { class: 'mono' }, first.code), '.'],
    button('Review', () => app.go({ name: 'settings', part: 'devices' })),
  );
}

/**
 * @param {App} app
 * @param {Away} away
 */
function awayBanner(app, away) {
  const text = away.long
    ? [`Its agents are most likely still running. Look there with `, h('code', null, 'bascule doctor'), '.']
    : AWAY_WORDS[away.kind](away);
  return banner(
    'warn',
    'off',
    away.long ? `${away.name} has been away for ${longWait(away.ms)}. ` : TITLES[away.kind](away.name),
    text,
    button(away.attempt ? 'Try now' : 'Refresh', () => app.lookAgain()),
    away.long || away.kind === 'storage' ? 'alert' : null,
  );
}

/**
 * @param {string} kind
 * @param {string} mark
 * @param {string} what
 * @param {import('../../js/dom.js').Child | import('../../js/dom.js').Child[]} more
 * @param {Node} [action]
 * @param {string | null} [role]
 */
const banner = (kind, mark, what, more, action, role = null) =>
  h(
    'div',
    { class: `banner ${kind}`, role, 'data-key': what.split(' ')[0] },
    icon(mark),
    h('span', null, h('b', null, what), more),
    h('span', { class: 'spacer' }),
    action,
  );

/** There the list is a screen of its own. */
const phone = () => matchMedia('(max-width: 720px)').matches;

/** @param {State} state */
const serverName = (state) => (several(state) ? 'The server' : (state.devices[0]?.name ?? 'Bascule'));
