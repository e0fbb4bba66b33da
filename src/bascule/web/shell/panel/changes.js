/**
 * The Changes tab: files this session changed, by its own edits and as git sees them, for all of it or for one turn.
 */

import { patchLines } from '../../js/diff.js';
import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { plusMinus } from '../../js/lines.js';
import { turnsOf } from '../../js/turns.js';
import { visible } from '../../js/visible.js';
import { clockTime, count, nearPath } from '../../js/format.js';
import { addComment } from '../composer/comments.js';
import { diffPane } from './diff_pane.js';
import { menu } from '../parts.js';
import { mayAct } from '../state.js';
import { table } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/turns.js').FileRow} FileRow */
/** @typedef {import('../../js/turns.js').Turn} Turn */
/**
 * @typedef {{
 *   branch: string | null,
 *   gitProblem: string | null,
 *   cut: boolean,
 *   files: FileRow[],
 *   turns: Turn[],
 *   problem: string,
 *   at: number,
 * }} Known
 */

const SPLIT = 'bascule.split';
const TURN_ENTRIES = 500;
/** @type {Record<string, [string, string]>} */
const BADGES = table({
  modified: ['M', 'changed'],
  edited: ['M', 'changed'],
  added: ['A', 'new'],
  untracked: ['A', 'new'],
  deleted: ['D', 'deleted'],
  conflict: ['!', 'in conflict'],
});

/**
 * @param {App} app
 * @param {() => void} again
 */
export function changesTab(app, again) {
  /** @type {Map<string, Known>} */
  const known = new Map();
  /** @type {Set<string>} */
  const asking = new Set();
  /** @type {Map<string, string | number>} 'session', 'git' or the number of a turn's prompt */
  const scopes = new Map();
  let chosen = '';
  let all = false;
  /** @type {number | null} */
  let at = null;
  let split = localStorage.getItem(SPLIT) === 'yes';
  const phone = matchMedia('(max-width: 720px)'); // two columns of code do not fit there
  const two = () => split && !phone.matches;

  /**
   * @param {string} id
   * @param {string} cwd
   */
  async function load(id, cwd) {
    if (asking.has(id)) return;
    asking.add(id);
    try {
      const [changes, page] = await Promise.all([app.api.changes(id), app.api.entries(id, { limit: TURN_ENTRIES })]);
      const files = changes.files.map((/** @type {any} */ one) => ({ ...one, patches: one.patch ? [one.patch] : [] }));
      known.set(id, {
        branch: changes.branch,
        gitProblem: changes.gitProblem,
        cut: changes.cut,
        files,
        turns: turnsOf(page.entries, cwd),
        problem: '',
        at: Date.now(),
      });
    } catch (error) {
      const before = known.get(id);
      const problem =
        /** @type {any} */ (error).code === 'FORBIDDEN'
          ? 'This link shows the conversation, not the files.'
          : /** @type {Error} */ (error).message;
      known.set(id, {
        branch: null,
        gitProblem: null,
        cut: false,
        files: [],
        turns: [],
        ...before,
        problem,
        at: Date.now(),
      });
    } finally {
      asking.delete(id);
      again();
    }
  }

  /**
   * @param {Known} now
   * @param {string | number} scope
   * @returns {FileRow[]}
   */
  function filesIn(now, scope) {
    if (typeof scope === 'number') return now.turns.find((one) => one.seq === scope)?.files ?? [];
    return scope === 'git'
      ? now.files.filter((one) => one.source !== 'session')
      : now.files.filter((one) => one.source !== 'git');
  }

  /**
   * @param {HTMLElement} anchor
   * @param {string} id
   * @param {Known} now
   * @param {string | number} scope
   */
  function choose(anchor, id, now, scope) {
    const set = (/** @type {string | number} */ value) => {
      scopes.set(id, value);
      at = null;
      all = false;
      again();
    };
    const files = (/** @type {string | number} */ one) => count(filesIn(now, one).length, 'file');
    menu(anchor, [
      {
        label: 'This session',
        note: `What it edited itself: ${files('session')}`,
        on: scope === 'session',
        run: () => set('session'),
      },
      {
        label: 'Since the last commit',
        note: now.gitProblem
          ? visible(now.gitProblem)
          : `Everything git sees${now.branch ? ` on ${visible(now.branch)}` : ''}: ${files('git')}`,
        on: scope === 'git',
        run: () => set('git'),
      },
      ...(now.turns.length
        ? [
            { title: 'One turn' },
            ...now.turns
              .slice(-12)
              .reverse()
              .map((turn) => ({
                label: visible(turn.text).slice(0, 70) || 'A turn',
                note: `${clockTime(turn.at)} · ${files(turn.seq)}`,
                on: scope === turn.seq,
                run: () => set(turn.seq),
              })),
          ]
        : []),
    ]);
  }

  /**
   * @param {Known} now
   * @param {string | number} scope
   */
  const scopeWords = (now, scope) =>
    scope === 'session'
      ? 'This session'
      : scope === 'git'
        ? `Since the last commit${now.branch ? `, ${visible(now.branch)}` : ''}`
        : `Turn: ${visible(now.turns.find((one) => one.seq === scope)?.text ?? '').slice(0, 40)}`;

  /**
   * @param {State} state
   * @param {string} id
   */
  function draw(state, id) {
    const session = state.sessions[id];
    const cwd = session?.cwd ?? '';
    const now = known.get(id);
    if (!now) {
      void load(id, cwd);
      return [
        h(
          'div',
          { class: 'shapes', 'aria-hidden': 'true' },
          [70, 90, 50].map((width) => h('span', { class: `sk w${width}` })),
        ),
      ];
    }
    const scope = scopes.get(id) ?? 'session';
    const files = filesIn(now, scope);
    const file = files.find((one) => one.path === chosen) ?? files[0];
    const sum = files.reduce(
      (total, one) => ({ added: total.added + one.added, removed: total.removed + one.removed }),
      { added: 0, removed: 0 },
    );
    return [
      h(
        'div',
        { class: 'ptop' },
        h(
          'button',
          {
            type: 'button',
            class: 'chip grow0',
            'aria-haspopup': 'menu',
            onclick: (/** @type {any} */ event) => choose(event.currentTarget, id, now, scope),
          },
          h('span', null, scopeWords(now, scope)),
          h('span', { class: 'dd' }, icon('down', 12)),
        ),
        h('span', { class: 'sp' }),
        files.length > 0 && plusMinus(sum.added, sum.removed),
        iconButton('refresh', 'Look again', { class: 'xs', onclick: () => void load(id, cwd) }),
      ),
      now.problem && h('p', { class: 'ptip bad' }, icon('alert', 14), h('span', null, now.problem)),
      file
        ? [
            h(
              'div',
              { class: 'plist' },
              files.map((one) =>
                fileRow(one, one === file, cwd, () => {
                  chosen = one.path;
                  at = null;
                  all = false;
                  again();
                }),
              ),
            ),
            h(
              'p',
              { class: 'pfile' },
              h('b', null, visible(file.path.split('/').pop() ?? '')),
              h('span', { class: 'sp' }),
              !phone.matches &&
                iconButton('columns', split ? 'One column' : 'Side by side', {
                  class: `xs ${split ? 'on' : ''}`,
                  'aria-pressed': String(split),
                  onclick: () => {
                    split = !split;
                    localStorage.setItem(SPLIT, split ? 'yes' : 'no');
                    again();
                  },
                }),
              iconButton('copy', 'Copy the diff', { class: 'xs', onclick: () => app.copy(file.patches.join('\n')) }),
            ),
            ...body(state, id, file),
          ]
        : h(
            'div',
            { class: 'center' },
            h(
              'div',
              { class: 'emptyt' },
              icon('diff', 24),
              h('h2', null, 'No files changed yet.'),
              h(
                'p',
                null,
                scope === 'git'
                  ? now.gitProblem
                    ? visible(now.gitProblem)
                    : 'Everything here is as it was committed.'
                  : 'Edits of this session will be listed here.',
              ),
            ),
          ),
      now.cut &&
        scope === 'git' &&
        h('p', { class: 'ptip' }, icon('info', 14), h('span', null, 'There are more files than are listed here.')),
    ];
  }

  /**
   * @param {State} state
   * @param {string} id
   * @param {FileRow} file
   */
  function body(state, id, file) {
    if (file.binary)
      return [
        h(
          'p',
          { class: 'ptip' },
          icon('info', 14),
          h('span', null, 'This file is not text, so there are no lines to show.'),
        ),
      ];
    if (!file.patches.length)
      return [
        h(
          'p',
          { class: 'ptip' },
          icon('info', 14),
          h(
            'span',
            null,
            file.cut
              ? 'This change is too large to show here. Its file is in the Files tab.'
              : 'There are no lines to show.',
          ),
        ),
      ];
    const lines = file.patches.flatMap((patch, n) => [
      ...(n ? [/** @type {const} */ ({ kind: 'head', line: null, text: '⋯' })] : []),
      ...patchLines(patch),
    ]);
    const acts = mayAct(state, id);
    return [
      ...diffPane({
        path: file.path,
        lines,
        split: two(),
        all,
        at,
        comments: state.comments[id] ?? [],
        mayComment: acts,
        onLine: (n) => {
          at = n;
          again();
          if (n !== null) /** @type {HTMLElement | null} */ (document.querySelector('.rmkf textarea'))?.focus();
        },
        onComment: (line, text) => {
          at = null;
          addComment(app, id, {
            path: file.path,
            line: line.line,
            side: line.kind === 'del' ? 'old' : 'new',
            code: line.text,
            text,
          });
          again();
          document.getElementById('message')?.focus();
        },
        onAll: () => {
          all = true;
          again();
        },
      }),
      file.cut &&
        h('p', { class: 'ptip' }, icon('info', 14), h('span', null, 'Only the beginning of this change is shown.')),
      acts &&
        h(
          'p',
          { class: 'ptip tip' },
          icon('info', 14),
          h('span', null, 'Click a line number to comment. Comments go out with your next message.'),
        ),
    ];
  }

  return {
    draw,
    isWide: two,
    /** @param {string} id */
    isKnown: (id) => known.has(id),
    /**
     * Something changed there: look again when it is next in sight, or now.
     * @param {string} id
     * @param {string} cwd
     */
    refresh: (id, cwd) => {
      if (known.has(id)) void load(id, cwd);
    },
    /** @param {string} id */
    count: (id) => {
      const now = known.get(id);
      return now ? filesIn(now, 'session').length : null;
    },
    /**
     * From a turn's footer: the changes of that turn.
     * @param {string} id
     * @param {number} seq
     */
    showTurn(id, seq) {
      const turns = known.get(id)?.turns ?? [];
      const turn = [...turns].reverse().find((one) => one.seq < seq);
      if (turn) scopes.set(id, turn.seq);
    },
  };
}

/**
 * @param {FileRow} one
 * @param {boolean} selected
 * @param {string} cwd
 * @param {() => void} pick
 */
function fileRow(one, selected, cwd, pick) {
  const [letter, word] = BADGES[one.status] ?? BADGES.modified;
  const path = visible(nearPath(one.path, cwd));
  const cut = path.lastIndexOf('/') + 1;
  return h(
    'button',
    {
      type: 'button',
      class: `prow ${selected ? 'sel' : ''}`,
      'data-key': one.path,
      'aria-pressed': String(selected),
      onclick: pick,
    },
    h(
      'span',
      { class: `mb mb-${letter === '!' ? 'D' : letter}`, title: word, 'aria-label': word, role: 'img' },
      letter,
    ),
    h('span', { class: 'pth', title: path }, h('bdi', null, path.slice(0, cut)), h('b', null, path.slice(cut))),
    plusMinus(one.added, one.removed),
  );
}
