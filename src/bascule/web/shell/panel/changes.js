/**
 * The Changes tab: files this session changed, by its own edits and as git sees them, for all of it or for one turn.
 */

import { copyButton } from '../../js/copy_button.js';
import { h, iconButton } from '../../js/dom.js';
import { clockTime, count } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { plusMinus } from '../../js/lines.js';
import { visible } from '../../js/visible.js';
import { addComment } from '../composer/comments.js';
import { menu } from '../parts.js';
import { mayAct } from '../state.js';
import { diffPane } from './diff_pane.js';
import { fileRow, noChanges, noLines, tip, waitingShapes } from './changes_view.js';
import { gitRow, mayCommit, revertFile, stageFile } from './git_actions.js';
import { KnownChanges, filesIn, linesOf, scopeWords, sumOf } from './known_changes.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/turns.js').FileRow} FileRow */
/** @typedef {import('./known_changes.js').Known} Known */
/** @typedef {import('./known_changes.js').Scope} Scope */

const SPLIT = 'bascule.split';
const commentHint = () =>
  `${matchMedia('(pointer: coarse)').matches ? 'Tap' : 'Click'} a line number to comment. ` +
  'Comments go out with your next message.';
const MAX_TURNS = 12;

export class ChangesTab {
  /**
   * @param {App} app
   * @param {() => void} again
   */
  constructor(app, again) {
    this.app = app;
    this.again = again;
    this.changes = new KnownChanges(app, again);
    /** @type {Map<string, Scope>} */
    this.scopes = new Map();
    this.file = ''; // the path of the one in view
    this.all = false; // its lines, however many
    /** Which line is remarked on. @type {number | null} */
    this.at = null;
    this.split = localStorage.getItem(SPLIT) === 'yes';
    this.phone = matchMedia('(max-width: 720px)'); // two columns of code do not fit there
  }

  isWide() {
    return this.split && !this.phone.matches;
  }

  /** @param {string} id */
  showsDiff(id) {
    const known = this.changes.get(id);
    return Boolean(known && filesIn(known, this.scopes.get(id) ?? 'session').length);
  }

  /** @param {string} id */
  isKnown(id) {
    return Boolean(this.changes.get(id));
  }

  /**
   * Something changed there: look again when it is next in sight, or now.
   * @param {string} id
   * @param {string} cwd
   */
  refresh(id, cwd) {
    if (this.isKnown(id)) void this.changes.load(id, cwd);
  }

  /** @param {string} id */
  count(id) {
    const known = this.changes.get(id);
    return known ? filesIn(known, 'session').length : null;
  }

  /**
   * From a turn's footer: the changes of that turn.
   * @param {string} id
   * @param {number} seq
   */
  showTurn(id, seq) {
    const turn = this.changes.get(id)?.turns.findLast((candidate) => candidate.seq < seq);
    if (turn) this.scopes.set(id, turn.seq);
  }

  /**
   * Another file, or other lines of it.
   * @param {Partial<{file: string, all: boolean, at: number | null}>} [place]
   */
  #show(place = {}) {
    Object.assign(this, { all: false, at: null, ...place });
    this.again();
  }

  /**
   * @param {State} state
   * @param {string} id
   */
  draw(state, id) {
    const cwd = state.sessions[id]?.cwd ?? '';
    const known = this.changes.get(id);
    if (!known) {
      void this.changes.load(id, cwd);
      return [waitingShapes()];
    }
    const scope = this.scopes.get(id) ?? 'session';
    const files = filesIn(known, scope);
    const file = files.find((candidate) => candidate.path === this.file) ?? files[0];
    const again = () => this.refresh(id, cwd);
    // What is committed is what is in view.
    const shown = new Set(files.map((changed) => changed.path));
    const inGit = filesIn(known, 'git').map((changed) => ({ ...changed, inView: shown.has(changed.path) }));
    return [
      this.#top(id, known, scope, cwd),
      known.problem && h('p', { class: 'panel__tip bad' }, icon('alert', 14), h('span', null, known.problem)),
      file
        ? [
            h(
              'div',
              { class: 'changed-files' },
              files.map((changed) => fileRow(changed, changed === file, cwd, () => this.#show({ file: changed.path }))),
            ),
            this.#fileHead(id, file, cwd),
            ...this.#fileBody(state, id, file),
          ]
        : noChanges(scope === 'git', known.gitProblem),
      known.cut && scope === 'git' && tip('There are more files than are listed here.'),
      !known.gitProblem && mayCommit(this.app) && gitRow(this.app, id, inGit, again),
    ];
  }

  /**
   * @param {string} id
   * @param {Known} known
   * @param {Scope} scope
   * @param {string} cwd
   */
  #top(id, known, scope, cwd) {
    const files = filesIn(known, scope);
    const sum = sumOf(files);
    return h(
      'div',
      { class: 'panel__top' },
      h(
        'button',
        {
          type: 'button',
          class: 'chip shrinkable',
          'aria-haspopup': 'menu',
          onclick: (/** @type {On} */ event) => menu(event.currentTarget, this.#scopeChoices(id, known, scope)),
        },
        h('span', null, scopeWords(known, scope)),
        h('span', { class: 'chip__caret' }, icon('down', 12)),
      ),
      h('span', { class: 'spacer' }),
      files.length > 0 && plusMinus(sum.added, sum.removed),
      iconButton('refresh', 'Refresh', { class: 'is-small', onclick: () => void this.changes.load(id, cwd) }),
    );
  }

  /**
   * @param {string} id
   * @param {Known} known
   * @param {Scope} scope
   * @returns {import('../parts.js').Choice[]}
   */
  #scopeChoices(id, known, scope) {
    const choice = (/** @type {Scope} */ value, /** @type {string} */ label, /** @type {string} */ note) => ({
      label,
      note,
      on: scope === value,
      run: () => {
        this.scopes.set(id, value);
        this.#show();
      },
    });
    const files = (/** @type {Scope} */ otherScope) => count(filesIn(known, otherScope).length, 'file');
    const git = `Everything git sees${known.branch ? ` on ${visible(known.branch)}` : ''}: ${files('git')}`;
    const turns = known.turns
      .slice(-MAX_TURNS)
      .reverse()
      .map(({ seq, text, at }) =>
        choice(seq, visible(text).slice(0, 70) || 'A turn', `${clockTime(at)} · ${files(seq)}`),
      );
    return [
      choice('session', 'This session', `What it edited itself: ${files('session')}`),
      choice('git', 'Since the last commit', known.gitProblem ? visible(known.gitProblem) : git),
      ...(turns.length ? [{ title: 'One turn' }, ...turns] : []),
    ];
  }

  /**
   * @param {string} id
   * @param {FileRow} file
   * @param {string} cwd
   */
  #fileHead(id, file, cwd) {
    const { split } = this;
    const toggle = () => {
      this.split = !split;
      localStorage.setItem(SPLIT, this.split ? 'yes' : 'no');
      this.again();
    };
    return h(
      'p',
      { class: 'panel__file' },
      h('b', null, visible(file.path.split('/').pop() ?? '')),
      h('span', { class: 'spacer' }),
      file.source !== 'session' && mayCommit(this.app) && this.#fileActions(id, file, cwd),
      !this.phone.matches &&
        iconButton('columns', split ? 'Unified' : 'Side by side', {
          class: `is-small ${split ? 'is-on' : ''}`,
          'aria-pressed': String(split),
          onclick: toggle,
        }),
      copyButton('Copy the diff', () => this.app.copy(file.patches.join('\n')), { class: 'is-small' }),
    );
  }

  /**
   * @param {string} id
   * @param {FileRow} file
   * @param {string} cwd
   */
  #fileActions(id, file, cwd) {
    const done = () => this.refresh(id, cwd);
    return [
      iconButton('check', file.staged ? 'Unstage' : 'Stage', {
        class: `is-small ${file.staged ? 'is-on' : ''}`,
        'aria-pressed': String(Boolean(file.staged)),
        onclick: () => stageFile(this.app, id, file, done),
      }),
      iconButton('back', 'Revert', {
        class: 'is-small',
        onclick: (/** @type {On} */ event) => revertFile(this.app, event.currentTarget, id, file, done),
      }),
    ];
  }

  /**
   * @param {State} state
   * @param {string} id
   * @param {FileRow} file
   */
  #fileBody(state, id, file) {
    if (file.binary || !file.patches.length) return [noLines(file)];
    const mayComment = mayAct(state, id);
    return [
      ...diffPane({
        path: file.path,
        lines: linesOf(file),
        split: this.isWide(),
        all: this.all,
        at: this.at,
        comments: state.comments[id] ?? [],
        mayComment,
        onLine: (n) => this.#remarkOn(n),
        onComment: (line, text) => this.#comment(id, file, line, text),
        onAll: () => this.#show({ all: true, at: this.at }),
      }),
      file.cut && tip('Only the beginning of this change is shown.'),
      mayComment && tip(commentHint(), 'is-tip'),
    ];
  }

  /** @param {number | null} n */
  #remarkOn(n) {
    this.at = n;
    this.again();
    if (n !== null) /** @type {HTMLElement | null} */ (document.querySelector('.line-comment-form textarea'))?.focus();
  }

  /**
   * @param {string} id
   * @param {FileRow} file
   * @param {import('../../js/diff.js').DiffLine} line
   * @param {string} text
   */
  #comment(id, file, line, text) {
    this.at = null;
    addComment(this.app, id, {
      path: file.path,
      line: line.line,
      side: line.kind === 'del' ? 'old' : 'new',
      code: line.text,
      text,
    });
    this.again();
    document.getElementById('message')?.focus();
  }
}
