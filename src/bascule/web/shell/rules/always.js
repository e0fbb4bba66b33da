/** "Allow always…": from one request to a lasting rule, with how far it reaches said before it is made. */

import { deviceIdOf, onDevice } from '../machines.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { fieldsOf } from '../../js/json.js';
import { visible } from '../../js/visible.js';
import { folderName, nearPath } from '../../js/format.js';
import { menu } from '../parts.js';
import { agentTitle } from '../sessions.js';
import { coded } from './format.js';

// Words a shell takes as they are: no quoting, expansion, redirection, assignment or second command.
const WORD = /^[A-Za-z0-9_./:@%+,=-]+$/;
const SHELLS = /^(\/bin\/|\/usr\/bin\/)?(ba|z|da)?sh$/;

/**
 * The command itself, without the shell an agent shows around it.
 * @param {Record<string, unknown>} input
 * @returns {string}
 */
function commandIn(input) {
  if (Array.isArray(input.command))
    return input.command.length === 3 && SHELLS.test(input.command[0]) && /^-l?c$/.test(input.command[1])
      ? String(input.command[2])
      : input.command.join(' ');
  if (Array.isArray(input.commandActions))
    return input.commandActions.length === 1 ? String(input.commandActions[0]?.command ?? '') : '';
  return String(input.command ?? '');
}

/**
 * What a rule for exactly this would be about, or null when there is no exact one.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked the event as it was logged
 * @param {string} cwd
 * @returns {{spec: Omit<import('../../js/types.d.ts').RuleSpec, 'answer'>, verb: string, what: string} | null}
 */
export function aboutOf(asked, cwd) {
  const input = fieldsOf(asked.input);
  if (asked.kind === 'execute') {
    const words = commandIn(input).split(' ');
    return words.every((word) => WORD.test(word)) && !words[0].includes('=')
      ? { spec: { toolClass: 'command', argv: words }, verb: 'Run', what: words.join(' ') }
      : null;
  }
  if (asked.kind === 'edit' || asked.kind === 'read') {
    const changed = Array.isArray(input.changes) && input.changes.length === 1 ? input.changes[0]?.path : undefined;
    const path = nearPath(
      String(input.file_path ?? input.notebook_path ?? input.filepath ?? input.path ?? changed ?? ''),
      cwd,
    );
    if (!path || path.startsWith('/') || /(^|\/)\.{1,2}(\/|$)|[*]/.test(path)) return null;
    return { spec: { toolClass: asked.kind, path }, verb: asked.kind === 'edit' ? 'Edit' : 'Read', what: path };
  }
  if (asked.kind === 'other' && String(asked.tool).startsWith('mcp__'))
    return { spec: { toolClass: 'mcp', tool: asked.tool }, verb: 'Use', what: asked.tool };
  return null;
}

/**
 * What lasts longer than the session: rules of ours, then the agent's own. Nothing when there is neither.
 * @param {import('../app.js').App} app
 * @param {import('../state.js').State} state
 * @param {import('../state.js').OpenPermission} ask
 * @param {Pick<import('../requests/requests.js').Turn, 'answer'>} turn
 * @param {string | null} why it can't be allowed yet
 */
export function allowAlways(app, state, ask, turn, why) {
  const choices = [...ourRules(app, state, ask, turn), ...agentRules(state, ask, turn)];
  if (!choices.length) return null;
  return h(
    'button',
    {
      type: 'button',
      class: 'button quiet always',
      'data-key': 'always',
      disabled: why !== null,
      title: why,
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) => void menu(event.currentTarget, choices),
    },
    icon('shield', 14),
    'Allow always…',
  );
}

/**
 * @param {import('../app.js').App} app
 * @param {import('../state.js').State} state
 * @param {import('../state.js').OpenPermission} ask
 * @param {Pick<import('../requests/requests.js').Turn, 'answer'>} turn
 * @returns {import('../parts.js').Choice[]}
 */
function ourRules(app, state, ask, turn) {
  const session = state.sessions[ask.session_id];
  const about = session && state.me?.role === 'owner' ? aboutOf(ask.asked, session.cwd) : null;
  if (!about) return [];
  const once = (ask.asked.options ?? []).find((option) => option.kind === 'allow_once');
  const make = async (/** @type {{folder?: string, sessionId?: string, agent?: string}} */ scope) => {
    try {
      const { rule } = await app.feed.call('rules:add', {
        rule: { answer: 'allow', ...about.spec, ...scope },
        ...onDevice(state, deviceIdOf(state, session)),
      });
      app.note(`${rule.words}. It is listed in Settings, Rules.`);
      turn.answer(ask, { decision: 'allow', option: once?.option_id ?? null });
    } catch (error) {
      app.trouble(error);
    }
  };
  const folder = session.cwd;
  const name = visible(folderName(folder));
  const deed = (/** @type {string} */ rest) => [`${about.verb} `, h('code', null, visible(about.what)), ` ${rest}`];
  // A program or file beside the project is another one elsewhere.
  const local = 'path' in about.spec || /^[^/]+\//.test(about.what.split(' ')[0]);
  return [
    { title: 'Allow without asking, from now on' },
    {
      label: deed(`in ${name}`),
      note: `every session in ${visible(folder)}, every agent, until you remove the rule`,
      run: () => void make({ folder }),
    },
    {
      label: deed(`in ${name}, ${visible(agentTitle(state, session.agent))} only`),
      note: 'the same for this agent alone',
      run: () => void make({ folder, agent: session.agent }),
    },
    ...(local
      ? []
      : [
          {
            label: deed('in every project'),
            note: 'every session on this machine, every agent',
            run: () => void make({}),
          },
        ]),
  ];
}

/**
 * What the agent itself offers; how far it reaches stands below each.
 * @param {import('../state.js').State} state
 * @param {import('../state.js').OpenPermission} ask
 * @param {Pick<import('../requests/requests.js').Turn, 'answer'>} turn
 * @returns {import('../parts.js').Choice[]}
 */
function agentRules(state, ask, turn) {
  const offered = (ask.asked.options ?? []).filter((option) => option.kind === 'allow_always');
  if (!offered.length) return [];
  return [
    { title: `${agentTitle(state, state.sessions[ask.session_id]?.agent ?? '')}’s own rules` },
    ...offered.map((option) => ({
      label: coded(option.name),
      note: visible(option.scope ?? ''),
      run: () => turn.answer(ask, { decision: 'allow', option: option.option_id }),
    })),
  ];
}
