/** Import from and export to a folder of Markdown files: which folder, and what became of each file. */

import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { visible } from '../../js/visible.js';
import { folderField, fillSlot, slot } from '../start/folder.js';
import { usualDevice } from '../machines.js';
import { ownerNote } from '../owner_note.js';
import { openDialog } from './dialog.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../../js/types.d.ts').FilesOutcome} Outcome */

const WORDS = {
  import: {
    title: 'Import Markdown files',
    about:
      'Every Markdown file below the folder becomes a prompt; a folder of an agent’s own commands, such as ' +
      '.claude/commands, works too. A file that was imported before becomes a new version of its prompt.',
    button: 'Import',
  },
  export: {
    title: 'Export as Markdown files',
    about:
      'Writes a file for each prompt that you see, except scratch pads. Files that are not the library’s, or were ' +
      'changed since, are left alone.',
    button: 'Export',
  },
};

/**
 * @param {App} app
 * @param {'import' | 'export'} what
 * @param {string | null} projectId of prompts that are new
 */
export function openFiles(app, what, projectId) {
  const words = WORDS[what];
  /** @type {Outcome | null} */
  let outcome = null;
  const machine = () => usualDevice(app.store.get());
  const device = () => machine()?.device;
  const refuses = what === 'export' && machine()?.ownerOnly ? machine() : undefined;
  const field = folderField(app, {
    label: 'Folder',
    button: words.button,
    main: true,
    device,
    take: async (folder) => {
      const command = { folder, device: device() };
      outcome =
        what === 'import'
          ? await app.feed.call('prompts:import', { ...command, ...(projectId ? { projectId } : {}) })
          : await app.feed.call('prompts:export', command);
      opened.draw();
    },
  });
  const opened = openDialog(words.title, () => [
    h('p', { class: 'hint' }, words.about),
    refuses ? ownerNote(refuses, 'prompt files') : slot('folder'),
    outcome && outcomeView(outcome),
  ]);
  if (refuses) return;
  const body = /** @type {HTMLElement} */ (document.querySelector('.dialog__body'));
  fillSlot(body, 'folder', field.form);
  field.focus();
}

/** @param {Outcome} outcome */
function outcomeView(outcome) {
  const kinds = /** @type {const} */ (['added', 'changed', 'unchanged', 'skipped']);
  const words = kinds.filter((kind) => outcome[kind].length).map((kind) => `${outcome[kind].length} ${kind}`);
  return h(
    'div',
    { class: 'files-outcome', role: 'status', 'data-key': 'outcome' },
    h('p', null, h('b', null, words.join(', ') || 'There are no Markdown files there.'), ` ${visible(outcome.folder)}`),
    outcome.cut && h('p', null, 'Too many files to read at once; choose a smaller folder.'),
    outcome.skipped.length > 0 &&
      h(
        'ul',
        { 'aria-label': count(outcome.skipped.length, 'file') },
        outcome.skipped.map(({ path, problem }) =>
          h('li', null, h('code', null, visible(path)), ` ${visible(problem ?? '')}`),
        ),
      ),
  );
}
