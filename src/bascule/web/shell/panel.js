/** The right panel: files this session changed, by its own edits, and the chosen one's lines. */

import { patchLines } from '../js/diff.js';
import { h, iconButton, update } from '../js/dom.js';
import { highlighted, languageOf } from '../js/highlight.js';
import { icon } from '../js/icons.js';
import { diffView, plusMinus } from '../js/lines.js';
import { visible } from '../js/visible.js';
import { nearPath } from '../js/words.js';
import { shownSession } from './state.js';

/** @typedef {import('./app.js').App} App */

/** @param {HTMLElement} root @param {App} app */
export function mountPanel(root, app) {
  let chosen = '';
  const again = () => draw(app.store.get());

  /** @param {import('./state.js').State} state */
  function draw(state) {
    const id = shownSession(state);
    const on = state.panel && state.route.name === 'session' && Boolean(id);
    root.hidden = !on;
    document.getElementById('app')?.classList.toggle('haspanel', on);
    if (!on || !id) return;
    const files = filesOf(state.live[id]?.edits ?? []);
    const cwd = state.sessions[id]?.cwd ?? '';
    const file = files.find((one) => one.path === chosen) ?? files[0];
    const sum = files.reduce((total, one) => ({ added: total.added + one.added, removed: total.removed + one.removed }), { added: 0, removed: 0 });
    update(root, [
      h('header', null, h('span', { class: 'seg' }, h('button', { type: 'button', class: 'sel' }, 'Changes ', h('span', { class: 'n' }, String(files.length)))), h('span', { class: 'sp' }), iconButton('x', 'Close (Ctrl J)', { onclick: () => app.store.set({ panel: false }) })),
      h('div', { class: 'well pw' }, files.length ? [
        h('div', { class: 'ptop' }, h('span', { class: 'chip' }, 'This session'), h('span', { class: 'sp' }), plusMinus(sum.added, sum.removed)),
        h('div', { class: 'plist' }, files.map((one) => h('button', { type: 'button', class: `prow ${one === file ? 'sel' : ''}`, 'data-key': one.path, 'aria-pressed': String(one === file), onclick: () => { chosen = one.path; again(); } },
          h('span', { class: 'mb mb-M' }, 'M'), pathLabel(nearPath(one.path, cwd)), plusMinus(one.added, one.removed)))),
        h('p', { class: 'pfile' }, h('b', null, visible(file.path.split('/').pop() ?? '')), h('span', { class: 'sp' }), iconButton('copy', 'Copy the diff', { class: 'xs', onclick: () => app.copy(file.patches.join('\n')) })),
        diffView(file.patches.flatMap((patch, n) => [...(n ? [/** @type {const} */ ({ kind: 'head', line: null, text: '⋯' })] : []), ...patchLines(patch)]), (text) => highlighted(visible(text), languageOf(file.path))),
      ] : h('div', { class: 'center' }, h('div', { class: 'emptyt' }, icon('diff', 24), h('h2', null, 'No changes yet'), h('p', null, 'Files this session edits will be listed here.')))),
    ]);
  }

  app.store.subscribe((now, before) => {
    const id = shownSession(now) ?? '';
    if (now.panel !== before.panel || now.route !== before.route || now.live[id]?.edits !== before.live[id]?.edits || now.sessions[id] !== before.sessions[id]) draw(now);
  });
  draw(app.store.get());
}

/** @param {string} path */
function pathLabel(path) {
  const at = path.lastIndexOf('/') + 1;
  return h('span', { class: 'pth', title: visible(path) }, h('bdi', null, visible(path.slice(0, at))), h('b', null, visible(path.slice(at))));
}

/** @param {import('./state.js').LiveSession['edits']} edits */
function filesOf(edits) {
  /** @type {Map<string, {path: string, added: number, removed: number, patches: string[]}>} */
  const files = new Map();
  for (const one of edits) {
    const file = files.get(one.path) ?? { path: one.path, added: 0, removed: 0, patches: [] };
    files.set(one.path, { ...file, added: file.added + one.added, removed: file.removed + one.removed, patches: [...file.patches, one.patch] });
  }
  return [...files.values()];
}
