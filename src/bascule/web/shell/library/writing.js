/**
 * One prompt being written: read, kept as a draft in this browser, saved as a version. When somebody else has saved
 * one meanwhile, both are there until the person says what becomes of theirs.
 */

import { newKey } from '../../js/api.js';
import { EMPTY } from '../../js/delta_check.js';
import { errorOf } from '../../js/json.js';
import { isEmpty, isSame, newContent, savable, wholeContent } from './draft.js';
import { keepDraft, keptDraft } from './kept_drafts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('./draft.js').Content} Content */
/** @typedef {import('../../js/types.d.ts').PromptView} Prompt */
/**
 * What somebody else saved while this was written.
 * @typedef {{prompt: Prompt, content: Content}} Theirs
 */

const AUTOSAVE = 1200; // milliseconds without a key, for a scratch pad

export class Writing {
  /**
   * @param {App} app
   * @param {{changed: () => void, show: (content: Content) => void, saved: (id: string) => void}} on
   */
  constructor(app, on) {
    this.app = app;
    this.on = on;
  }

  id = ''; // of the prompt; `new`; `scratch` or `scratch.<project>`
  /** @type {Prompt | null} */
  prompt = null;
  content = newContent();
  /** What the server has. @type {Content | null} */
  saved = null;
  base = 0; // the version that the draft began from
  /** @type {Theirs | null} */
  theirs = null;
  problem = '';
  loading = false;
  busy = false;
  key = newKey();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined;

  /** @param {string} id */
  #forget(id) {
    clearTimeout(this.timer);
    Object.assign(this, { id, prompt: null, saved: null, base: 0, theirs: null, problem: '', timer: undefined });
    Object.assign(this, { content: newContent(), loading: false, busy: false, key: newKey() });
  }

  get isScratch() {
    return this.id.startsWith('scratch');
  }

  get isDirty() {
    if (this.saved) return !isSame(this.content, this.saved);
    return !isEmpty(this.isScratch ? { ...this.content, title: '' } : this.content);
  }

  /** @param {string} id */
  async open(id) {
    if (this.timer !== undefined) void this.save();
    this.#forget(id);
    const project = id.split('.')[1] ?? null;
    const kept = keptDraft(id);
    this.content = kept?.content ?? newContent(this.isScratch ? scratch(project) : {});
    this.base = kept?.base ?? 0;
    if (id === 'new' || !id) return this.#shown();
    this.loading = true;
    this.on.changed();
    await this.read();
  }

  /** The server's newest version; what was typed here stays. */
  async read() {
    const { app, id } = this;
    try {
      const found = this.isScratch ? await this.#findScratch() : id;
      if (found) {
        const { prompt, content } = await app.feed.call('prompts:show', { promptId: found });
        if (this.id !== id) return;
        this.#take(prompt, wholeContent(content));
      }
      if (this.id !== id) return;
      this.problem = '';
    } catch (error) {
      if (this.id !== id) return;
      this.problem = /** @type {Error} */ (error).message;
    }
    const first = this.loading;
    this.loading = false;
    if (first) this.#shown();
    else this.on.changed();
    if (first && this.isScratch && this.isDirty) void this.save();
  }

  async #findScratch() {
    const project = this.id.split('.')[1] ?? null;
    const { prompts } = await this.app.feed.call('prompts:list', {});
    const mine = prompts.filter(
      (prompt) => prompt.kind === 'scratch' && prompt.mine && (prompt.projectId ?? null) === project,
    );
    return mine.at(-1)?.id ?? '';
  }

  /**
   * @param {Prompt} prompt
   * @param {Content} content
   */
  #take(prompt, content) {
    const before = this.base;
    const clean = this.saved ? !this.isDirty : !keptDraft(this.id);
    this.prompt = prompt;
    if (clean || isSame(this.content, content)) {
      const shown = isSame(this.content, content);
      Object.assign(this, { content, saved: content, base: prompt.version, theirs: null });
      keepDraft(this.id, null);
      if (!shown && !this.loading) this.on.show(content);
    } else if (prompt.version !== before) {
      this.saved = this.saved ?? content;
      this.theirs = { prompt, content };
    } else this.saved = content;
  }

  #shown() {
    this.on.show(this.content);
    this.on.changed();
  }

  /** @param {Partial<Content>} patch */
  change(patch) {
    this.content = { ...this.content, ...patch };
    const kept = keepDraft(this.id, this.isDirty ? { base: this.base, content: this.content } : null);
    if (!kept) this.problem = 'This browser has no room to keep the draft. Save it now.';
    if (this.isScratch) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.save(), AUTOSAVE);
    }
    this.on.changed();
  }

  async save() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.busy || !this.isDirty || this.theirs) return;
    const { app, id, base, prompt, key } = this;
    const sent = savable(this.content);
    if (!prompt && isEmpty(sent) && !this.isScratch) return;
    this.busy = true;
    this.on.changed();
    try {
      const answer = prompt
        ? await app.feed.call('prompts:save', { promptId: prompt.id, base, content: sent })
        : await app.feed.call('prompts:add', { content: sent, shared: !this.isScratch, key });
      if (this.id === id) this.#kept(answer.prompt, sent);
      else if (isSame(keptDraft(id)?.content ?? sent, sent)) keepDraft(id, null);
    } catch (error) {
      if (this.id === id) await this.#refused(errorOf(error));
    }
    this.busy = false;
    this.on.changed();
  }

  /**
   * What was typed while it was being saved is a draft again.
   * @param {Prompt} prompt
   * @param {Content} sent
   */
  #kept(prompt, sent) {
    const typed = !isSame(savable(this.content), sent);
    if (!typed) this.content = sent;
    Object.assign(this, { prompt, saved: sent, base: prompt.version, problem: '', key: newKey() });
    keepDraft(this.id, null);
    const isNew = this.id === 'new';
    if (isNew) this.id = prompt.id;
    if (typed) this.change({});
    if (isNew) this.on.saved(prompt.id);
  }

  /** @param {{code?: string, message: string}} error */
  async #refused(error) {
    this.problem =
      error.code === 'OFFLINE' ? 'Not connected: the draft is kept in this browser, not saved yet.' : error.message;
    if (error.code === 'PROMPT_CHANGED') await this.read();
  }

  /** Somebody else's is the version before this one. */
  async saveMine() {
    if (!this.theirs) return;
    const { prompt, content } = this.theirs;
    Object.assign(this, { theirs: null, base: prompt.version, saved: content });
    await this.save();
  }

  /** Theirs stays the prompt; this becomes another one. */
  async saveCopy() {
    const { app, theirs } = this;
    if (!theirs || this.busy) return;
    const copy = savable({ ...this.content, title: `${savable(this.content).title} (copy)`, kind: 'prompt' });
    try {
      const { prompt } = await app.feed.call('prompts:add', { content: copy, key: this.key });
      keepDraft(this.id, null);
      this.on.saved(prompt.id);
    } catch (error) {
      app.trouble(error);
    }
  }

  /** What is saved takes the place of the draft. */
  revert() {
    if (!this.saved) this.content = newContent({ delta: EMPTY });
    else this.content = this.saved;
    keepDraft(this.id, null);
    this.#shown();
  }
}

/**
 * @param {string | null} projectId
 * @returns {Partial<Content>}
 */
const scratch = (projectId) => ({ kind: 'scratch', title: 'Scratch pad', projectId });
