/** The prompt library: a list on the left, one prompt on the right; on a phone one of both. */

import { plainDelta } from '../../js/delta_check.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { shownSession } from '../state.js';
import { newContent, savable, titleFrom, wholeContent } from './draft.js';
import { drawEditor } from './editor.js';
import { EditorFrame } from './editor_frame.js';
import { openFiles } from './import_export.js';
import { noteUse } from './giving.js';
import { PromptHistory } from './versions.js';
import { draftIds } from './kept_drafts.js';
import { FIRST_FILTER, NOT_OF_A_PROJECT, listView } from './list.js';
import { knownPrompts } from './prompts.js';
import { usePrompt } from './use.js';
import { Writing } from './writing.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').PromptView} Prompt */

const PAUSE = 140; // milliseconds after the last letter of a search

const nothingOpen = () =>
  h(
    'div',
    { class: 'center', 'data-key': 'nothing' },
    h('div', { class: 'empty-state' }, icon('book', 28), h('p', null, 'Choose a prompt, or write a new one.')),
  );

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountLibrary(root, app) {
  const screen = new LibraryScreen(root, app);
  const draw = () => screen.draw(app.store.get());
  app.store.subscribe((now, before) => {
    if (now.route.name === 'library' || before.route.name === 'library') draw();
    if (now.theme !== before.theme) screen.frame?.setTheme(now.theme);
    if (now.me?.role !== before.me?.role) screen.mayWriteChanged();
  });
  app.events.on('prompts:changed', (message) => screen.changed(message));
  app.events.on('promptSent', ({ sessionId, ...origin }) => noteUse(app, origin, 'message', [sessionId]));
  app.events.on('needPrompts', () => void screen.prompts.ensure());
  app.events.on('keepPrompt', (text) => void keepPrompt(app, text));
  app.events.on('usePrompt', ({ id, insert }) => void useById(app, id, insert));
  app.offer({ icon: 'book', label: 'Prompt library', run: () => app.go({ name: 'library' }) });
  app.offer({ icon: 'plus', label: 'New prompt', run: () => app.go({ name: 'library', id: 'new' }) });
  draw();
  return { prompts: screen.prompts };
}

/**
 * A message of a conversation becomes a prompt.
 * @param {App} app
 * @param {string} text
 */
async function keepPrompt(app, text) {
  const state = app.store.get();
  const cwd = state.sessions[shownSession(state) ?? '']?.cwd;
  const projectId = state.projects.find((project) => project.path === cwd)?.id ?? null;
  const content = newContent({ title: titleFrom(text), delta: plainDelta(text), projectId });
  try {
    const { prompt } = await app.feed.call('prompts:add', { content: savable(content) });
    app.note('Saved in the library.', {
      action: { label: 'Open', run: () => app.go({ name: 'library', id: prompt.id }) },
    });
  } catch (error) {
    app.trouble(error);
  }
}

/**
 * @param {App} app
 * @param {string} id
 * @param {((text: string, origin: import('./giving.js').Origin) => void) | null} insert
 */
async function useById(app, id, insert) {
  try {
    const { prompt, content } = await app.feed.call('prompts:show', { promptId: id });
    await usePrompt(app, { promptId: id, version: prompt.version }, wholeContent(content), insert);
  } catch (error) {
    app.trouble(error);
  }
}

class LibraryScreen {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.filter = FIRST_FILTER;
    /** What the search found, or the removed ones. @type {Prompt[] | null} */
    this.found = null;
    this.prompts = knownPrompts(app);
    /** Made when somebody first comes here. @type {EditorFrame | null} */
    this.frame = null;
    this.list = h('div', { class: 'library-list' });
    this.pane = h('section', { class: 'library-pane', 'aria-label': 'Prompt' });
    root.append(h('div', { class: 'split library' }, this.list, this.pane));
    const again = () => this.draw(app.store.get());
    this.history = new PromptHistory(app, again);
    this.writing = new Writing(app, {
      changed: again,
      show: (content) => this.frame?.open(content.delta, !this.#mayWrite()),
      saved: (id) => app.go({ name: 'library', id }, { replace: true }),
    });
    this.live = false; // whether the prompt in view was read on this line, since somebody came here
    addEventListener('keydown', (event) => this.#key(event));
  }

  #mayWrite() {
    const { me } = this.app.store.get();
    return !me || me.role === 'owner' || me.role === 'operator';
  }

  mayWriteChanged() {
    this.frame?.open(this.writing.content.delta, !this.#mayWrite());
  }

  /** @param {{promptId?: string | null, version?: number | null}} message somebody's change, perhaps our own */
  changed({ promptId, version }) {
    const { prompt } = this.writing;
    if (this.root.hidden || !prompt || (promptId && promptId !== prompt.id)) return;
    void this.history.load();
    if (version === undefined || version !== prompt.version) if (!this.writing.busy) void this.writing.read();
  }

  /** @param {State} state */
  draw(state) {
    this.root.hidden = state.route.name !== 'library';
    if (this.root.hidden) {
      this.live = false;
      return;
    }
    this.frame ??= this.#makeFrame(state);
    const id = state.route.id ?? '';
    this.root.classList.toggle('has-prompt', Boolean(id));
    this.#openOnce(state, id);
    update(this.list, listView(state, this.filter, this.found, id, draftIds(), this.#listDoes()));
    this.history.show(this.writing.prompt?.id ?? '');
    if (id) drawEditor(this.pane, this.frame.frame, state, this.writing, this.history, this.#editorDoes());
    else update(this.pane, [nothingOpen()]);
  }

  /** @param {State} state */
  #makeFrame(state) {
    return new EditorFrame(state.theme, {
      changed: (delta) => this.writing.change({ delta }),
      broken: () => this.app.note('The editor sent something that is not a prompt; it was ignored.', { tone: 'bad' }),
      key: (key) => (key === 'k' ? this.app.events.emit('shortcut', 'k') : this.#short(key)),
    });
  }

  /**
   * @param {State} state
   * @param {string} id
   */
  #openOnce(state, id) {
    const live = state.line.phase === 'live';
    const fresh = live && !this.live;
    this.live = live; // first: opening draws again
    if (fresh) void this.prompts.ensure();
    if (fresh) void this.history.load();
    if (live && this.writing.id !== id) void this.writing.open(id);
    else if (fresh && id && id !== 'new') void this.writing.read();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (this.root.hidden || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const key = event.key.toLowerCase();
    if (key !== 's' && key !== 'enter') return;
    event.preventDefault();
    this.#short(key);
  }

  /** @param {string} key */
  #short(key) {
    if (!this.app.store.get().route.id || !this.#mayWrite()) return;
    if (key === 's') void this.writing.save();
    if (key === 'enter' && this.writing.content.kind !== 'context') this.#use();
  }

  #use() {
    const { prompt, content, isDirty, loading } = this.writing;
    if (loading) return; // what is shown is not the prompt yet
    const origin = prompt && !isDirty ? { promptId: prompt.id, version: prompt.version } : null;
    void usePrompt(this.app, origin, content, null);
  }

  #listDoes() {
    const { app } = this;
    const mark = (/** @type {Promise<unknown>} */ done) => done.then(() => this.#search(), app.trouble);
    return {
      open: (/** @type {string} */ id) => app.go({ name: 'library', id }),
      filter: (/** @type {Partial<import('./list.js').Filter>} */ patch) => this.#filter(patch),
      star: (/** @type {Prompt} */ prompt) =>
        void mark(app.feed.call('prompts:mark', { promptId: prompt.id, favourite: !prompt.favourite })),
      restore: (/** @type {Prompt} */ prompt) => void mark(app.feed.call('prompts:restore', { promptId: prompt.id })),
      files: (/** @type {'import' | 'export'} */ what) => {
        const { project } = this.filter;
        openFiles(app, what, project && project !== NOT_OF_A_PROJECT ? project : null);
      },
    };
  }

  /** @param {Partial<import('./list.js').Filter>} patch */
  #filter(patch) {
    this.filter = { ...this.filter, ...patch };
    clearTimeout(this.waiting);
    if (this.filter.q.trim() || this.filter.only === 'removed')
      this.waiting = setTimeout(() => void this.#search(), patch.q === undefined ? 0 : PAUSE);
    else this.found = null;
    this.draw(this.app.store.get());
  }

  async #search() {
    const { q, only } = this.filter;
    if (!q.trim() && only !== 'removed') return;
    try {
      const { prompts } = await this.app.feed.call('prompts:list', { q, removed: only === 'removed' });
      if (q === this.filter.q && only === this.filter.only) this.found = prompts;
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code === 'INVALID_INPUT') this.found = [];
      else this.app.trouble(error);
    }
    this.draw(this.app.store.get());
  }

  #editorDoes() {
    const { app, writing } = this;
    const promptId = writing.prompt?.id ?? '';
    return {
      back: () => app.go({ name: 'library' }),
      use: () => this.#use(),
      share: (/** @type {boolean} */ shared) =>
        void app.feed.call('prompts:mark', { promptId, shared }).then(({ prompt }) => {
          writing.prompt = prompt;
          this.draw(app.store.get());
        }, app.trouble),
      copyOf: () => void this.#copyOf(),
      remove: () => void this.#remove(promptId),
      takeVersion: (/** @type {number} */ version) => void this.#takeVersion(promptId, version),
    };
  }

  async #copyOf() {
    const { app, writing } = this;
    const { content, isScratch } = writing;
    const title = isScratch ? '' : `${savable(content).title} (copy)`;
    try {
      const copy = savable({ ...content, title, kind: isScratch ? 'prompt' : content.kind });
      const { prompt } = await app.feed.call('prompts:add', { content: copy });
      app.go({ name: 'library', id: prompt.id });
    } catch (error) {
      app.trouble(error);
    }
  }

  /** @param {string} promptId */
  async #remove(promptId) {
    const { app } = this;
    try {
      await app.feed.call('prompts:remove', { promptId });
    } catch (error) {
      return app.trouble(error);
    }
    const restore = () =>
      void app.feed
        .call('prompts:restore', { promptId })
        .then(() => app.go({ name: 'library', id: promptId }), app.trouble);
    app.note('The prompt was removed.', { action: { label: 'Undo', run: restore } });
    app.go({ name: 'library' });
  }

  /**
   * An older version becomes the draft; saved, it is the newest.
   * @param {string} promptId
   * @param {number} version
   */
  async #takeVersion(promptId, version) {
    if (this.writing.isDirty) return this.app.note('Save or discard what you wrote first (More).');
    try {
      const { content } = await this.app.feed.call('prompts:version', { promptId, version });
      this.writing.change(wholeContent(content));
      this.frame?.open(content.delta, false);
    } catch (error) {
      this.app.trouble(error);
    }
  }
}
