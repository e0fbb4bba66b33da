/**
 * The Files tab: a tree of the session's folder, opened level by level, and the text of one file. Nothing is written.
 */

import { h, iconButton } from '../../js/dom.js';
import { sizeWords } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { mayAct } from '../state.js';
import { FileTree } from './file_tree.js';
import { fileView } from './file_view.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./file_tree.js').Item} Item */

/**
 * @param {App} app
 * @param {() => void} again
 */
export function filesTab(app, again) {
  /** @type {Map<string, FileTree>} */
  const trees = new Map();

  /** @param {string} id */
  function treeOf(id) {
    const tree = trees.get(id) ?? new FileTree(app, id, again);
    trees.set(id, tree);
    return tree;
  }

  /**
   * @param {State} state
   * @param {string} id
   */
  function draw(state, id) {
    const tree = treeOf(id);
    const cwd = state.sessions[id]?.cwd ?? '';
    const { shown } = tree;
    return [
      h(
        'div',
        { class: 'panel__top' },
        h('span', { class: 'chip shrinkable', title: cwd }, icon('folder', 14), h('span', null, visible(cwd))),
        h('span', { class: 'spacer' }),
        iconButton('refresh', 'Refresh', { class: 'is-small', onclick: () => tree.readAgain() }),
      ),
      filterField(tree),
      h(
        'div',
        { class: `tree ${shown ? 'half' : ''}`, role: 'tree', 'aria-label': 'Files', onkeydown: moveInTree },
        tree.filter.trim() ? fitting(tree) : level(tree, '', 0),
      ),
      shown &&
        fileView(shown, tree.line, {
          mention: mayAct(state, id) ? () => app.events.emit('mention', shown.path) : null,
          copy: () => app.copy(shown.text),
          close: () => tree.close(),
        }),
    ];
  }

  return {
    draw,
    /**
     * @param {string} id
     * @param {string} path
     * @param {number} line
     */
    show: (id, path, line) => void treeOf(id).show(path, line),
  };
}

/** @param {FileTree} tree */
const filterField = (tree) =>
  h(
    'label',
    { class: 'tree-filter input' },
    icon('search', 14),
    h('input', {
      type: 'search',
      'aria-label': 'Filter files',
      placeholder: 'Filter files',
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: 200,
      oninput: (/** @type {On<HTMLInputElement>} */ event) => void tree.find(event.currentTarget.value),
    }),
  );

/**
 * What fits the filter, with its folder behind the name.
 * @param {FileTree} tree
 * @returns {import('../../js/dom.js').Child[]}
 */
function fitting(tree) {
  if (!tree.fitting) return [];
  if (!tree.fitting.length) return [h('p', { class: 'tree-row', role: 'presentation' }, 'No file matches.')];
  return tree.fitting.map((path) => {
    const cut = path.lastIndexOf('/') + 1;
    return h(
      'button',
      {
        type: 'button',
        class: `tree-row is-found ${tree.chosen === path ? 'is-selected' : ''}`,
        role: 'treeitem',
        'aria-level': 1,
        'aria-selected': String(tree.chosen === path),
        'data-key': path,
        title: path,
        onclick: () => void tree.show(path),
      },
      icon('file', 14),
      h('b', null, visible(path.slice(cut))),
      h('small', null, visible(path.slice(0, cut))),
    );
  });
}

/**
 * @param {FileTree} tree
 * @param {string} folder
 * @param {number} depth
 * @returns {import('../../js/dom.js').Child[]}
 */
function level(tree, folder, depth) {
  const known = tree.levels.get(folder);
  if (!known || known === 'asked') return [];
  const note = (/** @type {string} */ text, kind = '') =>
    h('p', { class: `tree-row ${indent(depth)} ${kind}`.trim(), role: 'presentation' }, text);
  if (known.problem) return [note(known.problem, 'bad')];
  return [
    ...known.items.flatMap((item) => {
      const path = folder ? `${folder}/${item.name}` : item.name;
      if (item.kind !== 'folder') return [fileRow(tree, item, path, depth)];
      return [folderRow(tree, item, path, depth), ...(tree.open.has(path) ? level(tree, path, depth + 1) : [])];
    }),
    known.cut && note('This folder holds more than is listed here.'),
    !known.items.length && note('This folder is empty.'),
  ];
}

/** @param {number} depth */
const indent = (depth) => `tree-row--${Math.min(depth, 8)}`;

/**
 * @param {FileTree} tree
 * @param {Item} item
 * @param {string} path
 * @param {number} depth
 */
function folderRow(tree, item, path, depth) {
  const open = tree.open.has(path);
  return h(
    'button',
    {
      type: 'button',
      class: `tree-row ${indent(depth)}`,
      role: 'treeitem',
      'aria-expanded': String(open),
      'aria-level': depth + 1,
      'data-key': `${path}/`,
      onclick: () => tree.toggle(path),
    },
    h('span', { class: `disclosure ${open ? 'down' : ''}` }, icon('right', 12)),
    icon('folder', 14),
    h('span', null, visible(item.name)),
  );
}

/**
 * @param {FileTree} tree
 * @param {Item} item
 * @param {string} path
 * @param {number} depth
 */
function fileRow(tree, item, path, depth) {
  const can = item.kind === 'file';
  const chosen = tree.chosen === path;
  const why = item.kind === 'link' ? 'A link. Links are not followed here.' : 'Not a regular file';
  return h(
    'button',
    {
      type: 'button',
      class: `tree-row ${indent(depth)} ${chosen ? 'is-selected' : ''}`,
      role: 'treeitem',
      'aria-level': depth + 1,
      'aria-selected': String(chosen),
      'data-key': path,
      disabled: !can,
      title: can ? null : why,
      onclick: () => void tree.show(path),
    },
    icon(can ? 'file' : 'link', 14),
    h('span', null, visible(item.name)),
    can && h('small', null, sizeWords(item.size)),
  );
}

/**
 * Arrow keys go from row to row, and open and close folders.
 * @param {KeyboardEvent} event
 */
function moveInTree(event) {
  const place = /** @type {HTMLElement} */ (event.currentTarget);
  const rows = /** @type {HTMLElement[]} */ ([...place.querySelectorAll('button.tree-row:not(:disabled)')]);
  const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const row = rows[at];
  const open = row?.getAttribute('aria-expanded');
  if (event.key === 'ArrowDown') rows[at + 1]?.focus();
  else if (event.key === 'ArrowUp') rows[at - 1]?.focus();
  else if ((event.key === 'ArrowRight' && open === 'false') || (event.key === 'ArrowLeft' && open === 'true'))
    row.click();
  else return;
  event.preventDefault();
}
