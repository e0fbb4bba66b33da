/** The three faces of a start besides its composer: agents found, steps on the way, what went wrong. */

import { h, iconButton } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { visible } from '../js/visible.js';
import { duration } from '../js/words.js';
import { agentLetter, dot } from './parts.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */
/** @typedef {{id: string, began: number, error: any}} Going */

/** First run. @param {App} app @param {State} state @param {(name: string) => void} use */
export function foundAgents(app, state, use) {
  const device = state.devices[0]?.name ?? 'this machine';
  return [
    h('div', { class: 'fr' }, h('p', { class: 'mark' }, icon('logo', 56)), h('h1', { class: 'hero' }, 'Nothing crosses until you say so'),
      h('p', { class: 'lead' }, 'Bascule runs the coding agents on your machines from this page. Every command and edit they want comes to you first, unless you made a rule for it.')),
    h('section', { class: 'card ags', 'aria-label': 'Agents' },
      h('header', null, h('b', null, `Found on ${device}`), h('span', { class: 'sp' }),
        h('button', { type: 'button', class: 'btn quiet', onclick: () => void app.api.agents(true).then((agents) => app.store.set({ agents }), app.trouble) }, icon('refresh', 14), 'Look again')),
      h('ul', null, state.agents.map((agent) => h('li', { 'data-key': agent.name }, agentLetter(agent.name, true),
        h('span', null, h('b', null, agent.title), h('small', null, agent.demo ? 'comes with Bascule, no account' : agent.available ? [agent.version, agent.path].filter(Boolean).join(' · ') : visible(agent.problem ?? 'not installed'))),
        h('span', { class: 'as' }, dot(agent.available ? 'waiting' : 'ended', ''), agent.available ? 'Ready' : 'Not here'),
        agent.available && h('button', { type: 'button', class: 'btn sm line', onclick: () => use(agent.name) }, icon('play', 14), agent.demo ? 'Try it' : 'Use')))))];
}

/** @param {App} app @param {State} state @param {Going} going @param {any} agent @param {() => void} cancel */
export function startSteps(app, state, going, agent, cancel) {
  const device = state.devices[0]?.name ?? 'this machine';
  const steps = going.id ? state.live[going.id]?.steps ?? {} : {};
  const phase = going.id ? state.sessions[going.id]?.phase : undefined;
  const at = (/** @type {string} */ name) => (steps[name] ? Date.parse(steps[name]) : 0);
  const took = (/** @type {number} */ from, /** @type {number} */ to) => (from && to ? duration(Math.max(1, to - from)) : '');
  const states = [Boolean(going.id), Boolean(steps.spawned) || phase === 'waiting', Boolean(steps.ready) || phase === 'waiting', false];
  const now = states.indexOf(false);
  const rows = [
    [`Reached ${device}`, took(going.began, at('started'))],
    [`Started ${agent?.title ?? 'the agent'}${agent?.version ? ` ${agent.version}` : ''}`, took(at('started'), at('spawned'))],
    ['Waiting for its first word', now === 2 ? duration(Math.round((Date.now() - going.began) / 1000) * 1000 || 1000) : ''],
    ['Send your task', ''],
  ];
  return h('div', { class: 'going' },
    h('h1', { class: 'hero sm' }, dot('starting', 'starting'), `Starting on ${device}`),
    h('section', { class: 'card steps', role: 'status' },
      h('ol', { class: 'steplist' }, rows.map(([text, time], n) => h('li', { class: states[n] ? 'd' : n === now ? 'r' : 'p' }, states[n] ? icon('check') : n === now ? h('span', { class: 'spin' }) : h('span', { class: 'ring' }), h('span', null, text), h('small', null, time)))),
      h('footer', null, h('span', { class: 'hint' }, 'You can close this page; it goes on.'), h('span', { class: 'sp' }), h('button', { type: 'button', class: 'btn quiet', onclick: cancel }, 'Cancel'))));
}

/** One sentence what happened, one what next. @param {any} error @param {string} agent @param {string} device @returns {[string, string]} */
export function failureWords(error, agent, device) {
  switch (error.code) {
    case 'OFFLINE':
    case 'DEVICE_OFFLINE': return [`${device} is not connected`, `Check that Bascule runs there, then try again. Your text is kept.`];
    case 'INVALID_DIRECTORY': return ['That folder can’t be used', error.message];
    case 'LIMIT_REACHED': return ['No more sessions right now', error.message];
    case 'AGENT_NOT_INSTALLED': return [`${agent} is not installed on ${device}`, error.message];
    default: return [`${agent} did not start`, error.message || 'Try again, or look at what it said.'];
  }
}

/** @param {App} app @param {State} state @param {Going} going @param {any} agent @param {() => void} retry */
export function startFailed(app, state, going, agent, retry) {
  const device = state.devices[0]?.name ?? 'this machine';
  const [title, text] = failureWords(going.error, agent?.title ?? 'The agent', device);
  const failure = going.id ? state.live[going.id]?.failure : null;
  const said = failure?.stderr_tail?.trim() ?? '';
  const code = failure?.code != null ? `ended with code ${failure.code}` : '';
  return h('section', { class: 'card steps failc', role: 'alert' },
    h('header', null, icon('alert', 18), h('div', null, h('h2', null, title), h('p', null, visible(text)))),
    h('ol', { class: 'steplist' },
      going.id && h('li', { class: 'd' }, icon('check'), h('span', null, `Reached ${device}`)),
      going.id && h('li', { class: 'f' }, icon('x'), h('span', null, `Start ${agent?.title ?? 'the agent'}`), h('small', null, code))),
    said && h('details', { class: 'stderr', open: true }, h('summary', null, h('span', { class: 'car' }, icon('right', 12)), 'What it said'), h('pre', null, visible(said).slice(-4000))),
    h('footer', null, h('button', { type: 'button', class: 'btn pri', onclick: retry }, icon('refresh', 14), 'Try again'), h('span', { class: 'sp' }),
      iconButton('copy', 'Copy details', { onclick: () => app.copy(`${title}\n${text}\n${said}`) })));
}
