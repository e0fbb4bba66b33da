/** The right side of the library: one prompt with its name, text, fields, context blocks, versions and uses. */

import { deltaToMarkdown } from '../../js/delta.js';
import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { fieldsOf, splitChoices } from '../../js/template.js';
import { visible } from '../../js/visible.js';
import { keyCap, menu } from '../parts.js';
import { fillSlot, slot } from '../start/folder.js';
import { mayStart } from '../state.js';
import { blocksFor } from './contexts.js';
import { withField } from './draft.js';
import { fieldRows } from './fields.js';
import { historyParts } from './versions.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./writing.js').Writing} Writing */
/** @typedef {import('./versions.js').PromptHistory} PromptHistory */
/**
 * @typedef {{
 *   back: () => void,
 *   use: () => void,
 *   remove: () => void,
 *   share: (shared: boolean) => void,
 *   copyOf: () => void,
 *   takeVersion: (version: number) => void,
 * }} Does
 */

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} frame the editor's, which looks after itself
 * @param {State} state
 * @param {Writing} writing
 * @param {PromptHistory} history
 * @param {Does} does
 */
export function drawEditor(root, frame, state, writing, history, does) {
  const may = mayStart(state);
  const gone = writing.problem && !writing.prompt && !writing.isScratch && writing.id !== 'new';
  update(root, [
    topBar(state, writing, does, may),
    writing.problem &&
      h('p', { class: 'error-message', role: 'alert', 'data-key': 'problem' }, icon('alert', 14), writing.problem),
    writing.theirs && conflictCard(writing),
    !gone && may && !writing.isScratch && aboutRow(state, writing),
    h('div', { class: 'well library-well', 'data-key': 'well', hidden: Boolean(gone) }, slot('frame')),
    !gone &&
      h(
        'div',
        { class: 'library-below', 'data-key': 'below' },
        may && templateParts(writing),
        may && !writing.isScratch && writing.content.kind === 'prompt' && contextPart(state, writing),
        writing.prompt && historyParts(state, writing, history, does),
      ),
  ]);
  fillSlot(root, 'frame', frame);
}

/** @param {Writing} writing */
function templateParts(writing) {
  const fields = fieldsOf(deltaToMarkdown(writing.content.delta), writing.content.fields);
  return fieldRows(fields, (field) => writing.change({ fields: withField(writing.content.fields, field) }));
}

/**
 * @param {State} state
 * @param {Writing} writing
 * @param {Does} does
 * @param {boolean} may
 */
const topBar = (state, writing, does, may) =>
  h(
    'header',
    { class: 'library-top', 'data-key': 'top' },
    iconButton('back', 'Back to the list', { class: 'back', onclick: does.back }),
    writing.isScratch
      ? h('h2', { class: 'library-title' }, scratchTitle(state, writing))
      : h('input', {
          class: 'library-title',
          'aria-label': 'Title',
          placeholder: 'Title',
          maxlength: 500,
          autocomplete: 'off',
          disabled: !may,
          value: writing.content.title,
          oninput: (/** @type {On<HTMLInputElement>} */ event) => writing.change({ title: event.currentTarget.value }),
        }),
    h('span', { class: 'library-saved', role: 'status' }, savedWords(writing)),
    may && !writing.isScratch && saveButton(writing),
    may &&
      writing.content.kind !== 'context' &&
      h(
        'button',
        { type: 'button', class: 'button line is-small library-use', disabled: writing.loading, onclick: does.use },
        icon('play', 14),
        'Use',
        keyCap('Ctrl ⏎'),
      ),
    may && writing.prompt && moreButton(writing, does),
  );

/**
 * @param {State} state
 * @param {Writing} writing
 */
function scratchTitle(state, writing) {
  const project = state.projects.find((candidate) => candidate.id === writing.content.projectId);
  return project ? `Scratch pad of ${visible(project.name)}` : 'Scratch pad';
}

/** @param {Writing} writing */
function savedWords(writing) {
  if (writing.loading) return 'Loading';
  if (writing.busy) return 'Saving';
  if (writing.isDirty) return writing.isScratch && !writing.problem ? 'Saving' : 'Not saved';
  return writing.prompt ? `Version ${writing.prompt.version}` : '';
}

/** @param {Writing} writing */
const saveButton = (writing) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button is-primary is-small',
      disabled: !writing.isDirty || writing.busy || Boolean(writing.theirs),
      title: 'Save (Ctrl S)',
      onclick: () => void writing.save(),
    },
    'Save',
  );

/**
 * @param {Writing} writing
 * @param {Does} does
 */
function moreButton(writing, does) {
  const { prompt } = writing;
  const open = (/** @type {On} */ event) =>
    menu(event.currentTarget, [
      ...(writing.isDirty && !writing.isScratch
        ? [{ label: 'Discard unsaved changes', icon: 'refresh', run: () => writing.revert() }]
        : []),
      { label: writing.isScratch ? 'Save as a prompt' : 'Make a copy', icon: 'copy', run: does.copyOf },
      ...(prompt?.mine
        ? [
            {
              label: prompt.shared ? 'Keep it private' : 'Share it',
              note: prompt.shared ? 'only this browser sees it' : 'everybody who can see all sessions',
              icon: prompt.shared ? 'lock' : 'share',
              run: () => does.share(!prompt.shared),
            },
          ]
        : []),
      'line',
      { label: 'Remove', icon: 'trash', danger: true, run: does.remove },
    ]);
  return iconButton('more', 'More', { 'aria-haspopup': 'menu', onclick: open });
}

/** @param {Writing} writing */
function conflictCard(writing) {
  const theirs = /** @type {import('./writing.js').Theirs} */ (writing.theirs);
  const button = (/** @type {string} */ kind, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
    h('button', { type: 'button', class: `button ${kind} is-small`, onclick }, label);
  return h(
    'div',
    { class: 'card conflict', role: 'alert', 'data-key': 'conflict' },
    h(
      'p',
      null,
      icon('alert', 14),
      `${visible(theirs.prompt.updatedBy)} saved version ${theirs.prompt.version} while you wrote. Both are kept.`,
    ),
    h(
      'details',
      null,
      h('summary', null, `What ${visible(theirs.prompt.updatedBy)} saved`),
      h('pre', { tabindex: 0 }, visible(deltaToMarkdown(theirs.content.delta))),
    ),
    h(
      'div',
      { class: 'form-row rule-actions' },
      button('line', 'Save mine as the newer version', () => void writing.saveMine()),
      button('line', 'Keep mine as a copy', () => void writing.saveCopy()),
      button('quiet is-dangerous', 'Use theirs, discard mine', () => {
        writing.saved = theirs.content;
        Object.assign(writing, { base: theirs.prompt.version, theirs: null, problem: '' });
        writing.revert();
      }),
    ),
  );
}

/**
 * @param {string} label
 * @param {[string, string][]} options
 * @param {string} now
 * @param {(value: string) => void} set
 */
const select = (label, options, now, set) =>
  h(
    'select',
    {
      class: 'input',
      'aria-label': label,
      onchange: (/** @type {On<HTMLSelectElement>} */ event) => set(event.currentTarget.value),
    },
    options.map(([value, words]) => h('option', { value, selected: value === now }, words)),
  );

/**
 * @param {State} state
 * @param {Writing} writing
 */
function aboutRow(state, writing) {
  const { content } = writing;
  return h(
    'div',
    { class: 'library-about', 'data-key': 'about' },
    select(
      'Kind',
      [
        ['prompt', 'Prompt'],
        ['context', 'Context block'],
      ],
      content.kind,
      (kind) => writing.change({ kind: kind === 'context' ? 'context' : 'prompt' }),
    ),
    select(
      'Project of the prompt',
      [
        ['', 'No project'],
        ...state.projects.map((project) => /** @type {[string, string]} */ ([project.id, project.name])),
      ],
      content.projectId ?? '',
      (id) => writing.change({ projectId: id || null }),
    ),
    h('input', {
      class: 'input',
      'data-key': 'tags',
      'aria-label': 'Tags',
      placeholder: 'Tags: review, tests',
      value: content.tags.join(', '),
      maxlength: 500,
      autocomplete: 'off',
      oninput: (/** @type {On<HTMLInputElement>} */ event) =>
        writing.change({ tags: splitChoices(event.currentTarget.value) }),
    }),
    content.kind === 'context' &&
      h(
        'label',
        { class: 'library-check' },
        h('input', {
          type: 'checkbox',
          checked: content.always,
          onchange: (/** @type {On<HTMLInputElement>} */ event) =>
            writing.change({ always: event.currentTarget.checked }),
        }),
        'Before every prompt',
      ),
  );
}

/**
 * @param {State} state
 * @param {Writing} writing
 */
function contextPart(state, writing) {
  const { content } = writing;
  const blocks = blocksFor(state.prompts, content.projectId);
  if (!blocks.length) return null;
  const toggle = (/** @type {string} */ id) => {
    const others = content.contexts.filter((/** @type {string} */ context) => context !== id);
    writing.change({ contexts: others.length < content.contexts.length ? others : [...others, id] });
  };
  return h(
    'section',
    { class: 'library-part', 'data-key': 'contexts', 'aria-label': 'Context blocks' },
    h('h2', null, 'Context blocks before it'),
    h(
      'div',
      { class: 'chip-row' },
      blocks.map((block) =>
        h(
          'button',
          {
            type: 'button',
            class: `chip context-chip ${block.always || content.contexts.includes(block.id) ? 'is-on' : ''}`,
            'data-key': block.id,
            'aria-pressed': String(block.always || content.contexts.includes(block.id)),
            disabled: block.always,
            title: block.always ? 'Added before every prompt' : null,
            onclick: () => toggle(block.id),
          },
          visible(block.title),
        ),
      ),
    ),
  );
}
