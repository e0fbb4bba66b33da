/** Who is out of reach, since when; and, after two minutes, the card that says what to do at that machine. */

import { copyButton } from '../../js/copy_button.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { clockTime, count } from '../../js/format.js';
import { deviceName } from '../sessions.js';
import { shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/**
 * @typedef {{
 *   kind: 'line' | 'device',
 *   name: string,
 *   since: number,
 *   ms: number,
 *   long: boolean,
 *   attempt: number,
 *   wait: number,
 *   heardAt: number,
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
    return {
      kind: 'line',
      name: session ? deviceName(state, session) : (state.devices[0]?.name ?? 'the server'),
      ...spent(line.lostAt ?? now),
      attempt: line.attempt,
      wait,
      heardAt: line.heardAt,
    };
  }
  const device = session
    ? (state.devices.find((one) => one.device === session.device) ?? state.devices[0])
    : state.devices.find((one) => !one.online);
  if (line.phase !== 'live' || !device || device.online) return null;
  const since = state.away[device.device] ?? now;
  return { kind: 'device', name: device.name, ...spent(since), attempt: 0, wait: 0, heardAt: since };
}

/**
 * "2 minutes", "3 hours"
 * @param {number} ms
 */
export function longWait(ms) {
  const minutes = Math.max(1, Math.floor(ms / 60_000));
  return minutes < 120 ? count(minutes, 'minute') : count(Math.floor(minutes / 60), 'hour');
}

/** @param {State} state */
function commandsFor(state) {
  const id = shownSession(state);
  return [
    ['bascule doctor', 'What is wrong, and how to mend it'],
    ['bascule', 'Start it again. Agents are not stopped.'],
    ...(id ? [[`bascule sessions show ${id} --follow`, 'Read along there']] : []),
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

  /**
   * @param {State} state
   * @param {Away} away
   */
  function card(state, away) {
    const commands = commandsFor(state);
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
          away.kind === 'line' ? (away.wait ? `next try in ${away.wait} s` : 'trying now') : 'it comes back by itself',
        ),
      ),
      h(
        'p',
        null,
        `Its agents most likely still run; you will see everything they did. If ${away.name} is on, ` +
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
