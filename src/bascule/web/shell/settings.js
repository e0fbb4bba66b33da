/** Settings: who may come in, what is installed here, the audit log, and the button that stops everything. */

import { h, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { auditPart, agentsPart, devicesPart, generalPart } from './settings_parts.js';
import { browsersPart } from './browsers.js';

/** @typedef {import('./app.js').App} App */

const PARTS = /** @type {const} */ ([
  ['general', 'gear', 'General'], ['agents', 'terminal', 'Agents'], ['devices', 'device', 'Devices'], ['browsers', 'key', 'Trusted browsers'], ['audit', 'log', 'Audit log'],
]);

/** @param {HTMLElement} root @param {App} app */
export function mountSettings(root, app) {
  /** What the parts have loaded. @type {Record<string, any>} */
  const loaded = {};
  let asked = '';
  let sure = false;
  const again = () => draw(app.store.get());
  const context = { app, loaded, again };
  /** @type {Record<string, (context: any, state: import('./state.js').State) => any>} */
  const drawers = { general: generalPart, agents: agentsPart, devices: devicesPart, browsers: browsersPart, audit: auditPart };

  /** @param {import('./state.js').State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'settings';
    if (root.hidden) {
      asked = '';
      return;
    }
    const part = state.route.part ?? 'general';
    if (asked !== part && state.line.phase === 'live') {
      asked = part;
      void load(part);
    }
    update(root, [
      h('header', { class: 'tbar' }, h('h1', null, 'Settings')),
      h('div', { class: 'split sett' },
        h('nav', { class: 'snav', 'aria-label': 'Settings' }, PARTS.map(([name, mark, label]) => h('button', { type: 'button', class: name === part ? 'sel' : '', 'aria-current': name === part ? 'page' : null, onclick: () => app.go({ name: 'settings', part: name }) }, icon(mark), h('span', null, label))),
          h('span', { class: 'sp' }), panic(state)),
        h('div', { class: 'sbody' }, drawers[part]?.(context, state))),
    ]);
  }

  /** @param {import('./state.js').State} state */
  function panic(state) {
    if (state.me && state.me.role !== 'owner') return null;
    if (!sure) return h('button', { type: 'button', class: 'panic', onclick: () => { sure = true; again(); } }, icon('stop'), h('span', null, 'Stop everything'));
    const running = Object.values(state.sessions).filter((one) => !['ended', 'failed'].includes(one.phase)).length;
    return h('div', { class: 'card sure', role: 'alertdialog', 'aria-label': 'Stop everything' }, h('p', null, `Stop all ${running} agents now?`),
      h('button', { type: 'button', class: 'btn danger', onclick: () => { sure = false; void app.api.stopEverything().then((answer) => app.note(`${answer.ended} stopped.`), app.trouble).finally(again); } }, 'Stop everything'),
      h('button', { type: 'button', class: 'btn quiet', onclick: () => { sure = false; again(); } }, 'Cancel'));
  }

  /** @param {string} part */
  async function load(part) {
    try {
      if (part === 'browsers') loaded.grants = await app.api.grants();
      if (part === 'agents') app.store.set({ agents: await app.api.agents() });
      if (part === 'audit') {
        loaded.verdict = await app.api.verifyAudit();
        loaded.audit = (await app.api.audit(Math.max(0, loaded.verdict.count - 200), 200)).records;
      }
      loaded.problem = '';
    } catch (error) {
      loaded.problem = /** @type {any} */ (error).code === 'FORBIDDEN' ? 'Only an owner sees this.' : /** @type {Error} */ (error).message;
    }
    again();
  }

  app.store.subscribe((now, before) => {
    if (now.route !== before.route || now.agents !== before.agents || now.devices !== before.devices || now.theme !== before.theme || now.line.phase !== before.line.phase) draw(now);
  });
  draw(app.store.get());
}
