/** The chips of a composer: model, how permissions are answered, how full the context is. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { MODE_WORDS } from '../js/words.js';
import { menu } from './parts.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').SessionRecord} SessionRecord */

/** @type {Record<string, string>} */
export const MODE_NOTES = {
  relay: 'Every command and edit comes to you first.',
  auto_read: 'Reading is allowed by itself. The rest comes to you.',
  auto: 'Everything is allowed by itself, until you change it back.',
  deny: 'Everything it asks for is refused.',
};

const caret = () => h('span', { class: 'dd' }, icon('down', 12));

/** @param {string} mode @param {(mode: string) => void} choose */
export function permissionChip(mode, choose) {
  const strong = mode === 'auto' || mode === 'auto_read';
  return h('button', {
    type: 'button', class: `chip k-mode ${strong ? 'strong' : ''}`, 'aria-haspopup': 'menu', title: MODE_NOTES[mode],
    onclick: (/** @type {any} */ event) => menu(event.currentTarget, Object.entries(MODE_WORDS).map(([value, label]) => ({ label, note: MODE_NOTES[value], on: value === mode, run: () => choose(value) }))),
  }, icon('shield', 14), MODE_WORDS[mode] ?? mode, caret());
}

/** @param {App} app @param {SessionRecord} session */
export const modeChip = (app, session) => permissionChip(session.permission_mode, (mode) => void app.api.permissionMode(session.session_id, { mode }).catch(app.trouble));

/** @param {App} app @param {State} state @param {SessionRecord} session */
export function modelChip(app, state, session) {
  const known = state.live[session.session_id]?.models ?? [];
  const offered = known.length ? known : (state.agents.find((one) => one.name === session.agent)?.models ?? []).map((value) => ({ value, name: value, description: '' }));
  const now = offered.find((one) => one.value === session.model);
  const label = now?.name || session.model || 'Default model';
  if (offered.length < 2) return h('span', { class: 'chip k-model' }, label);
  return h('button', {
    type: 'button', class: 'chip k-model', 'aria-haspopup': 'menu',
    onclick: (/** @type {any} */ event) => menu(event.currentTarget, offered.map((one) => ({ label: one.name || one.value, note: one.description, on: one.value === session.model, run: () => void app.api.model(session.session_id, { model: one.value }).catch(app.trouble) }))),
  }, label, caret());
}

/** @param {SessionRecord} session */
export function contextRing(session) {
  if (!session.context_used || !session.context_size) return null;
  const part = Math.min(1, session.context_used / session.context_size);
  const tone = part >= 0.95 ? 'hot' : part >= 0.8 ? 'warm' : '';
  const words = `${Math.round(part * 100)} % of the context is used`;
  return h('span', { class: `ctx ${tone}`, title: words, role: 'img', 'aria-label': words }, ring(part), h('span', null, `${Math.round(part * 100)}%`));
}

/** @param {number} part */
function ring(part) {
  const NS = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(NS, 'svg');
  svg.setAttribute('viewBox', '0 0 18 18');
  svg.setAttribute('width', '18');
  svg.setAttribute('height', '18');
  for (const [name, dash] of [['r0', ''], ['r1', `${(part * 43.98).toFixed(1)} 50`]]) {
    const circle = document.createElementNS(NS, 'circle');
    for (const [key, value] of Object.entries({ cx: '9', cy: '9', r: '7', class: name, 'stroke-dasharray': dash })) if (value) circle.setAttribute(key, value);
    svg.append(circle);
  }
  return svg;
}
