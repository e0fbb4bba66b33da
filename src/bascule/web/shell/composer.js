/** Where a person writes to a session: what it says and offers depends on the session's state. */

import { newKey } from '../js/api.js';
import { h, iconButton, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { MODE_WORDS } from '../js/words.js';
import { contextRing, modeChip, modelChip } from './chips.js';
import { confirmInterrupt } from './confirm.js';
import { agentLetter, control } from './parts.js';
import { draftOf, keepDraft } from './places.js';
import { slashMenu } from './slash.js';
import { agentTitle, deviceName, mayAct, openAsks, shownSession } from './state.js';
import { attachButton, grow, pictureRow, takePictures } from './typing.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/** @param {HTMLElement} root @param {App} app @param {{editLast: () => boolean}} queue */
export function mountComposer(root, app, queue) {
  let id = '';
  /** @type {Map<string, import('./typing.js').Picture[]>} */
  const pictures = new Map();
  let escaped = 0;

  const area = /** @type {HTMLTextAreaElement} */ (h('textarea', { id: 'message', class: 'ta', rows: 1, 'aria-label': 'Message', autocomplete: 'off', spellcheck: 'true' }));
  const shots = h('div', { 'data-island': '' });
  const row = h('div', { class: 'crow' });
  const slash = slashMenu(area, () => app.store.get().live[id]?.commands ?? []);
  const box = h('div', { class: 'comp' }, slash.element, shots, area, row);
  const closed = h('div', { class: 'closed', hidden: true });
  const under = h('p', { class: 'under' });
  root.append(box, closed, under);
  const take = takePictures(box, area, (picture) => { pictures.set(id, [...(pictures.get(id) ?? []), picture]); again(); }, (problem) => app.note(problem, { tone: 'bad' }));
  const [clip, file] = attachButton(take);
  const again = () => draw(app.store.get());

  area.oninput = () => {
    keepDraft(id, area.value);
    grow(area);
    slash.look();
    drawRow(app.store.get());
  };
  area.onkeydown = (event) => {
    if (slash.key(event) || event.isComposing) return;
    if (event.key === 'Enter' && (!event.shiftKey || control(event))) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && !area.value && queue.editLast()) event.preventDefault();
    else if (event.key === 'Escape') escape();
  };

  function escape() {
    const state = app.store.get();
    const now = Date.now();
    if (now - escaped < 600 && state.sessions[id]?.phase === 'running') app.api.interrupt(id).catch(app.trouble);
    escaped = now;
  }

  function send() {
    const state = app.store.get();
    const text = area.value.trim();
    const images = pictures.get(id) ?? [];
    if ((!text && !images.length) || box.classList.contains('dis')) return;
    const held = { sessionId: id, text: text || 'See the picture.', images, key: newKey() };
    app.store.set((now) => ({ held: [...now.held, held] }));
    area.value = '';
    keepDraft(id, '');
    pictures.delete(id);
    grow(area);
    if (state.line.phase === 'live') void app.sendHeld();
    app.store.flush();
  }

  /** @param {State} state */
  function draw(state) {
    const next = shownSession(state) ?? '';
    if (next !== id) {
      id = next;
      area.value = draftOf(id);
      slash.close();
      setTimeout(() => grow(area));
    }
    const session = state.sessions[id];
    const inbox = state.route.name === 'inbox';
    const asks = openAsks(state, id);
    const over = session && (session.phase === 'ended' || session.phase === 'failed');
    const reader = session && !mayAct(state, id);
    // A question takes the composer's place.
    box.hidden = !session || inbox || Boolean(over) || Boolean(reader) || asks[0]?.kind === 'question';
    closed.hidden = !session || inbox || !(over || reader);
    under.hidden = box.hidden || asks.length > 0;
    if (!session) return;
    if (!closed.hidden) drawClosed(state, Boolean(reader));
    const off = session.phase === 'starting' || session.phase === 'ending';
    box.classList.toggle('dis', off);
    area.disabled = off;
    area.placeholder = placeholder(state);
    update(shots, [pictureRow(pictures.get(id) ?? [], (n) => { pictures.set(id, (pictures.get(id) ?? []).filter((_, at) => at !== n)); again(); })]);
    drawRow(state);
    update(under, [h('span', null, icon('device', 14), deviceName(state, session)), h('span', { title: session.cwd }, icon('folder', 14), session.cwd), h('span', { class: 'sp' }),
      h('span', { class: 'keys' }, h('kbd', null, 'Enter'), 'send', h('kbd', null, '⇧ Enter'), 'new line', h('kbd', null, 'Esc Esc'), 'interrupt')]);
  }

  /** @param {State} state */
  function placeholder(state) {
    const session = state.sessions[id];
    const agent = agentTitle(state, session.agent);
    if (session.phase === 'starting') return `${agent} is starting`;
    if (session.phase === 'ending') return 'Ending this session';
    if (session.phase === 'running' || session.phase === 'interrupted') return `Message ${agent}. It is sent when the turn ends.`;
    return `Message ${agent}. / for commands`;
  }

  /** @param {State} state */
  function drawRow(state) {
    const session = state.sessions[id];
    if (!session) return;
    const working = session.phase === 'running' || session.phase === 'interrupted';
    const empty = !area.value.trim() && !(pictures.get(id)?.length);
    update(row, [
      h('span', { 'data-island': '', 'data-key': 'clip' }),
      h('span', { class: 'chip k-agent', title: 'The agent of this session' }, agentLetter(session.agent), agentTitle(state, session.agent)),
      modelChip(app, state, session), modeChip(app, session),
      h('span', { class: 'sp' }),
      state.line.phase === 'lost' && h('span', { class: 'hold' }, icon('clock', 14), 'sent when the connection is back'),
      contextRing(session),
      working && iconButton('stop', session.phase === 'interrupted' ? 'Stopping' : 'Stop this turn (Esc Esc)', { class: 'stop', disabled: session.phase === 'interrupted', onclick: () => confirmInterrupt(app, id) }),
      h('button', { type: 'button', class: 'send', title: 'Send', 'aria-label': 'Send', disabled: empty, onclick: send }, icon('send')),
    ]);
    const slot = row.querySelector('[data-key=clip]');
    if (slot && !slot.contains(clip)) slot.append(clip, file);
  }

  /** @param {State} state @param {boolean} reader */
  function drawClosed(state, reader) {
    const session = state.sessions[id];
    if (reader) {
      update(closed, [icon('lock'), h('span', null, 'Read only. Somebody else answers the agent’s requests.')]);
      return;
    }
    const failed = session.phase === 'failed';
    update(closed, [icon(failed ? 'alert' : 'info'), h('span', null, failed ? `It did not start. ${session.end_message ?? ''}` : 'This session has ended. Everything is kept.'), h('span', { class: 'sp' }),
      h('button', { type: 'button', class: 'btn line', onclick: () => void app.api.resume(id).catch(app.trouble) }, icon('play'), failed ? 'Try again' : 'Resume')]);
  }

  app.store.subscribe(draw);
  return { focus: () => area.focus(), modes: MODE_WORDS };
}
