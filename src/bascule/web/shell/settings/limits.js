/** What bounds an agent here, in words. An owner changes it on the spot; the rest stands in the settings file. */

import { copyButton } from '../../js/copy_button.js';
import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { fieldsOf } from '../../js/json.js';
import { visible } from '../../js/visible.js';
import { limitTime, sizeWords } from '../../js/format.js';
import { several } from '../machines.js';
import { limitField, setLimit } from './limit_field.js';
import { isHere, machinePicker, pickedDevice } from './machine_picker.js';
import { partHead, problem } from './parts.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').SettingsView} SettingsView */

/** @type {Record<string, (n: number) => string>} */
const SAY = {
  time: (seconds) => (seconds > 0 ? limitTime(seconds) : 'no limit'),
  number: (n) => (n > 0 ? String(n) : 'no limit'),
  money: (n) => (n > 0 ? `$${(n / 100).toFixed(2)}` : 'no limit'),
  bytes: (n) => (n > 0 ? sizeWords(n) : 'no limit'),
};

/**
 * Table of the file, name in it, what it says, what it counts.
 * @typedef {['limits' | 'terminal', string, string, string]} Row
 */
/** @type {Row[]} */
const ROWS = [
  ['limits', 'sessions', 'Agents working at once', 'number'],
  ['limits', 'spawns_per_minute', 'New sessions per browser, per minute', 'number'],
  ['limits', 'inputs_per_minute', 'Messages per session, per minute', 'number'],
  ['limits', 'session_seconds', 'Sessions end after', 'time'],
  ['limits', 'idle_seconds', 'Idle sessions end after', 'time'],
  ['limits', 'output_bytes', 'Output per session', 'bytes'],
  ['limits', 'session_cents', 'Spending per session', 'money'],
  ['limits', 'session_tokens', 'Tokens per session', 'number'],
  ['limits', 'project_cents', 'Spending per project, per month', 'money'],
  ['limits', 'project_tokens', 'Tokens per project, per month', 'number'],
  ['limits', 'day_cents', 'Spending on this machine, per day', 'money'],
  ['limits', 'day_tokens', 'Tokens on this machine, per day', 'number'],
  ['limits', 'loop_repeats', 'Identical calls with the same result stop after', 'number'],
  ['limits', 'permission_seconds', 'Unanswered requests are denied after', 'time'],
  ['limits', 'question_seconds', 'Unanswered questions are skipped after', 'time'],
  ['limits', 'start_seconds', 'Agents must start within', 'time'],
  ['limits', 'quiet_seconds', 'Flag a silent agent after', 'time'],
  ['terminal', 'tape_bytes', 'Output kept per terminal', 'bytes'],
  ['terminal', 'session_seconds', 'Terminals end after', 'time'],
  ['terminal', 'idle_seconds', 'Idle terminals end after', 'time'],
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
        'count as working. Before a limit ends a session you are warned, and can keep it.' +
        (here ? '' : ' They can be changed only on that machine.'),
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
 * @param {object | undefined} limits one table of the settings; an older server's may lack the name
 * @param {string} name
 */
const valueOf = (limits, name) => Number(fieldsOf(limits)[name] ?? 0);

/**
 * @param {Context} context
 * @param {Row} row
 * @param {boolean} editable
 */
function limitRow(context, [table, name, words, kind], editable) {
  const { app, loaded } = context;
  const { settings, limits } = loaded;
  const here = table === 'limits' && limits;
  const configured = valueOf(here ? limits.configured : settings?.[table], name);
  const value = here ? valueOf(limits.limits, name) : configured;
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
 * @param {SettingsView} settings
 */
const fileCard = (app, settings) =>
  h(
    'div',
    { class: 'card settings-card' },
    h('h3', null, 'The settings file'),
    h(
      'p',
      null,
      'A change above takes effect at once and is kept. The values in this file apply when Bascule starts, and 0 ' +
        'means no limit. Agents keep working meanwhile.',
    ),
    h(
      'div',
      { class: 'input mono copy-line' },
      h('span', { title: visible(settings.configFile) }, visible(settings.configFile)),
      copyButton('Copy the path', () => app.copy(settings.configFile)),
    ),
  );

/** @param {SettingsView} settings */
const foldersCard = (settings) =>
  h(
    'div',
    { class: 'card settings-card' },
    h('h3', null, 'Folders'),
    h('p', null, 'Sessions run only in these folders and below them.'),
    h(
      'ul',
      { class: 'roots' },
      settings.roots.map((root) => h('li', null, icon('folder', 14), h('code', null, visible(root)))),
    ),
  );
