/** Sessions begun outside Bascule: a group of the sidebar, and what stands below one that is open. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { age, count, folderName, money } from '../../js/format.js';
import { agentLetter, dot } from '../parts.js';
import { agentTitle, mayStart, shownSession } from '../state.js';
import { own, put } from '../../js/tables.js';

const DOTS = { idle: 'waiting', waiting: 'blocked', working: 'running' };

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */
/** @typedef {import('../state.js').FoundItem} FoundItem */

export const GROUP = 'found:';
const FEW = 5;
const LOOK_MS = 15_000;
const PROGRESS_MS = 700;
const FOLLOW_MS = 2_000;

/**
 * Keeps the list fresh while the page is looked at, and follows the session in view.
 * @param {HTMLElement} composer
 * @param {App} app
 */
export function mountFound(composer, app) {
  const bar = h('div', { id: 'foundbar' });
  composer.before(bar);
  let asked = 0;
  let asking = false;
  let followed = { id: '', at: 0 };

  /** @param {State} state */
  function look(state) {
    const wait = state.found?.looking.running ? PROGRESS_MS : LOOK_MS;
    const me = state.me;
    if (
      asking ||
      !me ||
      me.role === 'session' ||
      me.sessionId ||
      state.line.phase !== 'live' ||
      document.hidden ||
      Date.now() - asked < wait
    )
      return;
    if (state.found && state.collapsed.includes(GROUP) && !state.found.looking.running) return;
    asking = true;
    asked = Date.now();
    app.api
      .found()
      .then(
        (found) => app.store.set({ found }),
        () => undefined,
      ) // the device is away: asked again in a while
      .finally(() => {
        asking = false;
      });
  }

  /** @param {State} state */
  function follow(state) {
    const id = shownSession(state) ?? '';
    if (!state.sessions[id]?.found || state.line.phase !== 'live' || document.hidden) return;
    if (followed.id === id && Date.now() - followed.at < FOLLOW_MS) return;
    followed = { id, at: Date.now() };
    app.api.follow(id).then(
      (now) => {
        app.store.set((known) => ({
          foundOpen: put(known.foundOpen, id, { terminal: now.terminal ?? null, command: now.command ?? '' }),
        }));
        // The person in the terminal went back in it, so it had to be read anew.
        if (now.sessionId !== id && shownSession(app.store.get()) === id)
          app.go({ name: 'session', id: now.sessionId });
      },
      () => undefined,
    ); // it may have been continued in this moment; the next look tells
  }

  /** @param {State} state */
  const draw = (state) => {
    look(state);
    follow(state);
    const session = state.sessions[shownSession(state) ?? ''];
    update(
      bar,
      session?.found && state.route.name === 'session' && openTerminal(state, session)
        ? [terminalNote(state, session)]
        : [],
    );
  };
  app.store.subscribe(draw);
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
function openTerminal(state, session) {
  const id = session.session_id;
  const listed = state.found?.sessions.find((one) => one.sessionId === id)?.terminal ?? null;
  return id in state.foundOpen ? state.foundOpen[id].terminal : listed;
}

/**
 * What the agent does there, as it says itself.
 * @param {{status: string, waitingFor?: string}} terminal
 */
export const terminalWords = (terminal) =>
  terminal.status === 'working'
    ? 'working'
    : terminal.status === 'waiting'
      ? `waiting there${terminal.waitingFor ? ` (${terminal.waitingFor})` : ''}`
      : 'idle';

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
function terminalNote(state, session) {
  const terminal = openTerminal(state, session);
  return (
    terminal &&
    h(
      'p',
      { class: 'foundnote' },
      icon('terminal', 14),
      h(
        'span',
        null,
        h('b', null, `Open in a terminal, ${terminalWords(terminal)}.`),
        ' You read along. ',
        terminal.listens
          ? `A message is delivered when ${agentTitle(state, session.agent)} is idle there.`
          : [
              'A message waits until it is closed there; then the session goes on here with it. ',
              h('code', null, 'bascule feedback on'),
              ' has it delivered there, when the agent is idle.',
            ],
      ),
    )
  );
}

/**
 * When a message for a session in a terminal goes out.
 * @param {State} state
 * @param {SessionRecord} session
 */
export const deliveryWords = (state, session) =>
  openTerminal(state, session)?.listens
    ? `delivered when ${agentTitle(state, session.agent)} is idle in its terminal`
    : 'sent when its terminal is closed, or sooner after `bascule feedback on`';

/**
 * The words in the empty composer of a session that is open in a terminal.
 * @param {State} state
 * @param {SessionRecord} session
 */
export const foundPlaceholder = (state, session) => {
  if (!session.found) return '';
  const agent = agentTitle(state, session.agent);
  return openTerminal(state, session)?.listens
    ? `Message ${agent}. It is delivered when ${agent} is idle in its terminal.`
    : `Message ${agent}. It waits until the terminal is closed.`;
};

/**
 * In the composer's place, when the session is over where it was begun.
 * @param {State} state
 * @param {App} app
 * @param {SessionRecord} session
 */
export function foundClosed(state, app, session) {
  const id = session.session_id;
  const command = state.foundOpen[id]?.command;
  const go = () => void app.api.resume(id).then(() => app.note('It goes on here, with everything above.'), app.trouble);
  return [
    icon('info'),
    h(
      'span',
      { class: 'foundwords' },
      `Begun outside Bascule, read from ${agentTitle(state, session.agent)}’s own files. Read only ` +
        'until you continue it here.',
      command && h('small', null, 'Or in a terminal there: ', h('code', null, command)),
    ),
    h('span', { class: 'sp' }),
    command &&
      h(
        'button',
        { type: 'button', class: 'btn line', onclick: () => app.copy(command) },
        icon('copy'),
        'Copy command',
      ),
    mayStart(state) && h('button', { type: 'button', class: 'btn line', onclick: go }, icon('play'), 'Continue here'),
  ];
}

/**
 * @param {State} state
 * @param {App} app
 */
export function foundGroup(state, app) {
  const found = state.found;
  if (!found || (!found.total && !found.looking.running)) return null;
  const closed = state.collapsed.includes(GROUP);
  const toggle = () =>
    app.store.set((now) => ({
      collapsed: closed ? now.collapsed.filter((one) => one !== GROUP) : [...now.collapsed, GROUP],
    }));
  const all = found.sessions.filter((one) => !one.archived);
  const shown = state.foundAll ? all : all.filter((one, n) => n < FEW || one.terminal);
  return h(
    'section',
    { class: 'grp', 'data-key': GROUP, 'aria-label': 'On this machine' },
    h(
      'div',
      { class: 'gh' },
      h(
        'button',
        {
          type: 'button',
          class: 'gt',
          title: 'Sessions begun outside Bascule',
          'aria-expanded': String(!closed),
          onclick: toggle,
        },
        h('span', { class: `car ${closed ? '' : 'down'}` }, icon('right', 12)),
        icon('device', 14),
        h('span', { class: 'gn' }, 'On this machine'),
        h('span', { class: 'n' }, String(found.total)),
      ),
    ),
    !closed && progress(found.looking),
    !closed && shown.map((one) => foundRow(state, app, one)),
    !closed && all.length > shown.length && moreRow(`Show all ${all.length}`, () => app.store.set({ foundAll: true })),
    !closed && state.foundAll && all.length > FEW && moreRow('Show fewer', () => app.store.set({ foundAll: false })),
  );
}

/**
 * @param {string} label
 * @param {() => void} run
 */
const moreRow = (label, run) =>
  h(
    'button',
    { type: 'button', class: 'srow foundmore', 'data-key': label, onclick: run },
    h('span', { class: 'st' }, h('span', { class: 't' }, label)),
  );

/** @param {{running: boolean, done: number, total: number}} looking */
function progress(looking) {
  if (!looking.running || !looking.total) return null;
  return h(
    'div',
    { class: 'foundlook', 'data-key': 'progress' },
    h('span', null, `Reading ${looking.done + 1} of ${looking.total}`),
    h('progress', {
      max: String(looking.total),
      value: String(looking.done),
      'aria-label': 'Reading the sessions on this machine',
    }),
  );
}

/**
 * @param {State} state
 * @param {App} app
 * @param {FoundItem} one
 */
function foundRow(state, app, one) {
  const chosen = shownSession(state) === one.sessionId && state.route.name === 'session';
  const status = one.terminal ? (own(DOTS, one.terminal.status) ?? 'running') : 'ended';
  const word = one.terminal ? `open in a terminal, ${terminalWords(one.terminal)}` : 'over';
  const facts = one.terminal
    ? [`In a terminal, ${terminalWords(one.terminal)}`]
    : [folderName(one.cwd), count(one.messages, 'message'), one.costUsd ? money(one.costUsd) : ''];
  return h(
    'button',
    {
      type: 'button',
      class: `srow two ${chosen ? 'sel' : ''}`,
      'data-key': one.sessionId,
      'aria-current': chosen ? 'page' : null,
      title: one.cwd,
      onclick: () => app.go({ name: 'session', id: one.sessionId }),
    },
    dot(status, word),
    h(
      'span',
      { class: 'st' },
      h('span', { class: 't' }, visible(one.title ?? '') || 'Without a title'),
      h(
        'span',
        { class: 'sub' },
        agentLetter(one.agent),
        h('span', { class: 'words' }, facts.filter(Boolean).join(' · ')),
      ),
    ),
    h('span', { class: 'age' }, age(one.updatedAt, Date.now())),
  );
}
