/** The task of a new session: what is typed, prompts of the library and of web pages, and pictures. */

import { h, update } from '../../js/dom.js';
import { offers } from '../composer/offers.js';
import { attachButton, pictureRow, takePictures, textBox } from '../composer/text_box.js';
import { noteUse } from '../library/giving.js';
import { promptOffers } from '../library/prompt_offers.js';
import { control } from '../parts.js';
import { draftOf, keepDraft, keptOffer } from '../storage.js';
import { longPromptRow } from './long_prompt.js';
import { isTooLong, taskProblem, wholeTask } from './task.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {ReturnType<typeof import('../library/prompts.js').knownPrompts>} Prompts */

const ONLY_PICTURES = 'See the picture.';
const FIRST_TASK = 'Show me around';

export class TaskBox {
  /**
   * @param {App} app
   * @param {Prompts} prompts
   * @param {{changed: () => void, send: () => void}} on
   */
  constructor(app, prompts, on) {
    this.app = app;
    this.on = on;
    /** One that does not fit into the text box. @type {import('./long_prompt.js').LongPrompt | null} */
    this.long = null;
    this.offeredBy = ''; // the web page that the task comes from
    /** Prompts of the library in the task. @type {{promptId: string, version: number}[]} */
    this.used = [];
    /** @type {import('../composer/text_box.js').Picture[]} */
    this.pictures = [];
    this.text = this.#textBox();
    this.area = this.text.area;
    this.menu = this.#offers(prompts);
    // A slash may be typed before the page is connected: what is offered comes with the library.
    app.store.subscribe((now, before) => {
      if (now.prompts && !before.prompts && this.area.value.startsWith('/')) this.menu.look();
    });
    this.longRow = h('div');
    this.shots = h('div');
    this.limit = h('p', { id: 'task-limit', class: 'error-message', hidden: true });
    const parts = [this.menu.element, this.longRow, this.shots, this.area, this.limit];
    this.box = h('div', { class: 'composer is-big' }, ...parts);
    this.attach = attachButton(
      takePictures(
        this.box,
        this.area,
        (image) => this.#setPictures([...this.pictures, image]),
        (problem) => app.note(problem, { tone: 'bad' }),
      ),
    );
  }

  #textBox() {
    const text = textBox(
      {
        id: 'task',
        class: 'composer__text tall',
        rows: 3,
        'aria-label': 'Task',
        'aria-describedby': 'task-limit',
        placeholder: 'Describe the task. Type / for saved prompts',
      },
      {
        change: () => {
          keepDraft('start', text.area.value);
          if (!text.area.value.trim() && !this.long) Object.assign(this, { used: [], offeredBy: '' });
          this.menu.look();
          this.on.changed();
        },
        sends: (event) => !event.shiftKey || control(event),
        send: () => this.on.send(),
        firstKey: (event) => this.menu.key(event),
      },
    );
    text.area.value = draftOf('start');
    return text;
  }

  /**
   * Prompts of the library after a slash; an agent that has not started tells no commands yet.
   * @param {Prompts} prompts
   */
  #offers(prompts) {
    const library = promptOffers(
      () => null,
      () => prompts.ensure(),
      (id) => this.app.events.emit('usePrompt', { id, insert: (text, origin) => this.#insert(text, origin) }),
    );
    return offers(this.area, [library], this.text.changed, 'start-offers');
  }

  /**
   * @param {string} text
   * @param {import('../library/giving.js').Origin} origin
   */
  #insert(text, origin) {
    if (origin) this.used.push(origin);
    this.#put('the prompt library', text);
  }

  /**
   * What is written here already stays, above it. What the box can't hold goes with the task as it is.
   * @param {string} from
   * @param {string} text
   * @returns {boolean} whether it is in the box, and so in the draft
   */
  #put(from, text) {
    const together = wholeTask(this.area.value, text);
    const fits = !isTooLong(together);
    if (fits) this.text.set(together);
    else this.long = { from, text: this.long ? `${this.long.text}\n\n${text}` : text };
    this.text.changed();
    this.area.focus();
    return fits;
  }

  /** @param {import('../../js/types.d.ts').OfferedPrompt} offer of a web page */
  take(offer) {
    this.offeredBy = offer.origin;
    if (this.#put(offer.origin, offer.prompt)) keptOffer.drop();
  }

  /** All of it, as the agent gets it. */
  get whole() {
    return wholeTask(this.area.value, this.long?.text ?? '') || (this.pictures.length ? ONLY_PICTURES : '');
  }

  get problem() {
    return taskProblem(this.long ? this.area.value : this.whole, this.long?.text);
  }

  /** A first task for somebody who has none. */
  suggest() {
    if (!this.whole) this.area.value = FIRST_TASK;
  }

  /** @param {string[]} sessions that got it */
  noteUse(sessions) {
    this.used.forEach((one) => noteUse(this.app, one, 'session', sessions));
  }

  /** It is in somebody's hands. */
  empty() {
    this.text.set('');
    keepDraft('start', '');
    this.menu.close();
    this.pictures = [];
    this.used = [];
    this.#dropLong();
  }

  #dropLong() {
    this.long = null;
    keptOffer.drop();
    if (!this.area.value.trim()) this.offeredBy = '';
    this.on.changed();
  }

  /** @param {import('../composer/text_box.js').Picture[]} pictures */
  #setPictures(pictures) {
    this.pictures = pictures;
    this.on.changed();
  }

  /**
   * @param {string} problem of the task
   * @param {boolean} busy
   */
  draw(problem, busy) {
    const { area, limit } = this;
    this.box.classList.toggle('is-disabled', busy);
    area.disabled = busy;
    limit.hidden = !problem || !isTooLong(area.value);
    limit.textContent = limit.hidden ? '' : problem;
    const drop = (/** @type {number} */ n) => this.#setPictures(this.pictures.filter((_, at) => at !== n));
    update(this.shots, [pictureRow(this.pictures, drop)]);
    update(this.longRow, [longPromptRow(this.long, () => this.#dropLong())]);
  }
}
