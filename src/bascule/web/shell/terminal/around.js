/** Around a terminal: the bar above one that stands beside a chat, and the foot of each. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { deviceName } from '../machines.js';
import { agentTitle, titleOf } from '../sessions.js';
import { skippedWords, whoTypes, whoseSize } from './format.js';

/** @typedef {import('./format.js').Foot} Foot */

/**
 * @param {import('../state.js').State} state
 * @param {import('../state.js').SessionRecord} session
 * @param {Node[]} tools
 * @param {() => void} close
 */
export const paneBar = (state, session, tools, close) => [
  iconButton('back', 'Back to the chat', { class: 'back', onclick: close }),
  icon('terminal'),
  h('b', null, titleOf(session)),
  h('small', null, [agentTitle(state, session.agent), deviceName(state, session)].filter(Boolean).join(' · ')),
  h('span', { class: 'spacer' }),
  ...tools,
  iconButton('x', 'Close', { class: 'shut', onclick: close }),
];

/** @param {Foot} foot */
function footIcon(foot) {
  if (foot.ended) return 'stop';
  if (foot.line === 'lost') return 'off';
  return foot.readOnly ? 'eye' : 'user';
}

/**
 * @param {Foot} foot
 * @param {Node[]} tools
 * @param {() => void} resume
 */
export function paneFoot(foot, tools, resume) {
  const who = whoTypes(foot);
  return [
    who && h('span', { class: `who-types ${foot.line === 'lost' ? 'warn' : ''}` }, icon(footIcon(foot), 14), who),
    foot.skipped > 0 && h('span', { class: 'skipped' }, icon('info', 14), skippedWords(foot.skipped)),
    foot.ended &&
      !foot.readOnly &&
      h('button', { type: 'button', class: 'button is-small line', onclick: resume }, 'Start it again'),
    h('span', { class: 'spacer' }),
    h('span', { class: 'whose' }, whoseSize(foot)),
    ...tools,
  ];
}
