/** How full the context is and what it cost: a ring at the composer, and a page with the sums of all sessions. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { agentLetter, dot, menu } from '../parts.js';
import { age, count, money, shortCount, tokens } from '../../js/format.js';
import { agentTitle, statusOf, titleOf } from '../sessions.js';
import { partHead, problem } from '../settings/parts.js';
import { filledRecord } from '../state.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

const WARM = 0.8;
const HOT = 0.95;

/** @param {SessionRecord} session */
function contextOf(session) {
  if (!session.context_used || !session.context_size) return null;
  const part = Math.min(1, session.context_used / session.context_size);
  return { part, percent: Math.round(part * 100), tone: part >= HOT ? 'hot' : part >= WARM ? 'warm' : '' };
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export function usageRing(state, session) {
  const context = contextOf(session);
  if (!context && session.cost_usd === null) return null;
  const words = [
    context && `${context.percent} % of the context is used`,
    session.cost_usd !== null && `${money(session.cost_usd)} so far`,
  ]
    .filter(Boolean)
    .join(', ');
  return h(
    'button',
    {
      type: 'button',
      class: `context-meter ${context?.tone ?? ''}`,
      'data-key': 'usage',
      title: words,
      'aria-label': words,
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) => details(event.currentTarget, state, session),
    },
    context && ring(context.part),
    h('span', null, context ? `${context.percent}%` : money(session.cost_usd ?? 0)),
  );
}

/**
 * @param {HTMLElement} anchor
 * @param {State} state
 * @param {SessionRecord} session
 */
function details(anchor, state, session) {
  const context = contextOf(session);
  const all = Object.values(state.sessions);
  const rows = /** @type {[string, string][]} */ (
    [
      context && ['Context', `${shortCount(session.context_used ?? 0)} of ${tokens(session.context_size ?? 0)}`],
      ['Turns', String(session.turns)],
      ['This session', session.cost_usd === null ? 'the agent does not say' : money(session.cost_usd)],
      // Only while this page holds them all: settings has the sums of the server.
      all.length > 1 && state.more === null && ['All sessions', money(sumOf(all))],
    ].filter(Boolean)
  );
  const advice =
    context?.tone === 'hot'
      ? 'The context is nearly full. The agent will shorten it, or you can start a new session.'
      : context?.tone === 'warm'
        ? 'The context is filling up. A new session starts with an empty one.'
        : '';
  menu(
    anchor,
    [{ title: 'Used so far' }],
    h(
      'div',
      { class: 'used' },
      h(
        'dl',
        null,
        rows.flatMap(([name, value]) => [h('dt', null, name), h('dd', null, value)]),
      ),
      advice && h('p', null, advice),
    ),
  );
}

/** @param {SessionRecord[]} sessions */
export const sumOf = (sessions) => sessions.reduce((sum, session) => sum + (session.cost_usd ?? 0), 0);

/** @param {number} part */
function ring(part) {
  const NS = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(NS, 'svg');
  for (const [name, value] of Object.entries({
    viewBox: '0 0 18 18',
    width: '18',
    height: '18',
    'aria-hidden': 'true',
  }))
    svg.setAttribute(name, value);
  for (const [name, dash] of [
    ['context-meter__track', ''],
    ['context-meter__part', `${(part * 43.98).toFixed(1)} 50`],
  ]) {
    const circle = document.createElementNS(NS, 'circle');
    for (const [key, value] of Object.entries({ cx: '9', cy: '9', r: '7', class: name, 'stroke-dasharray': dash }))
      if (value) circle.setAttribute(key, value);
    svg.append(circle);
  }
  return svg;
}

/**
 * The page with all sums.
 * @param {import('../settings/parts.js').Context} context
 * @param {State} state
 */
export function usagePart({ app, loaded }, state) {
  /** @type {import('../../js/types.d.ts').Operations['usage:show']['answer'] | undefined} */
  const usage = loaded.usage;
  const paid = (usage?.costliest ?? []).map(filledRecord);
  return [
    partHead('Usage', 'What agents report their work has cost. It updates while they work.'),
    problem(loaded.problem),
    usage &&
      h(
        'div',
        { class: 'sum-cards' },
        sum(
          'In total',
          money(usage.costUsd ?? 0),
          `${count(usage.sessions, 'session')}, ${count(usage.turns, 'turn')}`,
        ),
        usage.agents.map((agent) =>
          sum(
            agentTitle(state, agent.agent),
            agent.costUsd === null ? 'not reported' : money(agent.costUsd),
            count(agent.sessions, 'session'),
            agentLetter(agent.agent),
          ),
        ),
      ),
    usage && usage.devices.length > 1 && byMachine(usage.devices),
    paid.length > 0 &&
      h(
        'div',
        { class: 'table-frame' },
        h(
          'table',
          { class: 'data-table usage-table' },
          h(
            'thead',
            null,
            h(
              'tr',
              null,
              ['Session', 'Agent', 'Turns', 'Last active', 'Cost'].map((title) => h('th', null, title)),
            ),
          ),
          h(
            'tbody',
            null,
            paid.map((session) => {
              const status = statusOf(state, session);
              return h(
                'tr',
                { 'data-key': session.session_id },
                h(
                  'td',
                  null,
                  h(
                    'span',
                    { class: 'data-table__name' },
                    dot(status.dot, status.word),
                    h(
                      'button',
                      {
                        type: 'button',
                        class: 'link',
                        onclick: () => app.go({ name: 'session', id: session.session_id }),
                      },
                      titleOf(session),
                    ),
                  ),
                ),
                h('td', null, agentTitle(state, session.agent)),
                h('td', null, String(session.turns)),
                h('td', null, age(session.updated_at, Date.now())),
                h('td', { class: 'numeric' }, money(session.cost_usd ?? 0)),
              );
            }),
          ),
        ),
      ),
  ];
}

/** @param {import('../../js/types.d.ts').DeviceSums[]} devices */
const byMachine = (devices) =>
  h(
    'section',
    { class: 'sum-cards', 'aria-label': 'By machine', 'data-key': 'machines' },
    devices.map((device) =>
      sum(
        visible(device.name) || 'a removed machine',
        device.costUsd === null ? 'not reported' : money(device.costUsd),
        `${count(device.sessions, 'session')}, ${count(device.turns, 'turn')}`,
        icon('device', 16),
        device.device,
      ),
    ),
  );

/**
 * @param {string} name
 * @param {string} value
 * @param {string} note
 * @param {Node} [mark]
 * @param {string} [key]
 */
const sum = (name, value, note, mark, key = name) =>
  h(
    'div',
    { class: 'card sum-card', 'data-key': key },
    h('p', null, mark, name),
    h('b', null, value),
    h('small', null, note),
  );
