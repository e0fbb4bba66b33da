/** What bounds an agent here, in words. An owner changes it on the spot; the rest stands in the settings file. */

import { copyButton } from '../../js/copy_button.js';
import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { sizeWords, waited } from '../../js/format.js';
import { several } from '../machines.js';
import { limitField, setLimit } from './limit_field.js';
import { isHere, machinePicker, pickedDevice } from './machine_picker.js';
import { partHead, problem } from './parts.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */

/** @type {Record<string, (n: number) => string>} */
const SAY = {
  time: (seconds) => (seconds > 0 ? waited(seconds * 1000) : 'no limit'),
  number: (n) => (n > 0 ? String(n) : 'no limit'),
  money: (n) => (n > 0 ? `$${(n / 100).toFixed(2)}` : 'no limit'),
  bytes: (n) => (n > 0 ? sizeWords(n) : 'no limit'),
};

/**
 * Table of the file, name in it, what it says, what it counts.
 * @type {[string, string, string, string][]}
 */
const ROWS = [
  ['limits', 'sessions', 'Agents that work at once on a device', 'number'],
  ['limits', 'spawns_per_minute', 'Sessions one browser may start in a minute', 'number'],
  ['limits', 'inputs_per_minute', 'Messages into one session in a minute', 'number'],
  ['limits', 'session_seconds', 'A session ends after', 'time'],
  ['limits', 'idle_seconds', 'Without a message it ends after', 'time'],
  ['limits', 'output_bytes', 'What an agent may write in one session', 'bytes'],
  ['limits', 'session_cents', 'One session may spend', 'money'],
  ['limits', 'session_tokens', 'Tokens of one session', 'number'],
  ['limits', 'project_cents', 'One project may spend in a month', 'money'],
  ['limits', 'project_tokens', 'Tokens of one project in a month', 'number'],
  ['limits', 'day_cents', 'This machine may spend in a day', 'money'],
  ['limits', 'day_tokens', 'Tokens of this machine in a day', 'number'],
  ['limits', 'loop_repeats', 'The same call with the same outcome is stopped after', 'number'],
  ['limits', 'permission_seconds', 'An unanswered request is denied after', 'time'],
  ['limits', 'question_seconds', 'An unanswered question is given up after', 'time'],
  ['limits', 'start_seconds', 'An agent must have started within', 'time'],
  ['limits', 'quiet_seconds', 'An agent that says nothing in a turn is pointed out after', 'time'],
  ['terminal', 'tape_bytes', 'Output kept of one terminal', 'bytes'],
  ['terminal', 'session_seconds', 'A terminal ends after', 'time'],
  ['terminal', 'idle_seconds', 'Without a key it ends after', 'time'],
];

/**
 * @param {Context} context
 * @param {State} state
 */
export function limitsPart(context, state) {
  const { app, loaded } = context;
  const { settings } = loaded;
  const device = pickedDevice(context, state);
  const here = isHere(context, state);
  const owner = state.me?.role === 'owner' && here;
  return [
    partHead(
      'Limits',
      `Limits for agents on ${several(state) ? device?.name : 'this machine'}. Idle sessions and terminals do not ` +
        'count as working. Before a limit ends a session you are told, and can keep it.' +
        (here ? '' : ' They are changed on that machine: another one must not widen them.'),
    ),
    machinePicker(context, state),
    problem(loaded.problem),
    settings && [
      h(
        'div',
        { class: 'table-frame' },
        h(
          'table',
          { class: 'data-table limits-table' },
          h('thead', null, h('tr', null, h('th', null, 'Limit'), h('th', null, 'Now'), h('th', null, 'In the file'))),
          h(
            'tbody',
            null,
            ROWS.map((row) => limitRow(context, row, owner && row[0] === 'limits')),
          ),
        ),
      ),
      fileCard(app, settings),
      foldersCard(settings),
    ],
  ].flat();
}

/**
 * @param {Context} context
 * @param {[string, string, string, string]} row
 * @param {boolean} editable
 */
function limitRow(context, [table, name, words, kind], editable) {
  const { app, loaded } = context;
  const { settings, limits } = loaded;
  const here = table === 'limits' && limits;
  const configured = here ? limits.configured[name] : (settings[table]?.[name] ?? 0);
  const value = here ? limits.limits[name] : configured;
  const line = `[${table}]\n${name} = ${value}`;
  return h(
    'tr',
    { 'data-key': `${table}.${name}` },
    h('td', null, h('b', null, words)),
    h('td', null, editable ? limitField(context, { name, words, kind, value, say: SAY[kind] }) : SAY[kind](value)),
    h(
      'td',
      null,
      h('code', null, `${table}.${name} = ${configured}`),
      value === configured
        ? copyButton(`Copy the line for ${name}`, () => app.copy(line), { class: 'is-small' })
        : editable &&
            iconButton('refresh', `Go back to ${SAY[kind](configured)}`, {
              class: 'is-small',
              onclick: () => void setLimit(context, name, null),
            }),
    ),
  );
}

/**
 * @param {import('../app.js').App} app
 * @param {any} settings
 */
const fileCard = (app, settings) =>
  h(
    'div',
    { class: 'card settings-card' },
    h('h3', null, 'The settings file'),
    h(
      'p',
      null,
      'A change above holds at once and stays. What stands in this file holds when Bascule is started, 0 for no ' +
        'limit; agents keep working meanwhile.',
    ),
    h(
      'div',
      { class: 'input mono copy-line' },
      h('span', { title: visible(settings.configFile) }, visible(settings.configFile)),
      copyButton('Copy the path', () => app.copy(settings.configFile)),
    ),
  );

/** @param {any} settings */
const foldersCard = (settings) =>
  h(
    'div',
    { class: 'card settings-card' },
    h('h3', null, 'Folders'),
    h('p', null, 'Sessions run only in these folders and below them.'),
    h(
      'ul',
      { class: 'roots' },
      settings.roots.map((/** @type {string} */ root) =>
        h('li', null, icon('folder', 14), h('code', null, visible(root))),
      ),
    ),
  );
