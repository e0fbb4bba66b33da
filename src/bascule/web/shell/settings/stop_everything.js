/** The button that stops every agent on every device, after one question. */

import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { icon } from '../../js/icons.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * @param {App} app
 * @param {() => void} again
 */
export function stopEverything(app, again) {
  let asked = false;
  const ask = (/** @type {boolean} */ now) => {
    asked = now;
    again();
  };
  const stop = () => {
    asked = false;
    void app.api
      .stopEverything()
      .then((answer) => app.note(`${answer.ended} stopped.`), app.trouble)
      .finally(again);
  };
  return (/** @type {State} */ state) => {
    if (state.me && state.me.role !== 'owner') return null;
    return asked ? question(state, stop, () => ask(false)) : button(() => ask(true));
  };
}

/** @param {() => void} onclick */
const button = (onclick) =>
  h('button', { type: 'button', class: 'panic', onclick }, icon('stop'), h('span', null, 'Stop everything'));

/**
 * @param {State} state
 * @param {() => void} stop
 * @param {() => void} cancel
 */
function question(state, stop, cancel) {
  const running = Object.values(state.sessions).filter((one) => !['ended', 'failed'].includes(one.phase)).length;
  const devices = state.devices.filter((one) => one.online).length;
  return h(
    'div',
    { class: 'card sure', role: 'alertdialog', 'aria-label': 'Stop everything' },
    h('p', null, `Stop all ${count(running, 'agent')} on ${count(devices, 'device')} now?`),
    h('button', { type: 'button', class: 'button danger', onclick: stop }, 'Stop everything'),
    h('button', { type: 'button', class: 'button quiet', onclick: cancel }, 'Cancel'),
  );
}
