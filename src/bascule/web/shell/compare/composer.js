/** One message to all agents of a comparison that can still be sent one. */

import { newKey } from '../../js/api.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { textBox } from '../composer/text_box.js';
import { agentLetter, control } from '../parts.js';
import { agentTitle } from '../sessions.js';
import { mayStart } from '../state.js';
import { liveContestants } from './comparison.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./comparison.js').Contestant} Contestant */
/** @typedef {import('./comparison.js').ComparisonView} ComparisonView */

/**
 * @param {App} app
 * @param {ComparisonView} view
 */
export function createComposer(app, view) {
  const { area, set } = textBox(
    { class: 'composer__text', 'aria-label': 'Message' },
    { change: () => view.changed(), sends: (event) => control(event) || !event.shiftKey, send },
  );
  const row = h('div', { class: 'composer__row' });
  const element = h('div', { class: 'compare__dock' }, h('div', { class: 'composer' }, area, row));

  /** By the outbox: it waits for a lost connection, and what is refused becomes the draft of that session. */
  function send() {
    const text = area.value.trim();
    const state = app.store.get();
    const live = liveContestants(state, view.shown);
    if (!text || !live.length) return;
    set('');
    const held = live.map(({ sessionId }) => ({ sessionId, text, images: [], key: newKey() }));
    app.store.set((now) => ({ held: [...now.held, ...held] }));
    if (state.line.phase === 'live') void app.sendHeld();
    view.changed();
  }

  return {
    element,
    /**
     * @param {State} state
     * @param {import('./comparison.js').Comparison | null} comparison
     */
    draw(state, comparison) {
      const live = liveContestants(state, comparison);
      element.hidden = !comparison || !mayStart(state) || live.length === 0;
      if (element.hidden) return;
      const names = namesOf(state, live);
      area.placeholder = `Message ${names}`;
      update(row, [
        h(
          'span',
          { class: 'chip' },
          live.map((each) => agentLetter(each.agent)),
          names[0].toUpperCase() + names.slice(1),
        ),
        h('span', { class: 'spacer' }),
        sendButton(names, !area.value.trim(), send),
      ]);
    },
  };
}

/**
 * @param {State} state
 * @param {Contestant[]} live
 */
function namesOf(state, live) {
  if (live.length === 2) return 'both agents';
  return live.length === 1 ? agentTitle(state, live[0].agent) : `all ${live.length} agents`;
}

/**
 * @param {string} names
 * @param {boolean} disabled
 * @param {() => void} onclick
 */
const sendButton = (names, disabled, onclick) =>
  h(
    'button',
    { type: 'button', class: 'send', 'aria-label': `Send to ${names}`, title: `Send to ${names}`, disabled, onclick },
    icon('send'),
  );
