/** Settings, Rules: what is answered without asking. A rule is written, tried on what was asked before, then kept. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { count, folderName, moment } from '../../js/format.js';
import { importCard } from './import.js';
import { ANSWERS, answerBadge, coded } from './format.js';
import { problem } from '../settings/parts.js';
import { agentTitle, homeOf } from '../state.js';
import { own } from '../../js/tables.js';

/** @typedef {import('../settings/parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/**
 * @typedef {{
 *   answer: string,
 *   toolClass: string,
 *   text: string,
 *   folder: string,
 *   agent: string,
 *   days: number,
 *   replaces: string,
 * }} Draft
 */

const CLASSES = /** @type {const} */ ([
  ['command', 'Run a command'],
  ['edit', 'Edit files'],
  ['read', 'Read files'],
  ['fetch', 'Open a page'],
  ['mcp', 'Use an MCP tool'],
  ['other', 'Use another tool'],
]);
const TIMES = /** @type {const} */ ([
  [0, 'Always'],
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
]);
/**
 * What is typed for each class: label, example, and what an empty field means.
 * @type {Record<string, [string, string, string]>}
 */
const FIELDS = {
  command: [
    'Command',
    'pytest …',
    'Plain words, exactly these. End with … if more words may follow. Empty: every command.',
  ],
  edit: [
    'Files',
    'tests/**',
    '* is any name, ** any folders. Hidden files only when named. Empty: all in the project. ' +
      'Commands are not bound by it; one that names a denied file is asked about.',
  ],
  read: [
    'Files',
    'docs/**',
    '* is any name, ** any folders. Hidden files only when named. Empty: all in the project. ' +
      'Commands are not bound by it; one that names a denied file is asked about.',
  ],
  fetch: ['Host', 'docs.python.org', 'Exactly this host. Empty: every page.'],
  mcp: ['Tool', 'mcp__tracker', 'One tool, or mcp__server for all of one server. Empty: every MCP tool.'],
  other: ['Tool', 'WebSearch', 'The tool’s name.'],
};

/**
 * The command a draft stands for.
 * @param {Draft} draft
 */
export function specOf(draft) {
  const text = draft.text.trim();
  const more = draft.toolClass === 'command' && /\s(…|\.\.\.|\*)$/.test(text);
  const about = more ? text.replace(/\s+(…|\.\.\.|\*)$/, '') : text;
  const key = own({ command: 'argv', edit: 'path', read: 'path', fetch: 'host' }, draft.toolClass) ?? 'tool';
  return {
    answer: draft.answer,
    toolClass: draft.toolClass,
    ...(about ? { [key]: key === 'argv' ? about.split(' ') : about } : {}),
    ...(more ? { more } : {}),
    ...(draft.folder ? { folder: draft.folder } : {}),
    ...(draft.agent ? { agent: draft.agent } : {}),
    ...(draft.days ? { expiresAt: new Date(Date.now() + draft.days * 86_400_000).toISOString() } : {}),
  };
}

/** @param {Context} context */
export async function loadRules({ app, loaded }) {
  loaded.rules = await app.feed.call('rules:list');
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function rulesPart(context, state) {
  const { loaded, again } = context;
  const owner = !state.me || state.me.role === 'owner';
  const begin = (/** @type {Partial<Draft>} */ from) => {
    loaded.draft = {
      answer: 'allow',
      toolClass: 'command',
      text: '',
      folder: foldersOf(state)[0] ?? '',
      agent: '',
      days: 0,
      replaces: '',
      ...from,
    };
    loaded.dryRun = null;
    loaded.draftProblem = '';
    again();
  };
  return [
    h(
      'div',
      { class: 'sh' },
      h('h2', null, 'Rules'),
      h('p', null, 'Deny beats ask, ask beats allow. What Bascule can’t read exactly, it asks you about.'),
      owner &&
        h(
          'span',
          { class: 'racts' },
          h(
            'button',
            { type: 'button', class: 'btn quiet', onclick: () => void propose(context, state) },
            icon('export', 14),
            'Import',
          ),
          h(
            'button',
            { type: 'button', class: 'btn line newrule', onclick: () => begin({}) },
            icon('plus', 14),
            'New rule',
          ),
        ),
    ),
    problem(loaded.problem || loaded.rules?.problem),
    loaded.draft && editor(context, state),
    loaded.proposals && importCard(context),
    table(context, state, owner, begin),
    tryCard(context, state),
  ];
}

/** @param {State} state */
function foldersOf(state) {
  return [
    ...new Set(
      [...state.projects.map((one) => one.path), ...Object.values(state.sessions).map(homeOf)].filter(Boolean),
    ),
  ].sort();
}

/** @param {any} rule */
function whatOf(rule) {
  if (rule.argv) return ['Run ', h('code', null, visible(`${rule.argv.join(' ')}${rule.more ? ' …' : ''}`))];
  if (rule.path) return [rule.toolClass === 'read' ? 'Read ' : 'Edit ', h('code', null, visible(rule.path))];
  if (rule.host) return ['Open ', h('code', null, visible(rule.host))];
  if (rule.tool) return ['Use ', h('code', null, visible(rule.tool))];
  return [
    {
      command: 'Run any command',
      edit: 'Edit files',
      read: 'Read files',
      fetch: 'Open any page',
      mcp: 'Use any MCP tool',
    }[/** @type {string} */ (rule.toolClass)] ?? 'Use any other tool',
  ];
}

/**
 * @param {State} state
 * @param {any} rule
 */
function whereOf(state, rule) {
  const where = rule.sessionId
    ? 'in one session'
    : rule.folder
      ? ['in ', h('b', { title: visible(rule.folder) }, visible(folderName(rule.folder)))]
      : ['in ', h('b', null, 'every project')];
  return [where, rule.agent ? `, ${visible(agentTitle(state, rule.agent))}` : ''].flat();
}

/** @param {any} rule */
const draftOf = (rule) => ({
  answer: rule.answer,
  toolClass: rule.toolClass,
  text: rule.argv ? `${rule.argv.join(' ')}${rule.more ? ' …' : ''}` : (rule.path ?? rule.host ?? rule.tool ?? ''),
  folder: rule.folder ?? '',
  agent: rule.agent ?? '',
  days: 0,
  replaces: rule.id,
});

/**
 * @param {Context} context
 * @param {State} state
 * @param {boolean} owner
 * @param {(from: Partial<Draft>) => void} begin
 */
function table(context, state, owner, begin) {
  const rules = context.loaded.rules?.rules ?? [];
  return h(
    'div',
    { class: 'tw' },
    h(
      'table',
      { class: 'tbl rules' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          ['Answer', 'What', 'Where', 'How long', 'Used', ''].map((one) =>
            h('th', null, one || h('span', { class: 'spoken' }, 'Action')),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        rules.map((/** @type {any} */ rule) =>
          h(
            'tr',
            { 'data-key': rule.id, class: rule.expired ? 'over' : '', title: visible(rule.words) },
            h('td', null, answerBadge(rule.answer)),
            h('td', null, whatOf(rule)),
            h('td', null, whereOf(state, rule)),
            h(
              'td',
              null,
              rule.expired
                ? 'over'
                : rule.expiresAt
                  ? `until ${new Date(rule.expiresAt).toLocaleDateString(undefined, { dateStyle: 'medium' })}`
                  : rule.sessionId
                    ? 'this session'
                    : 'always',
            ),
            h('td', null, `${rule.used ?? 0}×`),
            h(
              'td',
              null,
              owner &&
                h(
                  'span',
                  { class: 'ract' },
                  !rule.sessionId && iconButton('edit', 'Change this rule', { onclick: () => begin(draftOf(rule)) }),
                  iconButton('trash', 'Remove this rule', { class: 'rdel', onclick: () => void remove(context, rule) }),
                ),
            ),
          ),
        ),
        h(
          'tr',
          { 'data-key': 'rest' },
          h('td', null, answerBadge('ask')),
          h('td', null, rules.length ? 'Everything else' : 'Everything, or as the session’s mode says'),
          h('td'),
          h('td'),
          h('td'),
          h('td'),
        ),
      ),
    ),
  );
}

/**
 * @param {Context} context
 * @param {any} rule
 */
async function remove({ app, loaded, again }, rule) {
  try {
    await app.feed.call('rules:remove', { ruleId: rule.id });
    loaded.rules = await app.feed.call('rules:list');
    app.note('The rule is gone. What it answered asks again.');
  } catch (error) {
    app.trouble(error);
  }
  again();
}

/**
 * @param {string} label
 * @param {any} field
 */
const labelled = (label, field) => h('label', null, h('span', null, label), field);

/**
 * @param {string} name
 * @param {readonly (readonly [any, string])[]} options
 * @param {any} value
 * @param {(value: string) => void} set
 * @param {string | null} [label] when none stands beside it
 */
const select = (name, options, value, set, label = null) =>
  h(
    'select',
    {
      class: 'inp',
      name,
      'aria-label': label,
      value: String(value),
      onchange: (/** @type {any} */ event) => set(event.currentTarget.value),
    },
    options.map(([one, text]) =>
      h('option', { value: String(one), ...(String(one) === String(value) ? { selected: true } : {}) }, text),
    ),
  );

/**
 * @param {State} state
 * @param {string} folder
 */
const places = (state, folder) =>
  /** @type {[string, string][]} */ ([
    ['', 'Every project'],
    ...[...new Set([...foldersOf(state), ...(folder ? [folder] : [])])].map((one) => [
      one,
      `${folderName(one)} (${one})`,
    ]),
  ]);

/**
 * @param {Context} context
 * @param {State} state
 */
function editor(context, state) {
  const { loaded, again } = context;
  const draft = /** @type {Draft} */ (loaded.draft);
  const set = (/** @type {Partial<Draft>} */ patch) => {
    Object.assign(draft, patch);
    loaded.dryRun = null;
    loaded.draftProblem = '';
    again();
  };
  const [label, example, hint] = FIELDS[draft.toolClass];
  const agents = /** @type {[string, string][]} */ ([
    ['', 'Every agent'],
    ...state.agents.map((one) => [one.name, one.title]),
  ]);
  return h(
    'form',
    {
      class: 'card dry ruleform',
      'data-key': 'editor',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void save(context);
      },
    },
    h('h3', null, draft.replaces ? 'Change a rule' : 'New rule'),
    h(
      'div',
      { class: 'frow' },
      labelled(
        'Answer',
        select('answer', ANSWERS, draft.answer, (answer) => set({ answer })),
      ),
      labelled(
        'When it wants to',
        select('class', CLASSES, draft.toolClass, (toolClass) => set({ toolClass, text: '' })),
      ),
    ),
    h(
      'label',
      null,
      h('span', null, label),
      h('input', {
        class: 'inp mono',
        name: 'about',
        value: draft.text,
        placeholder: example,
        maxlength: 2000,
        spellcheck: 'false',
        autocomplete: 'off',
        oninput: (/** @type {any} */ event) => {
          draft.text = event.currentTarget.value;
          loaded.dryRun = null;
        },
      }),
    ),
    h('p', { class: 'hint' }, hint),
    h(
      'div',
      { class: 'frow' },
      labelled(
        'Where',
        select('folder', places(state, draft.folder), draft.folder, (folder) => set({ folder })),
      ),
      labelled(
        'Who',
        select('agent', agents, draft.agent, (agent) => set({ agent })),
      ),
      labelled(
        'How long',
        select('days', TIMES, draft.days, (days) => set({ days: Number(days) })),
      ),
    ),
    loaded.draftProblem && h('p', { class: 'emsg', role: 'alert' }, icon('alert', 14), visible(loaded.draftProblem)),
    loaded.dryRun && dryRun(state, loaded.dryRun),
    h(
      'div',
      { class: 'frow racts' },
      h('button', { type: 'button', class: 'btn line', onclick: () => void tryRule(context) }, 'Try on past requests'),
      h('span', { class: 'sp' }),
      draft.replaces &&
        h(
          'button',
          {
            type: 'button',
            class: 'btn quiet dng',
            onclick: () => {
              loaded.draft = null;
              void remove(context, { id: draft.replaces });
            },
          },
          'Remove',
        ),
      h(
        'button',
        {
          type: 'button',
          class: 'btn quiet',
          onclick: () => {
            loaded.draft = null;
            again();
          },
        },
        'Cancel',
      ),
      h('button', { type: 'submit', class: 'btn pri' }, draft.replaces ? 'Save rule' : 'Make rule'),
    ),
  );
}

/** @param {Context} context */
async function save({ app, loaded, again }) {
  const draft = /** @type {Draft} */ (loaded.draft);
  try {
    const { rule } = await app.feed.call('rules:add', {
      rule: specOf(draft),
      ...(draft.replaces ? { replaces: draft.replaces } : {}),
    });
    loaded.rules = await app.feed.call('rules:list');
    loaded.draft = null;
    app.note(`${rule.words}.`);
  } catch (error) {
    loaded.draftProblem = /** @type {Error} */ (error).message;
  }
  again();
}

/** @param {Context} context */
async function tryRule({ app, loaded, again }) {
  try {
    loaded.dryRun = (await app.feed.call('rules:try', { rule: specOf(loaded.draft) })).dryRun;
    loaded.draftProblem = '';
  } catch (error) {
    loaded.draftProblem = /** @type {Error} */ (error).message;
  }
  again();
}

const THEN = { allow: 'allowed', deny: 'denied', withdrawn: 'taken back', open: 'still open' };

/**
 * @param {State} state
 * @param {any} run
 */
function dryRun(state, run) {
  const now = Date.now();
  return h(
    'div',
    { class: 'dryrun', role: 'status', 'data-key': 'dryrun' },
    h(
      'p',
      null,
      h('b', null, `It would have answered ${run.fits || 'none'} of ${count(run.looked, 'past request')}.`),
      run.differs
        ? h(
            'span',
            { class: 'differs' },
            ` ${run.differs === 1 ? 'One was' : `${run.differs} were`} answered otherwise then.`,
          )
        : '',
    ),
    run.requests.length > 0 &&
      h(
        'ul',
        null,
        run.requests
          .slice(0, 12)
          .map((/** @type {any} */ one) =>
            h(
              'li',
              { class: ['allow', 'deny'].includes(one.then) && one.then !== one.now ? 'differs' : '' },
              answerBadge(one.now),
              h('code', { title: visible(one.text) }, visible(one.text)),
              h(
                'small',
                null,
                `${agentTitle(state, one.agent)} · ${own(THEN, one.then) ?? ''}` +
                  `${one.by ? ` by ${visible(one.by)}` : ''} · ${moment(one.at, now)}`,
              ),
            ),
          ),
      ),
    run.requests.length > 12 && h('p', { class: 'hint' }, `and ${run.fits - 12} more`),
  );
}

/**
 * @param {Context} context
 * @param {State} state
 */
function tryCard({ app, loaded, again }, state) {
  const tried = (loaded.tried ??= { folder: '', agent: '', text: '', result: null, problem: '' });
  const folder = tried.folder || foldersOf(state)[0] || '';
  const ask = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const request = {
        toolClass: 'command',
        text: tried.text,
        ...(folder ? { folder } : {}),
        ...(tried.agent ? { agent: tried.agent } : {}),
      };
      tried.result = (await app.feed.call('rules:try', { request })).tried;
      tried.problem = '';
    } catch (error) {
      tried.problem = /** @type {Error} */ (error).message;
    }
    again();
  };
  const agents = /** @type {[string, string][]} */ ([
    ['', 'an agent'],
    ...state.agents.map((one) => [one.name, one.title]),
  ]);
  return h(
    'form',
    { class: 'card dry tryit', 'data-key': 'try', onsubmit: ask },
    h('h3', null, 'Try a request'),
    h(
      'p',
      { class: 'tryline' },
      'If ',
      h(
        'span',
        { class: 'tsel' },
        select(
          'tagent',
          agents,
          tried.agent,
          (agent) => {
            tried.agent = agent;
            tried.result = null;
            again();
          },
          'Agent',
        ),
      ),
      ' in ',
      h(
        'span',
        { class: 'tsel' },
        select(
          'tfolder',
          places(state, folder).filter(([one]) => one),
          folder,
          (value) => {
            tried.folder = value;
            tried.result = null;
            again();
          },
          'Folder',
        ),
      ),
      ' asks to run',
    ),
    h(
      'div',
      { class: 'frow' },
      h('input', {
        class: 'inp mono grow',
        name: 'request',
        value: tried.text,
        'aria-label': 'Command',
        placeholder: 'pytest -q && rm -rf build',
        spellcheck: 'false',
        autocomplete: 'off',
        maxlength: 2000,
        oninput: (/** @type {any} */ event) => {
          tried.text = event.currentTarget.value;
        },
      }),
      h('button', { class: 'btn line', type: 'submit' }, 'Try'),
    ),
    tried.problem && h('p', { class: 'emsg', role: 'alert' }, icon('alert', 14), visible(tried.problem)),
    tried.result &&
      h(
        'p',
        { class: 'verdict', role: 'status' },
        answerBadge(tried.result.answer),
        h('span', null, coded(tried.result.why)),
      ),
  );
}

/**
 * @param {Context} context
 * @param {State} state
 */
async function propose({ app, loaded, again }, state) {
  const folder = loaded.importFolder || foldersOf(state)[0] || '';
  try {
    loaded.proposals = await app.feed.call('rules:import', folder ? { folder } : {});
    loaded.importFolder = folder;
  } catch (error) {
    app.trouble(error);
  }
  again();
}
