/** A prompt on its way to an agent: its context blocks, its fields with their values, and the text they make. */

import { deltaToMarkdown, deltaToText } from '../../js/delta.js';
import { after, fieldsOf, filled, firstValue, problemWith } from '../../js/template.js';
import { blocksOf } from './contexts.js';
import { wholeContent } from './draft.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('./draft.js').Content} Content */
/** @typedef {import('../../js/template.js').Values} Values */

/**
 * What was given for a prompt's fields last, so that closing the form by mistake loses nothing.
 * @type {Map<string, Values>}
 */
const given = new Map();

export class TemplateText {
  /**
   * @param {App} app
   * @param {string} id of the prompt
   * @param {Content} content
   */
  constructor(app, id, content) {
    this.app = app;
    this.content = content;
    /** The ids of the blocks that stand before it, in order. */
    this.blocks = blocksOf(app.store.get().prompts, content);
    /** @type {Map<string, Content>} */
    this.texts = new Map();
    /** @type {Values} */
    this.values = given.get(id) ?? {};
    given.set(id, this.values);
  }

  /** The texts of all blocks that could stand before it. */
  async load() {
    const missing = this.blocks.filter((id) => !this.texts.has(id));
    const found = await Promise.all(missing.map((promptId) => this.app.feed.call('prompts:show', { promptId })));
    for (const { prompt, content } of found) this.texts.set(prompt.id, wholeContent(content));
  }

  /** @param {string} id */
  async toggle(id) {
    this.blocks = this.blocks.includes(id) ? this.blocks.filter((block) => block !== id) : [...this.blocks, id];
    await this.load();
  }

  #before() {
    return this.blocks.map((id) => this.texts.get(id)).filter((content) => content !== undefined);
  }

  get fields() {
    const described = [this.content, ...this.#before()].flatMap((content) => content.fields);
    const fields = fieldsOf(this.#template(deltaToMarkdown), described);
    for (const field of fields) this.values[field.name] ??= firstValue(field);
    return fields;
  }

  /** @param {(delta: import('../../js/types.d.ts').Delta) => string} convert */
  #template(convert) {
    return after(
      this.#before().map((content) => convert(content.delta)),
      convert(this.content.delta),
    );
  }

  /** As an agent is given it. */
  get markdown() {
    return filled(this.#template(deltaToMarkdown), this.fields, this.values);
  }

  get text() {
    return filled(this.#template(deltaToText), this.fields, this.values);
  }

  /** What keeps it from being given to an agent, in words; empty when nothing does. */
  get problem() {
    const wrong = this.fields.map((field) => problemWith(field, this.values[field.name])).filter(Boolean);
    return wrong[0] ?? (this.markdown.trim() ? '' : 'The prompt is empty.');
  }
}
