/** What happened to a session, said in one line: notes, errors with what to do next, beginnings and ends. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { sanitize } from '../js/visible.js';
import { clockTime } from '../js/format.js';
import { table } from '../js/tables.js';
import { who, whom } from './who.js';

/** @typedef {import('./view.js').View} View */

/**
 * @param {string} mark
 * @param {string} tone
 * @param {string} text
 * @param {string} [more] the agent's words, if any
 */
export function lineNote(mark, tone, text, more = '') {
  return h(
    'div',
    { class: `event-note ${tone}` },
    icon(mark),
    h('span', null, text, more && h('small', null, sanitize(more).slice(0, 4000))),
  );
}

const ENDS = table(
  /** @type {Record<string, string>} */ ({
    closed: 'Session ended. Everything is kept. Resume continues from here.',
    exited: 'The agent exited on its own. Everything is kept. Resume continues from here.',
    killed: 'Everything was stopped. Resume continues from here.',
    user_terminated: 'It was ended on its machine, from the start notification. Resume continues from here.',
    idle_limit: 'Ended after a while without a message. Everything is kept. Resume continues from here.',
    time_limit: 'Ended at its time limit. Everything is kept. Resume continues from here.',
    size_limit: 'Ended because it wrote more than the limit. Everything is kept.',
    lost: 'The machine went down while the agent was running. Everything it said is kept. Resume continues from here.',
  }),
);
const TONES = table(
  /** @type {Record<string, [string, string]>} */ ({ error: ['alert', 'bad'], warning: ['alert', 'wait'] }),
);

/**
 * @param {import('../js/types.d.ts').EventEntry} entry
 * @param {View} view
 * @returns {Node | null}
 */
export function eventLine(entry, view) {
  const { event } = entry;
  switch (event.type) {
    case 'note':
      return lineNote(...(TONES[event.level ?? ''] ?? ['info', '']), sanitize(event.text));
    case 'interrupted':
      return lineNote('stop', '', `${who(event.by)} stopped this turn. What it wrote so far is kept.`);
    case 'session_started':
      return begun(entry, event, view);
    case 'session_ended':
      return event.reason === 'disconnected' ? lost(entry, event) : ended(event);
    case 'session_failed':
      return h(
        'div',
        null,
        lineNote('alert', 'bad', sanitize(event.message)),
        event.stderr_tail && said('What it said', event.stderr_tail),
      );
    case 'stderr_written':
      return said('The agent’s error output', event.text);
    default:
      return said('Something Bascule does not recognise yet', event.raw ?? '');
  }
}

/**
 * @param {import('../js/types.d.ts').EventEntry} entry
 * @param {import('../js/types.d.ts').SessionStarted} event
 * @param {View} view
 */
function begun(entry, event, view) {
  if (event.copied_from)
    return h(
      'div',
      { class: 'gap-line' },
      h(
        'span',
        null,
        event.resumed_from ? 'The messages before this are in ' : 'Started again from ',
        h(
          'button',
          { type: 'button', class: 'link', onclick: () => view.ask.source() },
          view.source ? `“${sanitize(view.source)}”` : 'another session',
        ),
        ', which stays as it is',
      ),
    );
  if (event.resumed_from)
    return h(
      'div',
      { class: 'gap-line' },
      event.forked ? 'Continues another conversation, which stays as it is' : 'Continues an earlier conversation',
    );
  return view.state.before === null && view.state.entries[0] === entry
    ? null
    : h('div', { class: 'gap-line' }, `Resumed by ${whom(event.by)} · ${clockTime(entry.at)}`);
}

/**
 * A lost agent, and what has been done about it so far.
 * @param {import('../js/types.d.ts').EventEntry} entry
 * @param {import('../js/types.d.ts').SessionEnded} event
 */
function lost(entry, event) {
  const words = sanitize(event.message || 'The agent stopped.');
  const tries = entry.attempts ? `try ${entry.attempt} of ${entry.attempts}` : '';
  if (entry.back)
    return lineNote('refresh', '', `${words} It is back${entry.attempt > 1 ? ` after ${entry.attempt} tries` : ''}.`);
  return lineNote('refresh', 'wait', entry.open ? `${words} Reconnecting… ${tries}` : words);
}

/** @param {import('../js/types.d.ts').SessionEnded} event */
function ended(event) {
  const code = event.reason === 'exited' && event.code ? ` (code ${event.code})` : '';
  const line = h(
    'div',
    { class: 'gap-line' },
    (ENDS[event.reason] ?? 'Session ended.').replace('on its own', `on its own${code}`),
  );
  return event.message ? h('div', null, line, said('What it said', event.message)) : line;
}

/**
 * @param {string} title
 * @param {string} text
 */
const said = (title, text) =>
  h(
    'details',
    { class: 'entry-line stderr-line' },
    h(
      'summary',
      null,
      icon('log'),
      h('span', { class: 'entry-line__verb' }, title),
      h('span', { class: 'entry-line__words' }, sanitize(text.trim().split('\n').pop() ?? '')),
      h('span', { class: 'disclosure' }, icon('right', 12)),
    ),
    h('pre', { class: 'tool__output', tabindex: 0 }, sanitize(text)),
  );
