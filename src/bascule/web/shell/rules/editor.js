/** The form in which a rule is written, tried on what was asked before, and kept. */

import { where } from '../settings/machine_picker.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { dryRun } from './dry_run.js';
import { specOf } from './draft.js';
import { agentOptions, labelled, places, select } from './fields.js';
import { ANSWERS } from './format.js';

/** @typedef {import('../settings/parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./draft.js').Draft} Draft */

const CLASSES = /** @type {const} */ ([
  ['command', 'Run a command'],
  ['edit', 'Edit files'],
  ['read', 'Read files'],
  ['fetch', 'Fetch a web page'],
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
    'The command, word for word. End with … to allow more words after it. Leave empty for every command.',
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
      'Commands are not bound by it; one that names a denied file is asked about. ' +
      'Most agents read the project without asking, which no rule sees: a capability level limits it.',
  ],
  fetch: ['Host', 'docs.python.org', 'Exactly this host. Empty: every page.'],
  mcp: ['Tool', 'mcp__tracker', 'One tool, or mcp__server for all of one server. Empty: every MCP tool.'],
  other: ['Tool', 'WebSearch', 'The tool’s name.'],
};

/**
 * @param {Context} context
 * @param {State} state
 * @param {import('../state.js').Device | undefined} refuses the machine that takes no rule that allows from here
 * @param {(ruleId: string) => void} remove
 */
export function ruleEditor(context, state, refuses, remove) {
  const { loaded, again } = context;
  const draft = /** @type {Draft} */ (loaded.draft);
  const set = (/** @type {Partial<Draft>} */ patch) => {
    Object.assign(draft, patch);
    loaded.dryRun = null;
    loaded.draftProblem = '';
    again();
  };
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void save(context);
  };
  return h(
    'form',
    { class: 'card settings-card ruleform', 'data-key': 'editor', onsubmit },
    h('h3', null, draft.replaces ? 'Change a rule' : 'New rule'),
    answerFields(draft, refuses ? ANSWERS.filter(([answer]) => answer !== 'allow') : ANSWERS, set),
    aboutField(context, draft),
    reachFields(state, draft, set),
    loaded.draftProblem &&
      h('p', { class: 'error-message', role: 'alert' }, icon('alert', 14), visible(loaded.draftProblem)),
    loaded.dryRun && dryRun(state, loaded.dryRun),
    editorButtons(context, draft, remove),
  );
}

/**
 * @param {Draft} draft
 * @param {readonly (typeof ANSWERS)[number][]} answers that a rule may have here
 * @param {(patch: Partial<Draft>) => void} set
 */
const answerFields = (draft, answers, set) =>
  h(
    'div',
    { class: 'form-row' },
    labelled(
      'Answer',
      select('answer', answers, draft.answer, (answer) => set({ answer })),
    ),
    labelled(
      'When it wants to',
      select('class', CLASSES, draft.toolClass, (toolClass) => set({ toolClass, text: '' })),
    ),
  );

/**
 * @param {Context} context
 * @param {Draft} draft
 */
function aboutField({ loaded }, draft) {
  const [label, example, hint] = FIELDS[draft.toolClass];
  const input = h('input', {
    class: 'input mono',
    name: 'about',
    value: draft.text,
    placeholder: example,
    maxlength: 2000,
    spellcheck: 'false',
    autocomplete: 'off',
    oninput: (/** @type {On<HTMLInputElement>} */ event) => {
      draft.text = event.currentTarget.value;
      loaded.dryRun = null;
    },
  });
  return [labelled(label, input), h('p', { class: 'hint' }, hint)];
}

/**
 * @param {State} state
 * @param {Draft} draft
 * @param {(patch: Partial<Draft>) => void} set
 */
const reachFields = (state, draft, set) =>
  h(
    'div',
    { class: 'form-row' },
    labelled(
      'Where',
      select('folder', places(state, draft.folder), draft.folder, (folder) => set({ folder })),
    ),
    labelled(
      'Who',
      select('agent', agentOptions(state, 'Every agent'), draft.agent, (agent) => set({ agent })),
    ),
    labelled(
      'How long',
      select('days', TIMES, draft.days, (days) => set({ days: Number(days) })),
    ),
  );

/**
 * @param {Context} context
 * @param {Draft} draft
 * @param {(ruleId: string) => void} remove
 */
function editorButtons(context, draft, remove) {
  const { loaded, again } = context;
  const close = (/** @type {() => void} */ then) => {
    loaded.draft = null;
    then();
  };
  const button = (/** @type {string} */ kind, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
    h('button', { type: 'button', class: `button ${kind}`, onclick }, label);
  return h(
    'div',
    { class: 'form-row rule-actions' },
    button('line', 'Try on past requests', () => void tryRule(context)),
    h('span', { class: 'spacer' }),
    draft.replaces && button('quiet is-dangerous', 'Remove', () => close(() => remove(draft.replaces))),
    button('quiet', 'Cancel', () => close(again)),
    h('button', { type: 'submit', class: 'button is-primary' }, draft.replaces ? 'Save rule' : 'Create rule'),
  );
}

/** @param {Context} context */
async function save(context) {
  const { app, loaded, again } = context;
  const draft = /** @type {Draft} */ (loaded.draft);
  try {
    const { rule } = await app.feed.call('rules:add', {
      rule: specOf(draft),
      ...(draft.replaces ? { replaces: draft.replaces } : {}),
      ...where(context),
    });
    loaded.rules = await app.feed.call('rules:list', where(context));
    loaded.draft = null;
    app.note(`${rule.words}.`);
  } catch (error) {
    loaded.draftProblem = /** @type {Error} */ (error).message;
  }
  again();
}

/** @param {Context} context */
async function tryRule(context) {
  const { app, loaded, again } = context;
  try {
    const rule = specOf(/** @type {Draft} */ (loaded.draft));
    loaded.dryRun = (await app.feed.call('rules:try', { rule, ...where(context) })).dryRun;
    loaded.draftProblem = '';
  } catch (error) {
    loaded.draftProblem = /** @type {Error} */ (error).message;
  }
  again();
}
