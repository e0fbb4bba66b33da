/** The left side of the library: search, filters, and the prompts in their groups. */

import { h, iconButton } from '../../js/dom.js';
import { age } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { menu } from '../parts.js';
import { marked } from '../search/hits.js';
import { mayStart } from '../state.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').PromptView} Prompt */
/**
 * What is wanted of the list.
 * @typedef {{q: string, project: string, tag: string, only: 'all' | 'favourites' | 'removed'}} Filter
 */
/**
 * @typedef {{
 *   open: (id: string) => void,
 *   filter: (patch: Partial<Filter>) => void,
 *   star: (prompt: Prompt) => void,
 *   restore: (prompt: Prompt) => void,
 *   files: (what: 'import' | 'export') => void,
 * }} Does
 */

/** @type {Filter} */
export const FIRST_FILTER = { q: '', project: '', tag: '', only: 'all' };
export const NOT_OF_A_PROJECT = '-';

/**
 * @param {State} state
 * @param {Filter} filter
 * @param {Prompt[] | null} found what the search found, in its order; null while nothing is searched
 * @param {string} chosen the id in view
 * @param {string[]} unsaved ids with a draft
 * @param {Does} does
 */
export function listView(state, filter, found, chosen, unsaved, does) {
  const prompts = listed(found ?? state.prompts ?? [], filter);
  const row = (/** @type {Prompt} */ prompt) =>
    promptRow(prompt, prompt.id === chosen, unsaved.includes(prompt.id), filter, does);
  const groups = found
    ? [group('Found', prompts.map(row))]
    : [
        group('Favourites', prompts.filter((prompt) => prompt.favourite && prompt.kind === 'prompt').map(row)),
        group('Prompts', prompts.filter((prompt) => !prompt.favourite && prompt.kind === 'prompt').map(row)),
        group('Context blocks', prompts.filter((prompt) => prompt.kind === 'context').map(row)),
        group('Other scratch pads', otherPads(prompts).map(row)),
      ];
  const empty = state.prompts !== null && !groups.some(Boolean);
  return [
    head(state, does, filter),
    searchField(filter, does),
    filters(state, filter, does),
    h(
      'div',
      { class: 'library-rows' },
      filter.only === 'all' &&
        !filter.q &&
        h(
          'ul',
          { 'data-key': 'first', 'aria-label': 'Drafts' },
          scratchRow(filter, chosen, does),
          unsaved.includes('new') && newRow(chosen, does),
        ),
      ...groups,
      empty && h('p', { class: 'nothing' }, emptyWords(filter)),
      state.prompts === null && h('p', { class: 'nothing' }, 'Loading'),
    ),
  ];
}

/**
 * @param {Prompt[]} prompts
 * @param {Filter} filter
 */
const listed = (prompts, { project, tag, only }) =>
  prompts.filter(
    (prompt) =>
      (!project || (project === NOT_OF_A_PROJECT ? !prompt.projectId : prompt.projectId === project)) &&
      (!tag || prompt.tags.includes(tag)) &&
      (only !== 'favourites' || prompt.favourite),
  );

/**
 * Pads that the first row does not stand for: those of browsers that are not let in any more, and shared ones.
 * @param {Prompt[]} prompts
 */
function otherPads(prompts) {
  const own = new Map(
    prompts.filter((prompt) => prompt.kind === 'scratch' && prompt.mine).map((prompt) => [prompt.projectId, prompt]),
  );
  return prompts.filter((prompt) => prompt.kind === 'scratch' && own.get(prompt.projectId) !== prompt);
}

/** @param {Filter} filter */
const emptyWords = ({ q, project, tag, only }) =>
  only === 'removed'
    ? 'Nothing was removed.'
    : q || project || tag || only === 'favourites'
      ? 'No prompt matches.'
      : 'No prompts yet. Write one, save a message from a conversation, or import a folder of Markdown files.';

/**
 * @param {string} title
 * @param {Node[]} rows
 */
const group = (title, rows) =>
  rows.length > 0 &&
  h('section', { 'data-key': title, 'aria-label': title }, h('p', { class: 'caption' }, title), h('ul', null, ...rows));

/**
 * @param {State} state
 * @param {Does} does
 * @param {Filter} filter
 */
const head = (state, does, filter) =>
  h(
    'header',
    { class: 'library-head', 'data-key': 'head' },
    h('h1', null, filter.only === 'removed' ? 'Removed prompts' : 'Library'),
    h('span', { class: 'spacer' }),
    mayStart(state) &&
      h(
        'button',
        { type: 'button', class: 'button is-primary is-small', onclick: () => does.open('new') },
        icon('plus', 14),
        'New prompt',
      ),
    iconButton('more', 'More', {
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) => menu(event.currentTarget, moreChoices(state, does, filter)),
    }),
  );

/**
 * @param {State} state
 * @param {Does} does
 * @param {Filter} filter
 */
const moreChoices = (state, does, filter) => [
  ...(mayStart(state)
    ? [
        { label: 'Import Markdown files', icon: 'export', run: () => does.files('import') },
        { label: 'Export as Markdown files', icon: 'share', run: () => does.files('export') },
      ]
    : []),
  filter.only === 'removed'
    ? { label: 'Back to all prompts', icon: 'back', run: () => does.filter({ only: 'all' }) }
    : { label: 'Removed prompts', icon: 'trash', run: () => does.filter({ only: 'removed' }) },
];

/**
 * @param {Filter} filter
 * @param {Does} does
 */
const searchField = (filter, does) =>
  h('input', {
    class: 'input',
    type: 'search',
    'data-key': 'q',
    'aria-label': 'Search the prompts',
    placeholder: 'Search title, tags and text',
    value: filter.q,
    maxlength: 400,
    autocomplete: 'off',
    oninput: (/** @type {On<HTMLInputElement>} */ event) => does.filter({ q: event.currentTarget.value }),
  });

/**
 * @param {State} state
 * @param {Filter} filter
 * @param {Does} does
 */
function filters(state, filter, does) {
  const tags = [...new Set((state.prompts ?? []).flatMap((prompt) => prompt.tags))].sort((a, b) => a.localeCompare(b));
  const option = (/** @type {string} */ value, /** @type {string} */ label, /** @type {string} */ now) =>
    h('option', { value, selected: value === now }, label);
  const star = filter.only === 'favourites';
  return h(
    'div',
    { class: 'library-filters', 'data-key': 'filters' },
    h(
      'select',
      {
        class: 'input',
        'aria-label': 'Project',
        onchange: (/** @type {On<HTMLSelectElement>} */ event) => does.filter({ project: event.currentTarget.value }),
      },
      option('', 'All projects', filter.project),
      option(NOT_OF_A_PROJECT, 'No project', filter.project),
      state.projects.map((project) => option(project.id, project.name, filter.project)),
    ),
    h(
      'select',
      {
        class: 'input',
        'aria-label': 'Tag',
        onchange: (/** @type {On<HTMLSelectElement>} */ event) => does.filter({ tag: event.currentTarget.value }),
      },
      option('', 'All tags', filter.tag),
      tags.map((tag) => option(tag, visible(tag), filter.tag)),
    ),
    iconButton('star', star ? 'Show all prompts' : 'Show favourites only', {
      class: star ? 'is-on' : '',
      'aria-pressed': String(star),
      onclick: () => does.filter({ only: star ? 'all' : 'favourites' }),
    }),
  );
}

/**
 * @param {Prompt} prompt
 * @param {boolean} chosen
 * @param {boolean} unsaved
 * @param {Filter} filter
 * @param {Does} does
 */
function promptRow(prompt, chosen, unsaved, filter, does) {
  const about = [
    unsaved && 'not saved',
    !prompt.shared && 'private',
    ...prompt.tags.map((tag) => `#${visible(tag)}`),
    age(prompt.updatedAt, Date.now()),
  ].filter(Boolean);
  const removed = filter.only === 'removed';
  return h(
    'li',
    { class: `library-row ${chosen ? 'is-selected' : ''}`, 'data-key': prompt.id },
    h(
      'button',
      {
        type: 'button',
        class: 'library-row__open',
        'aria-current': chosen ? 'true' : null,
        onclick: () => does.open(prompt.id),
      },
      h('b', null, visible(prompt.title)),
      h(
        'span',
        { class: 'library-row__text' },
        prompt.snippet?.length ? marked(prompt.snippet) : visible(prompt.excerpt),
      ),
      h('small', null, about.join(' · ')),
    ),
    removed
      ? h('button', { type: 'button', class: 'button line is-small', onclick: () => does.restore(prompt) }, 'Restore')
      : iconButton('star', prompt.favourite ? 'Remove from favourites' : 'Add to favourites', {
          class: `is-small ${prompt.favourite ? 'is-on is-star' : ''}`,
          'aria-pressed': String(prompt.favourite),
          onclick: () => does.star(prompt),
        }),
  );
}

/**
 * @param {Filter} filter
 * @param {string} chosen
 * @param {Does} does
 */
function scratchRow(filter, chosen, does) {
  const id = scratchId(filter);
  return plainRow(id, chosen === id, 'edit', 'Scratch pad', 'Saved while you write', () => does.open(id));
}

/**
 * @param {string} chosen
 * @param {Does} does
 */
const newRow = (chosen, does) =>
  plainRow('new', chosen === 'new', 'file', 'New prompt', 'Not saved yet', () => does.open('new'));

/**
 * @param {string} key
 * @param {boolean} chosen
 * @param {string} mark
 * @param {string} title
 * @param {string} about
 * @param {() => void} onclick
 */
const plainRow = (key, chosen, mark, title, about, onclick) =>
  h(
    'li',
    { class: `library-row ${chosen ? 'is-selected' : ''}`, 'data-key': key },
    h(
      'button',
      { type: 'button', class: 'library-row__open is-plain', 'aria-current': chosen ? 'true' : null, onclick },
      icon(mark),
      h('b', null, title),
      h('small', null, about),
    ),
  );

/**
 * The pad of the project that the list shows, or of none.
 * @param {Filter} filter
 */
export const scratchId = ({ project }) => (project && project !== NOT_OF_A_PROJECT ? `scratch.${project}` : 'scratch');
