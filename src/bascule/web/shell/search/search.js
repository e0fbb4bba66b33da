/** The search screen: all results, by session, narrowed by project, agent and time; each opens at its message. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { count, folderName, moment } from '../../js/format.js';
import { NOTHING, bySession, marked, seeker } from './hits.js';
import { agentLetter, menu } from '../parts.js';
import { agentTitle, filledRecord, groupOf, statusOf, titleOf } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

const MAX_HITS = 100;
const DAY = 86_400_000;
const TIMES = /** @type {const} */ ([
  [0, 'Any time'],
  [1, 'Last day'],
  [7, 'Last 7 days'],
  [30, 'Last 30 days'],
]);
const KINDS = /** @type {const} */ ([
  ['', 'Everything said'],
  ['prompt', 'Your messages'],
  ['text', 'Agents’ words'],
  ['tool', 'Tools'],
]);

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountSearch(root, app) {
  let found = NOTHING;
  const only = { project: '', agent: '', days: 0, kind: '' };
  /** @type {Set<string>} sessions whose further hits are shown */
  const opened = new Set();
  const again = () => draw(app.store.get());
  const seek = seeker(app, MAX_HITS, (answer) => {
    found = answer;
    opened.clear();
    again();
  });

  const input = /** @type {HTMLInputElement} */ (
    h('input', {
      type: 'search',
      'aria-label': 'Search in all sessions',
      placeholder: 'Search in all sessions',
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: 1000,
      oninput: () => {
        app.go({ name: 'search', q: input.value }, { replace: true });
        seek.look(input.value);
      },
    })
  );
  const tally = h('small', { role: 'status' });
  const filters = h('div', { class: 'schips' });
  const results = h('div', { class: 'hits' });
  const parts = [
    h('header', { class: 'tbar' }, h('h1', null, 'Search')),
    h('div', { class: 'sres' }, h('label', { class: 'inp bigs' }, icon('search'), input, tally), filters, results),
  ];

  /**
   * @param {State} state
   * @param {string} id
   */
  const recordOf = (state, id) =>
    state.sessions[id] ?? state.archived?.find((one) => one.session_id === id) ?? filledRecord({ session_id: id });

  /** @param {State} state */
  function chosen(state) {
    const since = only.days ? Date.now() - only.days * DAY : 0;
    return found.hits.filter((hit) => {
      const session = recordOf(state, hit.sessionId);
      return (
        (!only.project || (groupOf(state, session)?.path ?? session.cwd) === only.project) &&
        (!only.agent || session.agent === only.agent) &&
        Date.parse(hit.at) >= since &&
        (!only.kind || hit.kind === only.kind || hit.firstSeq === 0)
      );
    });
  }

  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'search';
    if (root.hidden) return root.replaceChildren();
    if (!root.childElementCount) root.append(...parts);
    const hits = chosen(state);
    const groups = bySession(hits);
    tally.textContent =
      found.q && !found.problem
        ? `${found.hits.length === MAX_HITS ? 'the newest ' : ''}${hits.length} in ` +
          `${count(groups.length, 'session')} · ${Math.max(1, Math.round(found.took))} ms`
        : '';
    update(filters, found.hits.length ? chips(state) : []);
    update(results, [
      found.problem && h('p', { class: 'emsg', role: 'alert' }, icon('alert', 14), found.problem),
      found.owed > 0 &&
        h('p', { class: 'hint' }, `${count(found.owed, 'message')} can’t be found yet: the index is being filled.`),
      found.q &&
        !groups.length &&
        !found.problem &&
        h(
          'div',
          { class: 'emptyt' },
          icon('search', 20),
          h('h2', null, `Nothing was said about “${found.q}”`),
          h(
            'p',
            null,
            found.hits.length
              ? 'Nothing fits these filters.'
              : 'All words must be in one message. The last one may be half typed.',
          ),
        ),
      !found.q && h('p', { class: 'hint lead' }, 'Titles and every message of every session, archived ones too.'),
      ...groups.map((group) => hitCard(state, group)),
    ]);
  }

  /**
   * @param {State} state
   * @param {ReturnType<typeof bySession>[number]} group
   */
  function hitCard(state, group) {
    const session = recordOf(state, group.sessionId);
    const name = titleOf({ ...session, title: session.title || group.title });
    const facts = [
      session.cwd && folderName(session.cwd),
      moment(group.hits[0].at, Date.now()),
      group.archived ? 'archived' : state.sessions[group.sessionId] && statusOf(state, session).word.toLowerCase(),
    ].filter(Boolean);
    const titled = group.hits.find((hit) => hit.firstSeq === 0);
    const said = group.hits.filter((hit) => hit.firstSeq > 0);
    const shown = opened.has(group.sessionId) ? said : said.slice(0, 1);
    return h(
      'article',
      { class: 'hit', 'data-key': group.sessionId },
      agentLetter(session.agent || group.title, true),
      h(
        'div',
        null,
        h(
          'button',
          { type: 'button', class: 'hl', onclick: () => app.goTo(group.sessionId, shown[0]?.firstSeq ?? 0) },
          h('b', null, titled ? marked(titled.snippet) : name),
        ),
        h('small', null, facts.join(' · ')),
        shown.map((hit) =>
          h(
            'button',
            {
              type: 'button',
              class: 'hq',
              'data-key': String(hit.firstSeq),
              onclick: () => app.goTo(group.sessionId, hit.firstSeq),
            },
            h('q', null, marked(hit.snippet)),
          ),
        ),
        said.length > shown.length &&
          h(
            'button',
            {
              type: 'button',
              class: 'hm',
              onclick: () => {
                opened.add(group.sessionId);
                again();
              },
            },
            `and ${said.length - shown.length} more in this session`,
          ),
      ),
    );
  }

  /** @param {State} state */
  function chips(state) {
    const sessions = [...new Set(found.hits.map((hit) => hit.sessionId))].map((id) => recordOf(state, id));
    const projects = [
      ...new Map(
        sessions
          .filter((one) => one.cwd)
          .map((one) => {
            const group = groupOf(state, one);
            return [group?.path ?? one.cwd, group?.name ?? folderName(one.cwd)];
          }),
      ),
    ];
    const agents = [...new Set(sessions.map((one) => one.agent).filter(Boolean))];
    return [
      chip('folder', [['', 'All projects'], ...projects], only.project, (value) => {
        only.project = value;
      }),
      chip(
        'user',
        [['', 'Any agent'], ...agents.map((one) => /** @type {[string, string]} */ ([one, agentTitle(state, one)]))],
        only.agent,
        (value) => {
          only.agent = value;
        },
      ),
      chip(
        'clock',
        TIMES.map(([days, label]) => [String(days), label]),
        String(only.days),
        (value) => {
          only.days = Number(value);
        },
      ),
      chip(
        'list',
        KINDS.map(([kind, label]) => [kind, label]),
        only.kind,
        (value) => {
          only.kind = value;
        },
      ),
    ];
  }

  /**
   * @param {string} mark
   * @param {string[][]} choices
   * @param {string} now
   * @param {(value: string) => void} set
   */
  const chip = (mark, choices, now, set) =>
    h(
      'button',
      {
        type: 'button',
        class: `chip ${now && now !== '0' ? 'set' : ''}`,
        'aria-haspopup': 'menu',
        onclick: (/** @type {any} */ event) =>
          menu(
            event.currentTarget,
            choices.map(([value, label]) => ({
              label,
              on: value === now,
              run: () => {
                set(value);
                again();
              },
            })),
          ),
      },
      icon(mark, 14),
      choices.find(([value]) => value === now)?.[1] ?? choices[0][1],
      h('span', { class: 'dd' }, icon('down', 12)),
    );

  app.store.subscribe((now, before) => {
    const arrives = now.route.name === 'search' && (before.route.name !== 'search' || (now.loaded && !before.loaded));
    if (arrives) {
      input.value = now.route.q ?? '';
      seek.look(input.value);
    }
    if (
      arrives ||
      now.route !== before.route ||
      (now.route.name === 'search' && (now.sessions !== before.sessions || now.archived !== before.archived))
    )
      draw(now);
    if (arrives && matchMedia('(pointer: fine)').matches) input.focus();
  });
  draw(app.store.get());
}
