/** The limits for agents here, in words, and the line of the settings file that changes each. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { sizeWords, waited } from '../../js/format.js';
import { partHead, problem } from './parts.js';

/** @typedef {import('./parts.js').Context} Context */

/** @param {number} seconds */
const time = (seconds) => (seconds > 0 ? waited(seconds * 1000) : 'no limit');
/** @param {number} n */
const number = (n) => (n > 0 ? String(n) : 'no limit');
/** @param {number} n */
const bytes = (n) => (n > 0 ? sizeWords(n) : 'no limit');

/**
 * Table of the file, name in it, what it says, how its value reads.
 * @type {[string, string, string, (n: number) => string][]}
 */
const ROWS = [
  ['limits', 'sessions', 'Sessions that run at once on a device', number],
  ['limits', 'spawns_per_minute', 'Sessions one browser may start in a minute', number],
  ['limits', 'inputs_per_minute', 'Messages into one session in a minute', number],
  ['limits', 'session_seconds', 'A session ends after', time],
  ['limits', 'idle_seconds', 'Without a message it ends after', time],
  ['limits', 'output_bytes', 'What an agent may write in one session', bytes],
  ['limits', 'permission_seconds', 'An unanswered request is denied after', time],
  ['limits', 'question_seconds', 'An unanswered question is given up after', time],
  ['limits', 'start_seconds', 'An agent must have started within', time],
  ['limits', 'quiet_seconds', 'An agent that says nothing in a turn is pointed out after', time],
  ['terminal', 'tape_bytes', 'Output kept of one terminal', bytes],
  ['terminal', 'session_seconds', 'A terminal ends after', time],
  ['terminal', 'idle_seconds', 'Without a key it ends after', time],
];

/** @param {Context} context */
export function limitsPart({ app, loaded }) {
  const settings = loaded.settings;
  return [
    partHead('Limits', 'Limits for agents on this machine.'),
    problem(loaded.problem),
    settings && [
      h(
        'div',
        { class: 'table-frame' },
        h(
          'table',
          { class: 'data-table limits-table' },
          h(
            'thead',
            null,
            h(
              'tr',
              null,
              ['Limit', 'Now', 'In the file'].map((one) => h('th', null, one)),
            ),
          ),
          h(
            'tbody',
            null,
            ROWS.map(([table, name, words, say]) => {
              const value = settings[table]?.[name] ?? 0;
              const line = `[${table}]\n${name} = ${value}`;
              return h(
                'tr',
                { 'data-key': `${table}.${name}` },
                h('td', null, h('b', null, words)),
                h('td', null, say(value)),
                h(
                  'td',
                  null,
                  h('code', null, `${table}.${name} = ${value}`),
                  copyButton(`Copy the line for ${name}`, () => app.copy(line), { class: 'is-small' }),
                ),
              );
            }),
          ),
        ),
      ),
      h(
        'div',
        { class: 'card settings-card' },
        h('h3', null, 'To change one'),
        h(
          'p',
          null,
          'Write it into the settings file on that machine, 0 for no limit, and start Bascule again. ' +
            'Agents keep working meanwhile.',
        ),
        h(
          'div',
          { class: 'input mono copy-line' },
          h('span', { title: visible(settings.configFile) }, visible(settings.configFile)),
          copyButton('Copy the path', () => app.copy(settings.configFile)),
        ),
      ),
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
      ),
    ],
  ].flat();
}
