/** Who is out of reach, since when; and, after two minutes, the card that says what to do at that machine. */

import { copyButton } from '../../js/copy_button.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { clockTime, count } from '../../js/format.js';
import { deviceOf, heardAt, several } from '../machines.js';
import { confirmEnd } from '../session/confirm.js';
import { isOver } from '../sessions.js';
import { mayAct, shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/**
 * @typedef {{
 *   kind: 'line' | 'storage' | 'device' | 'stale' | 'update',
 *   name: string,
 *   since: number,
 *   ms: number,
 *   long: boolean,
 *   attempt: number,
 *   wait: number,
 *   heardAt: number,
 *   problem?: string,
 * }} Away
 */

const LONG = 120_000;

/**
 * As far as this page can tell, to the second.
 * @param {State} state
 * @returns {Away | null}
 */
export function awayOf(state) {
  const { line } = state;
  const now = Date.now();
  const session = state.sessions[shownSession(state) ?? ''];
  const spent = (/** @type {number} */ since) => ({
    since,
    ms: Math.floor((now - since) / 1000) * 1000,
    long: now - since >= LONG,
  });
  if (line.phase === 'lost') {
    const wait = Math.max(0, Math.ceil(((line.retryAt ?? now) - now) / 1000));
    const tries = { attempt: line.attempt, wait, heardAt: line.heardAt };
    const time = spent(line.lostAt ?? now);
    const problem = storageFault(state);
    if (problem) return { kind: 'storage', name: 'the server', ...time, long: false, ...tries, problem };
    const name = several(state) ? 'the server' : (state.devices[0]?.name ?? 'the server');
    return { kind: 'line', name, ...time, ...tries };
  }
  const device = session ? deviceOf(state, session) : nobodyHere(state);
  if (line.phase !== 'live' || !device) return null;
  const kind = awayKind(device);
  if (!kind) return null;
  const heard = heardAt(state, device);
  const time = spent(heard);
  return {
    kind,
    name: device.name,
    ...time,
    long: time.long && kind === 'device',
    attempt: 0,
    wait: 0,
    heardAt: heard,
  };
}

/** What to do when the server has no database, and what happens then. */
export const STORAGE_ADVICE =
  'Start its database server again, or make room on its disk. ' +
  'Agents keep working, nothing is lost, and this page goes on by itself.';

/**
 * The server answers, and can't read what this page begins with: its own words for that.
 * @param {State} state
 */
export const storageFault = ({ line }) =>
  line.phase === 'lost' && line.fault?.code.startsWith('STORAGE_') ? line.fault.message : '';

/**
 * @param {import('../state.js').Device} device
 * @returns {'device' | 'stale' | 'update' | null}
 */
function awayKind(device) {
  if (device.needsUpdate) return 'update';
  if (!device.online) return 'device';
  return device.state === 'stale' ? 'stale' : null;
}

/**
 * Outside a session one machine that is away is shown in the list of machines, unless there is no other.
 * @param {State} state
 */
const nobodyHere = (state) => (state.devices.every((device) => !device.online) ? state.devices[0] : undefined);

/**
 * "2 minutes", "3 hours"
 * @param {number} ms
 */
export function longWait(ms) {
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  return minutes < 120 ? count(minutes, 'minute') : count(Math.floor(minutes / 60), 'hour');
}

/**
 * @param {State} state
 * @param {Away} away
 */
function commandsFor(state, away) {
  const id = shownSession(state);
  if (away.kind === 'device')
    return [
      ['bascule daemon status', 'Is it running there, and can it reach this server?'],
      ['bascule daemon start', 'Start it. Agents are not stopped.'],
    ];
  return [
    ['bascule doctor', 'What is wrong, and how to fix it'],
    ['bascule', 'Start it again. Agents are not stopped.'],
    ...(id ? [[`bascule sessions show ${id} --follow`, 'Follow this session there']] : []),
  ];
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountAway(root, app) {
  app.store.subscribe((state) => {
    const away = awayOf(state);
    root.hidden = !away?.long;
    update(root, away?.long ? [card(state, away)] : []);
  });

  /** @param {State} state */
  function endButton(state) {
    const session = state.sessions[shownSession(state) ?? ''];
    if (!session || isOver(session) || !mayAct(state, session.session_id)) return null;
    const end = () => confirmEnd(app, session.session_id);
    return h('button', { type: 'button', class: 'button quiet', 'data-key': 'end', onclick: end }, 'End session');
  }

  /**
   * @param {State} state
   * @param {Away} away
   */
  function card(state, away) {
    const commands = commandsFor(state, away);
    return h(
      'section',
      { class: 'card away', role: 'alert', 'data-key': 'away', 'aria-label': `${away.name} is away` },
      h(
        'header',
        null,
        h('span', { class: 'seal' }, icon('logo', 18)),
        h('h2', null, `${away.name} has been away for ${longWait(away.ms)}`),
        h('small', null, `since ${clockTime(new Date(away.since).toISOString())}`),
        h('span', { class: 'spacer' }),
        h(
          'small',
          { 'aria-hidden': 'true' },
          away.kind === 'line' ? (away.wait ? `next try in ${away.wait} s` : 'trying now') : 'it reconnects on its own',
        ),
      ),
      h(
        'p',
        null,
        away.kind === 'device'
          ? `What it wrote so far is here. Its agents most likely keep running; you will see everything they did. ` +
              `If ${away.name} is on, run these there:`
          : `Its agents most likely keep running; you will see everything they did. If ${away.name} is on, ` +
              'run one of these there:',
      ),
      h(
        'ul',
        null,
        commands.map(([line, why]) =>
          h(
            'li',
            { 'data-key': line },
            h('code', null, line),
            h('span', null, why),
            copyButton(`Copy ${line}`, () => app.copy(line)),
          ),
        ),
      ),
      h(
        'footer',
        null,
        copyButton(
          'Copy all',
          () => app.copy(commands.map(([line]) => line).join('\n')),
          { class: 'button quiet' },
          'Copy all',
        ),
        h('span', { class: 'spacer' }),
        away.kind === 'device' && endButton(state),
        h(
          'button',
          { type: 'button', class: 'button is-primary', onclick: () => app.lookAgain() },
          icon('refresh', 14),
          'Try now',
        ),
      ),
    );
  }
}
