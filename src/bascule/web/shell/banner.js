/** What the line to the server is doing, in one thin line; the transcript stays as it is meanwhile. */

import { h, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { clockTime, count, ordinal, waited } from '../js/words.js';

/** @typedef {import('./app.js').App} App */

const LONG = 120_000;

/** @param {HTMLElement} root @param {App} app */
export function mountBanner(root, app) {
  /** @param {import('./state.js').State} state */
  function draw(state) {
    const { line, back } = state;
    const where = state.devices[0]?.name ?? 'the server';
    if (line.phase === 'lost') update(root, [lostBanner(line, where)]);
    else if (back) update(root, [h('div', { class: 'banner info' }, icon('check'), h('span', null, h('b', null, `${where} is back. `), back.events ? `${count(back.events, 'event')} caught up.` : 'Nothing was missed.'))]);
    else if (state.me && state.me.role === 'viewer') update(root, [h('div', { class: 'banner info' }, icon('eye'), h('span', null, h('b', null, 'You read along live. '), 'You can’t send, type or approve.'))]);
    else update(root, []);
    app.wells.tellAll({ type: 'lost', text: line.phase === 'lost' ? `Last word from ${where} ${clockTime(new Date(line.heardAt).toISOString())}` : '' });
  }

  /** @param {import('../js/feed.js').Line} line @param {string} where */
  function lostBanner(line, where) {
    const away = Date.now() - (line.lostAt ?? Date.now());
    const wait = Math.max(0, Math.ceil(((line.retryAt ?? Date.now()) - Date.now()) / 1000));
    const text = away > LONG
      ? [h('b', null, `${where} has been away for ${waited(away)}. `), 'Look there with ', h('code', null, 'bascule status'), '. Agents keep working without this page.']
      : [h('b', null, `Lost ${where}. `), `Trying again, ${ordinal(line.attempt)} time${wait ? `, in ${wait} s` : ' now'}. Agents there keep working and nothing is lost.`];
    return h('div', { class: 'banner warn', role: away > LONG ? 'alert' : 'status' }, icon('off'), h('span', null, text), h('span', { class: 'sp' }),
      h('button', { type: 'button', class: 'btn sm line', onclick: () => app.feed.retry() }, 'Try now'));
  }

  let last = '';
  app.store.subscribe((state) => {
    const mark = JSON.stringify([state.line, state.back, state.me?.role, state.line.phase === 'lost' ? state.tick : 0, state.devices[0]?.name]);
    if (mark !== last) {
      last = mark;
      draw(state);
    }
  });
}
