/** Where a person writes to a session: what it says and offers depends on the session's state. */

import { newKey } from '../../js/api.js';
import { h, update } from '../../js/dom.js';
import { until } from '../../js/store.js';
import { unreachable } from '../machines.js';
import { control, FLOATING } from '../parts.js';
import { editBar, editDraft, endEdit, resend } from '../session/editing.js';
import { isOver, isReconnecting } from '../sessions.js';
import { mayAct, openRequests, shownSession } from '../state.js';
import { draftOf, keepDraft } from '../storage.js';
import { closedView } from './closed.js';
import { commentChips, setComments, withComments } from './comments.js';
import { placeholder } from './format.js';
import { recall } from './history.js';
import { promptOffers } from '../library/prompt_offers.js';
import { commandOffers, fileOffers, offers } from './offers.js';
import { buttonRow, placeRow } from './rows.js';
import { attachButton, pictureRow, takePictures, tellsTyping, textBox } from './text_box.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */
/** @typedef {{promptId: string, version: number}} Origin */
/** @typedef {(text: string, origin: Origin | null) => void} Insert */

const TWICE = 600; // milliseconds between two presses of Escape

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{editLast: () => boolean}} queue
 * @param {ReturnType<typeof import('../library/prompts.js').knownPrompts>} prompts of the library
 */
export function mountComposer(root, app, queue, prompts) {
  const composer = new Composer(app, queue, prompts);
  root.append(composer.closed, composer.box, composer.under);
  app.events.on('mention', (path) => composer.mention(path));
  app.events.on('givenBack', ({ id, images }) => composer.takeBack(id, images));
  app.events.on('edit', ({ id, images }) => composer.edit(id, images));
  app.events.on('write', () => composer.write());
  app.events.on('insertPrompt', (id) => composer.insertPrompt(id));
  app.store.subscribe((state) => composer.draw(state));
  return { focus: () => composer.area.focus() };
}

class Composer {
  /**
   * @param {App} app
   * @param {{editLast: () => boolean}} queue
   * @param {ReturnType<typeof import('../library/prompts.js').knownPrompts>} prompts
   */
  constructor(app, queue, prompts) {
    this.app = app;
    this.queue = queue;
    this.prompts = prompts;
    /** Prompts of the library in the messages not sent yet, by session. @type {Map<string, Origin[]>} */
    this.used = new Map();
    this.id = ''; // of the session in view
    this.draft = ''; // the name of what is written: the session's id, or that of its message that is edited
    this.resending = false;
    /** Those not sent yet, by draft. @type {Map<string, import('./text_box.js').Picture[]>} */
    this.pictures = new Map();
    this.escapedAt = -Infinity;
    this.text = textBox(
      { id: 'message', class: 'composer__text', 'aria-label': 'Message', autocomplete: 'off', spellcheck: 'true' },
      {
        change: () => this.#changed(),
        sends: (event) => !event.shiftKey || control(event),
        send: () => this.send(),
        firstKey: (event) => this.menu.key(event),
        otherKey: (event) => this.#key(event),
      },
    );
    this.area = this.text.area;
    this.menu = this.#offers();
    /** What a slash offers, as it was last drawn. @type {[unknown, unknown]} */
    this.offered = [undefined, undefined];
    this.past = recall(app, this.area, this.text.changed);
    this.types = tellsTyping((typing) => {
      // Nobody misses it when it is lost.
      if (this.id && app.store.get().line.phase === 'live') app.api.typing(this.id, { typing }).catch(() => undefined);
    });
    this.editing = h('div');
    this.remarks = h('div');
    this.shots = h('div');
    this.row = h('div', { class: 'composer__row' });
    const parts = [this.menu.element, this.editing, this.remarks, this.shots, this.area, this.row];
    this.box = h('div', { class: 'composer', hidden: true }, ...parts); // until the draft that it shows is known
    this.closed = h('div', { class: 'closed', hidden: true });
    this.under = h('p', { class: 'under' });
    this.attach = attachButton(
      takePictures(
        this.box,
        this.area,
        (picture) => this.#setPictures([...this.#pictures(), picture]),
        (problem) => this.app.note(problem, { tone: 'bad' }),
      ),
    );
  }

  #offers() {
    const { app, area, text } = this;
    // A folder that is not there offers nothing.
    const list = (/** @type {string} */ path) =>
      app.api.files(this.id, { path }).then(
        (found) => found.items,
        () => [],
      );
    const find = (/** @type {string} */ q) =>
      app.api.findFiles(this.id, { q }).then(
        (found) => found.paths,
        () => [],
      );
    const commands = () => app.store.get().live[this.id]?.commands ?? [];
    const library = promptOffers(
      commandOffers(commands),
      () => this.prompts.ensure(),
      (id) => this.insertPrompt(id),
    );
    return offers(area, [library, fileOffers(list, find)], text.changed);
  }

  #pictures() {
    return this.pictures.get(this.draft) ?? [];
  }

  /** @param {import('./text_box.js').Picture[]} pictures */
  #setPictures(pictures) {
    this.pictures.set(this.draft, pictures);
    this.draw(this.app.store.get());
  }

  #changed() {
    keepDraft(this.draft, this.area.value);
    if (!this.area.value.trim()) this.used.delete(this.id);
    this.menu.look();
    this.types(Boolean(this.area.value.trim()));
    this.#drawRow(this.app.store.get());
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { area } = this;
    if (event.key === 'ArrowUp' && !event.altKey && !area.value && this.queue.editLast()) event.preventDefault();
    else if (this.past.key(event, this.id)) event.preventDefault();
    else if (event.key === 'Escape') this.#escape(event.timeStamp);
  }

  /** @param {number} pressedAt by the keyboard: a busy page may hear of both presses late */
  #escape(pressedAt) {
    const { app, id } = this;
    if (pressedAt - this.escapedAt < TWICE && app.store.get().sessions[id]?.phase === 'running')
      app.api.interrupt(id).catch(app.trouble);
    this.escapedAt = pressedAt;
  }

  /**
   * The focus comes here, or to the question in its place. A touch would bring the keyboard up over the answer, and
   * who has opened a menu or the search meanwhile goes on there.
   */
  write() {
    if (!matchMedia('(pointer: fine)').matches || document.activeElement?.closest(FLOATING)) return;
    if (!this.box.hidden) this.area.focus();
    else /** @type {HTMLElement | null} */ (document.querySelector('#requests .question'))?.focus();
  }

  /** @param {string} path */
  mention(path) {
    const { area } = this;
    area.value = `${area.value}${area.value && !area.value.endsWith(' ') ? ' ' : ''}@${path} `;
    this.text.changed();
    area.focus();
  }

  /**
   * Where nothing can be written, the prompt is used in another way.
   * @param {string} promptId
   */
  insertPrompt(promptId) {
    const { app, id } = this;
    const writes = Boolean(id) && !this.box.hidden;
    /** @type {Insert} */
    const insert = (text, origin) => {
      if (this.id !== id) return app.note('You left the session, so nothing was inserted.');
      const before = this.area.value;
      this.text.set(before.trim() ? `${before.trimEnd()}\n\n${text}` : text);
      if (origin) this.used.set(id, [...(this.used.get(id) ?? []), origin]);
      this.text.changed();
      this.area.focus();
    };
    app.events.emit('usePrompt', { id: promptId, insert: writes ? insert : null });
  }

  send() {
    const { app, id } = this;
    const state = app.store.get();
    if (state.edits[id]) return void this.#resend(state.edits[id]);
    const comments = state.comments[id] ?? [];
    const text = withComments(this.area.value.trim(), comments);
    const images = this.#pictures();
    if ((!text && !images.length) || this.box.classList.contains('is-disabled')) return;
    const closed = state.sessions[id] && unreachable(state, state.sessions[id]);
    if (closed) return app.note(`${closed} Your text is kept.`);
    const prompts = this.used.get(id) ?? [];
    const held = { sessionId: id, text: text || 'See the picture.', images, key: newKey(), prompts };
    app.store.set((now) => ({ held: [...now.held, held] }));
    if (comments.length) setComments(app, id, []);
    this.#empty();
    if (state.line.phase === 'live') void app.sendHeld();
    app.store.flush();
  }

  /**
   * An earlier message is the draft now; what was written before waits for its end.
   * @param {string} id
   * @param {import('./text_box.js').Picture[]} images
   */
  edit(id, images) {
    this.pictures.set(editDraft(id), images);
    this.draft = ''; // read again, though it may be in view already
    this.app.store.flush();
    this.draw(this.app.store.get());
    if (id === this.id) this.area.focus();
  }

  /**
   * What was written stays here until a new session has it. Without a connection it waits for one, or for a cancel.
   * @param {import('../session/editing.js').Edit} edit
   */
  async #resend(edit) {
    const { app, id } = this;
    const [text, images] = [this.area.value.trim(), this.#pictures()];
    if ((!text && !images.length) || this.resending) return;
    this.resending = true;
    this.draw(app.store.get());
    await until(app.store, (state) => state.line.phase === 'live' || state.edits[id] !== edit);
    const still = app.store.get().edits[id] === edit;
    const made = still && (await resend(app, id, edit, text || 'See the picture.', images, () => this.send()));
    this.resending = false;
    if (made) this.#endEdit(id);
    this.draw(app.store.get());
    if (made) app.go({ name: 'session', id: made });
  }

  /** @param {string} id */
  #endEdit(id) {
    this.pictures.delete(editDraft(id));
    endEdit(this.app, id);
  }

  /**
   * A message was refused; its text is in the draft again.
   * @param {string} id
   * @param {import('./text_box.js').Picture[]} images
   */
  takeBack(id, images) {
    if (images.length) this.pictures.set(id, [...images, ...(this.pictures.get(id) ?? [])]);
    if (id !== this.draft) return;
    this.text.set(draftOf(id));
    this.draw(this.app.store.get());
  }

  #empty() {
    this.text.set('');
    this.used.delete(this.id);
    keepDraft(this.id, '');
    this.pictures.delete(this.id);
    this.past.forget();
    this.types(false);
    this.menu.close();
  }

  /**
   * @param {string} id
   * @param {string} draft
   */
  #show(id, draft) {
    this.id = id;
    this.draft = draft;
    this.area.value = draftOf(draft);
    this.menu.close();
    this.past.forget();
    setTimeout(this.text.grow);
  }

  /** @param {State} state */
  draw(state) {
    const id = shownSession(state) ?? '';
    const edits = Boolean(state.edits[id]);
    const draft = edits ? editDraft(id) : id;
    if (id !== this.id || draft !== this.draft) this.#show(id, draft);
    this.#offerAgain(state);
    const session = state.sessions[id];
    const here = session && state.route.name !== 'inbox';
    const writes = here && (edits || !isOver(session)) && mayAct(state, id);
    const requests = openRequests(state, id);
    // A question takes the composer's place.
    this.box.hidden = !writes || (requests[0]?.kind === 'question' && !edits);
    this.closed.hidden = !here || (writes && (edits || !isReconnecting(session)));
    this.under.hidden = this.box.hidden || requests.length > 0;
    if (!session) return;
    if (!this.closed.hidden) update(this.closed, closedView(this.app, state, session));
    this.#drawBox(state, session);
    update(this.under, placeRow(state, session));
  }

  /**
   * A slash may be typed before the page has heard of the agent's commands, or has the library.
   * @param {State} state
   */
  #offerAgain(state) {
    const [commands, prompts] = [state.live[this.id]?.commands, state.prompts];
    const same = commands === this.offered[0] && prompts === this.offered[1];
    this.offered = [commands, prompts];
    if (!same && this.area.value.startsWith('/') && document.activeElement === this.area) this.menu.lookAgain();
  }

  /**
   * @param {State} state
   * @param {SessionRecord} session
   */
  #drawBox(state, session) {
    const { app, id, area } = this;
    const edits = Boolean(state.edits[id]);
    const off = edits
      ? this.resending
      : (session.phase === 'starting' && !isReconnecting(session)) || session.phase === 'ending';
    this.box.classList.toggle('is-disabled', off);
    area.disabled = off;
    area.placeholder = placeholder(state, session);
    update(this.editing, [edits && editBar(() => this.#endEdit(id))]);
    const comments = edits ? [] : (state.comments[id] ?? []);
    const dropComment = (/** @type {number} */ n) =>
      setComments(
        app,
        id,
        comments.filter((_, at) => at !== n),
      );
    update(this.remarks, [commentChips(comments, dropComment)]);
    const dropPicture = (/** @type {number} */ n) => this.#setPictures(this.#pictures().filter((_, at) => at !== n));
    update(this.shots, [pictureRow(this.#pictures(), dropPicture)]);
    this.#drawRow(state);
  }

  /** @param {State} state */
  #drawRow(state) {
    const session = state.sessions[this.id];
    if (!session) return;
    const edits = Boolean(state.edits[this.id]);
    const remarks = !edits && state.comments[this.id]?.length;
    const empty = !this.area.value.trim() && !this.#pictures().length && !remarks;
    update(
      this.row,
      buttonRow(this.app, state, session, { empty, edits }, () => this.send()),
    );
    const slot = this.row.querySelector('[data-key=clip]');
    if (slot && !slot.contains(this.attach[0])) slot.append(...this.attach);
  }
}
