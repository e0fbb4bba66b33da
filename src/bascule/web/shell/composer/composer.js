/** Where a person writes to a session: what it says and offers depends on the session's state. */

import { newKey } from '../../js/api.js';
import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { MODE_WORDS } from '../../js/format.js';
import { modeChip, modelChip } from './chips.js';
import { commentChips, setComments, withComments } from './comments.js';
import { confirmInterrupt } from '../session/confirm.js';
import { recall } from './history.js';
import { commandOffers, fileOffers, offers } from './offers.js';
import { foundClosed, foundPlaceholder } from '../sidebar/found.js';
import { agentLetter, control } from '../parts.js';
import { draftOf, keepDraft } from '../storage.js';
import {
  agentTitle,
  deviceName,
  isGuest,
  isOver,
  isReconnecting,
  mayAct,
  openRequests,
  reconnectWords,
  shownSession,
} from '../state.js';
import { attachButton, pictureRow, takePictures, tellsTyping, textBox } from './text_box.js';
import { usageRing } from './usage.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{editLast: () => boolean}} queue
 */
export function mountComposer(root, app, queue) {
  let id = '';
  /** @type {Map<string, import('./text_box.js').Picture[]>} */
  const pictures = new Map();
  let escaped = 0;

  const { area, grow, set } = textBox(
    { id: 'message', class: 'ta', 'aria-label': 'Message', autocomplete: 'off', spellcheck: 'true' },
    {
      change: () => {
        keepDraft(id, area.value);
        menu.look();
        types(Boolean(area.value.trim()));
        drawRow(app.store.get());
      },
      sends: (event) => !event.shiftKey || control(event),
      send: () => send(),
      firstKey: (event) => menu.key(event),
      otherKey: (event) => {
        if (event.key === 'ArrowUp' && !event.altKey && !area.value && queue.editLast()) event.preventDefault();
        else if (past.key(event, id)) event.preventDefault();
        else if (event.key === 'Escape') escape();
      },
    },
  );
  const shots = h('div');
  const row = h('div', { class: 'crow' });
  const menu = offers(area, [
    commandOffers(() => app.store.get().live[id]?.commands ?? []),
    fileOffers((path) =>
      app.api.files(id, { path }).then(
        (list) => list.items,
        () => [],
      ),
    ), // a folder that is not there offers nothing
  ]);
  const remarks = h('div');
  const box = h('div', { class: 'comp' }, menu.element, remarks, shots, area, row);
  const past = recall(app, area);
  const types = tellsTyping((typing) => {
    if (id && app.store.get().line.phase === 'live') app.api.typing(id, { typing }).catch(() => undefined);
  }); // nobody misses it
  const closed = h('div', { class: 'closed', hidden: true });
  const under = h('p', { class: 'under' });
  root.append(closed, box, under);
  const take = takePictures(
    box,
    area,
    (picture) => {
      pictures.set(id, [...(pictures.get(id) ?? []), picture]);
      again();
    },
    (problem) => app.note(problem, { tone: 'bad' }),
  );
  const [clip, file] = attachButton(take);
  const again = () => draw(app.store.get());

  area.onblur = () =>
    setTimeout(() => {
      if (document.activeElement !== area) menu.close();
    }, 150);
  app.events.on('mention', (path) => {
    area.value = `${area.value}${area.value && !area.value.endsWith(' ') ? ' ' : ''}@${path} `;
    area.dispatchEvent(new Event('input'));
    area.focus();
  });

  function escape() {
    const state = app.store.get();
    const now = Date.now();
    if (now - escaped < 600 && state.sessions[id]?.phase === 'running') app.api.interrupt(id).catch(app.trouble);
    escaped = now;
  }

  function send() {
    const state = app.store.get();
    const comments = state.comments[id] ?? [];
    const text = withComments(area.value.trim(), comments);
    const images = pictures.get(id) ?? [];
    if ((!text && !images.length) || box.classList.contains('dis')) return;
    const held = { sessionId: id, text: text || 'See the picture.', images, key: newKey() };
    app.store.set((now) => ({ held: [...now.held, held] }));
    set('');
    keepDraft(id, '');
    pictures.delete(id);
    if (comments.length) setComments(app, id, []);
    past.forget();
    types(false);
    menu.close();
    if (state.line.phase === 'live') void app.sendHeld();
    app.store.flush();
  }

  /** @param {State} state */
  function draw(state) {
    const next = shownSession(state) ?? '';
    if (next !== id) {
      id = next;
      area.value = draftOf(id);
      menu.close();
      past.forget();
      setTimeout(grow);
    }
    const session = state.sessions[id];
    const inbox = state.route.name === 'inbox';
    const open = openRequests(state, id);
    const over = session && isOver(session);
    const lost = session && isReconnecting(session);
    const reader = session && !mayAct(state, id);
    // A question takes the composer's place.
    box.hidden = !session || inbox || Boolean(over) || Boolean(reader) || open[0]?.kind === 'question';
    closed.hidden = !session || inbox || !(over || lost || reader);
    under.hidden = box.hidden || open.length > 0;
    if (!session) return;
    if (!closed.hidden) drawClosed(state, Boolean(reader));
    const off = (session.phase === 'starting' && !lost) || session.phase === 'ending';
    box.classList.toggle('dis', off);
    area.disabled = off;
    area.placeholder = placeholder(state);
    update(remarks, [
      commentChips(state.comments[id] ?? [], (n) =>
        setComments(
          app,
          id,
          (state.comments[id] ?? []).filter((_, place) => place !== n),
        ),
      ),
    ]);
    update(shots, [
      pictureRow(pictures.get(id) ?? [], (n) => {
        pictures.set(
          id,
          (pictures.get(id) ?? []).filter((_, at) => at !== n),
        );
        again();
      }),
    ]);
    drawRow(state);
    update(under, [
      h('span', null, icon('device', 14), deviceName(state, session)),
      h('span', { title: session.cwd }, icon('folder', 14), session.cwd),
      typingWords(state),
      h('span', { class: 'sp' }),
      h(
        'span',
        { class: 'keys' },
        h('kbd', null, 'Enter'),
        'send',
        h('kbd', null, '⇧ Enter'),
        'new line',
        h('kbd', null, 'Esc Esc'),
        'interrupt',
      ),
    ]);
  }

  /**
   * Who else is writing here just now.
   * @param {State} state
   */
  function typingWords(state) {
    const names = (state.company[id]?.typing ?? []).filter((name) => name !== state.me?.name);
    if (!names.length) return null;
    return h(
      'span',
      { class: 'types', role: 'status' },
      icon('edit', 14),
      names.length === 1 ? `${names[0]} is typing` : `${names.slice(0, 3).join(', ')} are typing`,
    );
  }

  /** @param {State} state */
  function placeholder(state) {
    const session = state.sessions[id];
    const agent = agentTitle(state, session.agent);
    if (session.found) return foundPlaceholder(state, session);
    if (isReconnecting(session)) return `Message ${agent}. It is sent when the agent is back.`;
    if (session.phase === 'starting') return `${agent} is starting`;
    if (session.phase === 'ending') return 'Ending this session';
    if (session.phase === 'running' || session.phase === 'interrupted')
      return `Message ${agent}. It is sent when the turn ends.`;
    return `Message ${agent}. @ file, / command`;
  }

  /** @param {State} state */
  function drawRow(state) {
    const session = state.sessions[id];
    if (!session) return;
    const working = session.phase === 'running' || session.phase === 'interrupted';
    const empty = !area.value.trim() && !pictures.get(id)?.length && !state.comments[id]?.length;
    update(row, [
      h('span', { 'data-island': '', 'data-key': 'clip' }),
      h(
        'span',
        { class: 'chip k-agent', title: 'The agent of this session' },
        agentLetter(session.agent),
        agentTitle(state, session.agent),
      ),
      modelChip(app, state, session),
      modeChip(app, state, session),
      h('span', { class: 'sp' }),
      state.line.phase === 'lost' &&
        h('span', { class: 'hold' }, icon('clock', 14), 'sent when the connection is back'),
      usageRing(state, session),
      working &&
        iconButton('stop', session.phase === 'interrupted' ? 'Stopping' : 'Stop this turn (Esc Esc)', {
          class: 'stop',
          'data-key': 'stop',
          disabled: session.phase === 'interrupted',
          onclick: () => confirmInterrupt(app, id),
        }),
      h(
        'button',
        {
          type: 'button',
          class: 'send',
          title: empty ? 'Write something first' : working ? 'Queue it: it is sent when the turn ends' : 'Send',
          'aria-label': 'Send',
          disabled: empty,
          onclick: send,
        },
        icon('send'),
      ),
    ]);
    const slot = row.querySelector('[data-key=clip]');
    if (slot && !slot.contains(clip)) slot.append(clip, file);
  }

  /**
   * The session itself tells that its agent did not come back.
   * @param {any} error
   */
  const notBack = (error) => {
    if (error.code !== 'AGENT_UNAVAILABLE') app.trouble(error);
  };

  /**
   * @param {State} state
   * @param {boolean} reader
   */
  function drawClosed(state, reader) {
    const session = state.sessions[id];
    if (reader) {
      update(closed, [
        icon('lock'),
        h(
          'span',
          null,
          `Read only. ${(isGuest(state) && state.me?.madeBy) || 'Somebody else'} answers the agent’s requests.`,
        ),
      ]);
      return;
    }
    if (session.found) {
      update(closed, foundClosed(state, app, session));
      return;
    }
    if (isReconnecting(session)) {
      update(closed, [
        icon('refresh'),
        h('span', { role: 'status' }, `${agentTitle(state, session.agent)} stopped. ${reconnectWords(session)}`),
        h('span', { class: 'sp' }),
        h(
          'button',
          { type: 'button', class: 'btn line', onclick: () => void app.api.reconnect(id).catch(notBack) },
          icon('refresh'),
          'Reconnect now',
        ),
      ]);
      return;
    }
    const failed = session.phase === 'failed';
    if (failed && session.turns > 0) {
      const known = session.end_reason !== 'conversation_lost';
      update(closed, [
        icon('alert'),
        h(
          'span',
          { role: 'status' },
          `${agentTitle(state, session.agent)} did not come back. ` +
            `${known ? 'The reason is above' : 'It does not know this conversation any more'}; everything is kept.`,
        ),
        h('span', { class: 'sp' }),
        known &&
          h(
            'button',
            { type: 'button', class: 'btn line', onclick: () => void app.api.resume(id).catch(app.trouble) },
            icon('refresh'),
            'Reconnect',
          ),
      ]);
      return;
    }
    update(closed, [
      icon(failed ? 'alert' : 'info'),
      h(
        'span',
        null,
        failed ? `It did not start. ${session.end_message ?? ''}` : 'This session has ended. Everything is kept.',
      ),
      h('span', { class: 'sp' }),
      h(
        'button',
        { type: 'button', class: 'btn line', onclick: () => void app.api.resume(id).catch(app.trouble) },
        icon('play'),
        failed ? 'Try again' : 'Resume',
      ),
    ]);
  }

  app.store.subscribe(draw);
  return { focus: () => area.focus(), modes: MODE_WORDS };
}
