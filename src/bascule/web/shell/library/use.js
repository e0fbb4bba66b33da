/** Using a prompt: its fields are asked for, its text is shown as it will be, and given to whom the person says. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { count, folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { choices } from '../start/chips.js';
import { shownSession } from '../state.js';
import { askFields } from './ask_fields.js';
import { blocksFor } from './contexts.js';
import { openDialog } from './dialog.js';
import { giveToSeveral, launchInTerminal, startSession } from './giving.js';
import { TemplateText } from './template_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('./giving.js').Origin} Origin */
/** @typedef {import('./draft.js').Content} Content */

/** @type {import('../start/chips.js').Wanted} */
const NO_CHOICE = { device: '', agent: '', driver: '', level: '', model: '', mode: 'relay', plan: false, cwd: '' };
const MAX_AGENTS = 4;
const PREVIEW = 20_000; // characters shown

/**
 * @param {App} app
 * @param {Origin} origin
 * @param {Content} content
 * @param {((text: string, origin: Origin) => void) | null} insert into the message that is being written
 */
export async function usePrompt(app, origin, content, insert) {
  const template = new TemplateText(app, origin?.promptId ?? 'new', content);
  try {
    await template.load();
  } catch (error) {
    app.trouble(error);
  }
  const asks = template.fields.some((field) => field.kind !== 'literal');
  if (insert && !asks && !template.blocks.length) return insert(template.markdown, origin);
  new UseDialog(app, origin, template, insert).open(content.title || 'Use this prompt');
}

/**
 * @param {string} kind
 * @param {string} mark
 * @param {string} label
 * @param {boolean} disabled
 * @param {() => void} onclick
 */
const button = (kind, mark, label, disabled, onclick) =>
  h('button', { type: 'button', class: `button ${kind}`, 'data-key': label, disabled, onclick }, icon(mark, 14), label);

class UseDialog {
  /**
   * @param {App} app
   * @param {Origin} origin
   * @param {TemplateText} template
   * @param {((text: string, origin: Origin) => void) | null} insert
   */
  constructor(app, origin, template, insert) {
    this.app = app;
    this.origin = origin;
    this.template = template;
    this.insert = insert;
    this.knowsAgents = false;
    /** @type {string[]} */
    this.agents = [];
    this.cwd = '';
    /** @type {string | undefined} */
    this.device = undefined;
    this.busy = '';
    this.problem = '';
    this.outcome = '';
    this.draw = () => {};
    this.close = () => {};
  }

  /** @param {string} title */
  open(title) {
    // Agents and projects may become known only while it is open.
    const unsubscribe = this.app.store.subscribe((now, before) => {
      const isNews = (/** @type {'agentsOf' | 'devices' | 'projects'} */ part) => now[part] !== before[part];
      if (isNews('agentsOf') || isNews('devices') || isNews('projects')) this.draw();
    });
    const opened = openDialog(
      visible(title),
      (draw, close) => {
        this.draw = draw;
        this.close = close;
        return this.#content();
      },
      unsubscribe,
    );
    Object.assign(this, opened);
  }

  /** What the start screen would take, as soon as the page knows it; it is not changed after that. */
  #takeDefaults() {
    const state = this.app.store.get();
    const project = state.projects.find((candidate) => candidate.id === this.template.content.projectId);
    const { agent, cwd, device } = choices(state, NO_CHOICE);
    if (agent && !this.knowsAgents) Object.assign(this, { knowsAgents: true, agents: [agent.name] });
    this.cwd ||= project?.path ?? cwd;
    this.device ??= project?.device ?? device?.device;
  }

  #content() {
    this.#takeDefaults();
    const { template } = this;
    const fields = template.fields;
    const set = (/** @type {string} */ name, /** @type {string | string[]} */ value) => {
      template.values[name] = value;
      this.draw();
    };
    return [
      ...askFields(fields, template.values, set, { file: this.#files, folder: this.#folders }),
      this.#blocks(),
      this.#preview(),
      !this.insert && this.#where(),
      h(
        'p',
        { class: 'library-outcome', role: 'status', 'data-key': 'outcome' },
        this.problem || this.outcome || template.problem,
      ),
      this.#buttons(),
    ];
  }

  #folders = (/** @type {string} */ typed) => this.app.api.folders(typed || `${this.cwd}/`, this.device);

  #files = async (/** @type {string} */ typed) => {
    const session = shownSession(this.app.store.get());
    if (session && typed) return (await this.app.api.findFiles(session, { q: typed })).paths;
    return this.#folders(typed);
  };

  #blocks() {
    const { template, app } = this;
    const blocks = blocksFor(app.store.get().prompts, template.content.projectId);
    const named = (app.store.get().prompts ?? []).filter((prompt) => template.content.contexts.includes(prompt.id));
    const all = [...new Map([...blocks, ...named].map((block) => [block.id, block])).values()];
    if (!all.length) return null;
    return h(
      'fieldset',
      { class: 'ask-field', 'data-key': 'blocks' },
      h('legend', null, 'Context blocks before it'),
      all.map((prompt) =>
        h(
          'label',
          { class: 'library-check', 'data-key': prompt.id },
          h('input', {
            type: 'checkbox',
            checked: template.blocks.includes(prompt.id),
            onchange: () => void template.toggle(prompt.id).then(this.draw, app.trouble),
          }),
          visible(prompt.title),
        ),
      ),
    );
  }

  #preview() {
    const text = this.template.markdown;
    const shown = text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
    return h(
      'section',
      { class: 'use-preview', 'data-key': 'preview', 'aria-label': 'As the agent gets it' },
      h('p', { class: 'caption' }, `As the agent gets it · ${count(text.length, 'character')}`),
      h('pre', { tabindex: 0 }, visible(shown)),
    );
  }

  #where() {
    const state = this.app.store.get();
    const { usable, recent } = choices(state, NO_CHOICE);
    const folders = [...new Set([this.cwd, ...state.projects.map((project) => project.path), ...recent])].filter(
      Boolean,
    );
    return h(
      'div',
      { class: 'use-where', 'data-key': 'where' },
      h(
        'div',
        { class: 'chip-row', role: 'group', 'aria-label': 'Agents' },
        usable.map((agent) =>
          h(
            'button',
            {
              type: 'button',
              class: `chip context-chip ${this.agents.includes(agent.name) ? 'is-on' : ''}`,
              'data-key': agent.name,
              'aria-pressed': String(this.agents.includes(agent.name)),
              onclick: () => this.#choose(agent.name),
            },
            agent.title,
          ),
        ),
      ),
      h(
        'select',
        {
          class: 'input',
          'aria-label': 'Folder',
          onchange: (/** @type {On<HTMLSelectElement>} */ event) => this.#chooseFolder(event.currentTarget.value),
        },
        !this.cwd && h('option', { value: '', selected: true }, 'The server’s default folder'),
        folders.map((folder) =>
          h('option', { value: folder, selected: folder === this.cwd }, `${folderName(folder)}  ${visible(folder)}`),
        ),
      ),
    );
  }

  /** @param {string} path */
  #chooseFolder(path) {
    this.cwd = path;
    this.device = this.app.store.get().projects.find((project) => project.path === path)?.device ?? this.device;
    this.draw();
  }

  /** @param {string} name */
  #choose(name) {
    if (this.agents.includes(name)) this.agents = this.agents.filter((agent) => agent !== name);
    else if (this.agents.length < MAX_AGENTS) this.agents = [...this.agents, name];
    else this.app.note(`${MAX_AGENTS} agents at most.`);
    this.draw();
  }

  #buttons() {
    const { template, app, origin, insert, agents } = this;
    const off = Boolean(template.problem || this.busy);
    const where = { agents, cwd: this.cwd, device: this.device };
    const start = () => this.#do('start', () => startSession(app, template.markdown, where, origin));
    const several = () => this.#do('several', () => giveToSeveral(app, template.markdown, where, origin));
    const launch = () =>
      this.#do('launch', () => launchInTerminal(app, template.markdown, where, origin), { stays: true });
    const copies = [
      copyButton('Copy Markdown', () => app.copy(template.markdown), { class: 'button quiet' }, 'Copy Markdown'),
      copyButton('Copy text', () => app.copy(template.text), { class: 'button quiet' }, 'Copy text'),
    ];
    return h(
      'footer',
      { class: 'use-buttons', 'data-key': 'buttons' },
      copies,
      h('span', { class: 'spacer' }),
      insert
        ? button('is-primary', 'check', 'Insert', off, () => {
            this.close();
            insert(template.markdown, origin);
          })
        : [
            button('line', 'terminal', 'Launch in terminal', off || agents.length !== 1, launch),
            agents.length > 1
              ? button('is-primary', 'columns', `Give it to ${agents.length} agents`, off, several)
              : button('is-primary', 'play', 'Start session here', off || !agents.length, start),
          ],
    );
  }

  /**
   * @param {string} what
   * @param {() => Promise<string | void>} run
   * @param {{stays?: boolean}} [options]
   */
  async #do(what, run, { stays = false } = {}) {
    Object.assign(this, { busy: what, problem: '', outcome: '' });
    this.draw();
    try {
      this.outcome = (await run()) ?? '';
      if (!stays) this.close();
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
    this.busy = '';
    this.draw();
  }
}
