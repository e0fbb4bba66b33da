/**
 * The Files tab: a tree of the session's folder, opened level by level, and the text of one file. Nothing is written.
 */

import { h, iconButton } from '../../js/dom.js';
import { highlighted, languageOf } from '../../js/highlight.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { sizeWords } from '../../js/format.js';
import { mayAct } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {{items: {name: string, kind: string, size: number}[], cut: boolean, problem: string} | 'asked'} Level */
/** @typedef {{path: string, size: number, binary: boolean, cut: boolean, text: string, problem: string}} Shown */
/** @typedef {{levels: Map<string, Level>, open: Set<string>, shown: Shown | null, chosen: string}} Tree */

/**
 * @param {App} app
 * @param {() => void} again
 */
export function filesTab(app, again) {
  /** @type {Map<string, Tree>} */
  const trees = new Map();

  /** @param {string} id */
  function treeOf(id) {
    let tree = trees.get(id);
    if (!tree) {
      tree = { levels: new Map(), open: new Set(), shown: null, chosen: '' };
      trees.set(id, tree);
      void read(id, tree, '');
    }
    return tree;
  }

  /**
   * @param {string} id
   * @param {Tree} tree
   * @param {string} path
   */
  async function read(id, tree, path) {
    if (!tree.levels.has(path)) tree.levels.set(path, 'asked');
    try {
      const list = await app.api.files(id, { path });
      tree.levels.set(path, { items: list.items, cut: list.cut, problem: '' });
    } catch (error) {
      tree.levels.set(path, { items: [], cut: false, problem: /** @type {Error} */ (error).message });
    }
    again();
  }

  /**
   * @param {string} id
   * @param {Tree} tree
   * @param {string} path
   */
  async function show(id, tree, path) {
    tree.chosen = path;
    again();
    try {
      const file = await app.api.file(id, { path });
      if (tree.chosen === path) tree.shown = { ...file, problem: '' };
    } catch (error) {
      if (tree.chosen === path)
        tree.shown = {
          path,
          size: 0,
          binary: false,
          cut: false,
          text: '',
          problem: /** @type {Error} */ (error).message,
        };
    }
    again();
  }

  /**
   * @param {string} id
   * @param {Tree} tree
   * @param {string} folder
   * @param {number} depth
   * @returns {any[]}
   */
  function level(id, tree, folder, depth) {
    const known = tree.levels.get(folder);
    if (!known || known === 'asked') return [];
    const pad = `lv${Math.min(depth, 8)}`;
    if (known.problem) return [h('p', { class: `trow ${pad} bad`, role: 'presentation' }, known.problem)];
    return [
      ...known.items.flatMap((item) => {
        const path = folder ? `${folder}/${item.name}` : item.name;
        const open = tree.open.has(path);
        if (item.kind === 'folder')
          return [
            h(
              'button',
              {
                type: 'button',
                class: `trow ${pad}`,
                role: 'treeitem',
                'aria-expanded': String(open),
                'aria-level': depth + 1,
                'data-key': `${path}/`,
                onclick: () => toggle(id, tree, path),
              },
              h('span', { class: `car ${open ? 'down' : ''}` }, icon('right', 12)),
              icon('folder', 14),
              h('span', null, visible(item.name)),
            ),
            ...(open ? level(id, tree, path, depth + 1) : []),
          ];
        const can = item.kind === 'file';
        return [
          h(
            'button',
            {
              type: 'button',
              class: `trow ${pad} ${tree.chosen === path ? 'sel' : ''}`,
              role: 'treeitem',
              'aria-level': depth + 1,
              'aria-selected': String(tree.chosen === path),
              'data-key': path,
              disabled: !can,
              title: can ? null : item.kind === 'link' ? 'A link. Links are not followed here.' : 'Not a regular file',
              onclick: () => void show(id, tree, path),
            },
            icon(can ? 'file' : 'link', 14),
            h('span', null, visible(item.name)),
            can && h('small', null, sizeWords(item.size)),
          ),
        ];
      }),
      known.cut &&
        h('p', { class: `trow ${pad}`, role: 'presentation' }, 'There is more in this folder than is listed.'),
      !known.items.length && h('p', { class: `trow ${pad}`, role: 'presentation' }, 'Nothing in here.'),
    ];
  }

  /**
   * @param {string} id
   * @param {Tree} tree
   * @param {string} path
   */
  function toggle(id, tree, path) {
    if (!tree.open.delete(path)) {
      tree.open.add(path);
      void read(id, tree, path);
    }
    again();
  }

  /** @param {KeyboardEvent} event */
  function arrows(event) {
    const rows = /** @type {HTMLElement[]} */ (
      [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('.trow:not(:disabled)')].filter(
        (one) => one instanceof HTMLButtonElement,
      )
    );
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

  /**
   * @param {State} state
   * @param {string} id
   */
  function draw(state, id) {
    const tree = treeOf(id);
    return [
      h(
        'div',
        { class: 'ptop' },
        h(
          'span',
          { class: 'chip grow0', title: state.sessions[id]?.cwd ?? '' },
          icon('folder', 14),
          h('span', null, visible(state.sessions[id]?.cwd ?? '')),
        ),
        h('span', { class: 'sp' }),
        iconButton('refresh', 'Look again', {
          class: 'xs',
          onclick: () => {
            for (const path of ['', ...tree.open]) void read(id, tree, path);
            if (tree.chosen) void show(id, tree, tree.chosen);
          },
        }),
      ),
      h(
        'div',
        { class: `tree ${tree.shown ? 'half' : ''}`, role: 'tree', 'aria-label': 'Files', onkeydown: arrows },
        level(id, tree, '', 0),
      ),
      tree.shown && viewer(state, id, tree, tree.shown),
    ];
  }

  /**
   * @param {State} state
   * @param {string} id
   * @param {Tree} tree
   * @param {Shown} shown
   */
  function viewer(state, id, tree, shown) {
    const name = visible(shown.path.split('/').pop() ?? '');
    const lines = shown.text.split('\n');
    if (lines.length > 1 && lines.at(-1) === '') lines.pop();
    const text = visible(lines.map((line) => line.replace(/\r$/, '')).join('\n'));
    return h(
      'section',
      { class: 'fview', 'aria-label': name, 'data-key': `file ${shown.path}` },
      h(
        'p',
        { class: 'pfile' },
        h('b', { title: visible(shown.path) }, name),
        h('small', null, sizeWords(shown.size)),
        h('span', { class: 'sp' }),
        mayAct(state, id) &&
          iconButton('at', 'Mention it in the message', {
            class: 'xs',
            onclick: () => app.events.emit('mention', shown.path),
          }),
        !shown.binary && iconButton('copy', 'Copy the text', { class: 'xs', onclick: () => app.copy(shown.text) }),
        iconButton('x', 'Close the file', {
          class: 'xs',
          onclick: () => {
            tree.shown = null;
            tree.chosen = '';
            again();
          },
        }),
      ),
      shown.problem
        ? h('p', { class: 'ptip bad' }, icon('alert', 14), h('span', null, shown.problem))
        : shown.binary
          ? h('p', { class: 'ptip' }, icon('info', 14), h('span', null, 'This file is not text, so it is not shown.'))
          : h(
              'div',
              { class: 'ftext', tabindex: 0, role: 'group', 'aria-label': 'Text' },
              h('pre', { class: 'lns', 'aria-hidden': 'true' }, lines.map((_, n) => n + 1).join('\n')),
              h('pre', null, h('code', null, highlighted(text, languageOf(shown.path)))),
            ),
      shown.cut && h('p', { class: 'ptip' }, icon('info', 14), h('span', null, 'Only the first 1 MB is shown.')),
    );
  }

  return { draw };
}
