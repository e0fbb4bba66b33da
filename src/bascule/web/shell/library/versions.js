/** A prompt's versions, and the sessions it was given to. Read when they are first opened. */

import { deltaToMarkdown } from '../../js/delta.js';
import { h } from '../../js/dom.js';
import { age, count } from '../../js/format.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./writing.js').Writing} Writing */
/** @typedef {import('../../js/types.d.ts').PromptVersion} Version */
/** @typedef {import('../../js/types.d.ts').PromptUseView} Use */

const USES = {
  session: 'started a session',
  terminal: 'in a terminal',
  comparison: 'compared',
  message: 'in a message',
};

export class PromptHistory {
  /**
   * @param {App} app
   * @param {() => void} changed
   */
  constructor(app, changed) {
    this.app = app;
    this.changed = changed;
    this.of = '';
    /** @type {Version[] | null} */
    this.versions = null;
    /** @type {Use[] | null} */
    this.uses = null;
    /** An older version as it was. @type {{version: number, text: string} | null} */
    this.shown = null;
  }

  /** @param {string} id a prompt's; what is known of another one is forgotten */
  show(id) {
    if (this.of === id) return;
    Object.assign(this, { of: id, versions: null, uses: null, shown: null });
    if (id) void this.load();
  }

  async load() {
    const { app, of } = this;
    if (!of) return;
    try {
      const [{ versions }, { uses }] = await Promise.all([
        app.feed.call('prompts:versions', { promptId: of }),
        app.feed.call('prompts:uses', { promptId: of }),
      ]);
      if (this.of === of) Object.assign(this, { versions, uses });
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code !== 'OFFLINE') app.trouble(error);
    }
    this.changed();
  }

  /** @param {number} version */
  async look(version) {
    if (this.shown?.version === version) this.shown = null;
    else
      try {
        const { content } = await this.app.feed.call('prompts:version', { promptId: this.of, version });
        this.shown = { version, text: deltaToMarkdown(content.delta) };
      } catch (error) {
        this.app.trouble(error);
      }
    this.changed();
  }
}

/**
 * @param {State} state
 * @param {Writing} writing
 * @param {PromptHistory} history
 * @param {{takeVersion: (version: number) => void}} does
 */
export const historyParts = (state, writing, history, does) => [
  h(
    'details',
    { class: 'library-part', 'data-key': 'versions' },
    h('summary', null, history.versions ? count(history.versions.length, 'version') : 'Versions'),
    history.versions?.map((version) => versionRow(version, writing, history, does)),
  ),
  h(
    'details',
    { class: 'library-part', 'data-key': 'uses' },
    h('summary', null, history.uses?.length ? `Used ${times(history.uses.length)}` : 'Not used yet'),
    history.uses?.map((use) => useRow(state, use, history.app)),
    history.uses?.length === 0 && h('p', { class: 'nothing' }, 'It was not given to an agent yet.'),
  ),
];

/** @param {number} n */
const times = (n) => (n === 1 ? 'once' : n === 100 ? '100 times or more' : `${n} times`);

/**
 * @param {Version} version
 * @param {Writing} writing
 * @param {PromptHistory} history
 * @param {{takeVersion: (version: number) => void}} does
 */
const versionRow = (version, writing, history, does) =>
  h(
    'div',
    { class: 'history-row', 'data-key': String(version.version) },
    h(
      'p',
      null,
      h('b', null, `Version ${version.version}`),
      h('small', null, `${visible(version.by)} · ${age(version.at, Date.now())} · ${visible(version.title)}`),
      h('span', { class: 'spacer' }),
      h(
        'button',
        { type: 'button', class: 'button quiet is-small', onclick: () => void history.look(version.version) },
        history.shown?.version === version.version ? 'Hide' : 'Show',
      ),
      version.version !== writing.prompt?.version &&
        h(
          'button',
          { type: 'button', class: 'button quiet is-small', onclick: () => does.takeVersion(version.version) },
          'Use this version',
        ),
    ),
    history.shown?.version === version.version && h('pre', { tabindex: 0 }, visible(history.shown.text)),
  );

/**
 * @param {State} state
 * @param {Use} use
 * @param {App} app
 */
function useRow(state, use, app) {
  const id = use.sessionId;
  const named = visible(use.title || (id && state.sessions[id]?.title) || '');
  const title = named || (id ? 'A session that no longer exists' : 'Terminal');
  return h(
    'p',
    { class: 'history-row' },
    id && use.title
      ? h('button', { type: 'button', class: 'link', onclick: () => app.go({ name: 'session', id }) }, title)
      : h('span', null, title),
    h('small', null, `${USES[use.kind]} · version ${use.version} · ${visible(use.by)} · ${age(use.at, Date.now())}`),
  );
}
