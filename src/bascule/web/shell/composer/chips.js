/** The chips of a composer: model, and how permissions are answered. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { MODE_WORDS } from '../../js/format.js';
import { agentOf } from '../machines.js';
import { allowsByItself, asksIn, onlyThere, refusing } from '../owner_only.js';
import { menu } from '../parts.js';
import { agentTitle } from '../sessions.js';
import { table } from '../../js/tables.js';
import { unaskedLines, unaskedOf } from '../start/unasked.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */
/** @typedef {SessionRecord['permission_mode']} PermissionMode */

/** @type {Record<string, string>} */
export const MODE_NOTES = table({
  relay: 'What it asks for comes to you first. Most agents read the project without asking.',
  auto_read: 'Reading files in its folder is allowed, except hidden files. The rest comes to you.',
  auto: 'Everything is allowed automatically, until you change it back.',
  deny: 'Everything it asks for is denied. What it reads without asking is not.',
});

/**
 * The agents' own modes, by the names they give them.
 * @type {Record<string, [string, string]>}
 */
const OWN_MODES = table({
  plan: ['Plan', 'It reads and plans, and changes nothing until you approve the plan.'],
  acceptEdits: ['Accept edits', 'Edits in its folder are made without asking. Commands still come to you.'],
  auto: ['Automatic', 'The agent decides what it asks about.'],
  dontAsk: ['Never ask', 'It skips whatever would need your OK.'],
});
const NO_MODES = new Set(['default', 'manual', 'ask', '']); // of its own: Bascule's mode is what counts

const caret = () => h('span', { class: 'chip__caret' }, icon('down', 12));

/**
 * `said`: what the agent runs without asking, whatever is chosen here.
 * @param {{label: string, note: string, strong: boolean}} now
 * @param {import('../parts.js').Choice[]} choices
 * @param {string[]} [said]
 */
const modeButton = (now, choices, said = []) =>
  h(
    'button',
    {
      type: 'button',
      class: `chip k-mode ${now.strong ? 'strong' : ''}`,
      'data-key': 'mode',
      'aria-haspopup': 'menu',
      title: [now.note, ...said].join('\n'),
      onclick: (/** @type {On} */ event) =>
        menu(event.currentTarget, choices, said.length ? unaskedLines(said) || undefined : undefined),
    },
    icon(said.length ? 'alert' : 'shield', 14),
    now.label,
    said.length > 0 && h('span', { class: 'spoken' }, `. ${said.join(' ')}`),
    caret(),
  );

/**
 * @param {PermissionMode | null} now
 * @param {import('../state.js').Device | undefined} refuses the machine that takes no mode that allows from here
 * @param {(mode: PermissionMode) => void} choose
 */
const ourModes = (now, refuses, choose) =>
  /** @type {[PermissionMode, string][]} */ (Object.entries(MODE_WORDS)).map(([value, label]) => ({
    label,
    on: value === now,
    ...offer(allowsByItself(value) ? refuses : undefined, MODE_NOTES[value]),
    run: () => choose(value),
  }));

/**
 * What stands below a mode, and whether it can be chosen.
 * @param {import('../state.js').Device | undefined} refuses
 * @param {string} note
 */
const offer = (refuses, note) => (refuses ? { off: true, note: onlyThere(refuses) } : { note });

/** @param {PermissionMode} mode */
const ourMode = (mode) => ({
  label: MODE_WORDS[mode] ?? mode,
  note: MODE_NOTES[mode],
  strong: mode === 'auto' || mode === 'auto_read',
});

/**
 * For a session that is yet to start: planning, where its agent has that, or how Bascule answers.
 * @param {{mode: PermissionMode, plan: boolean}} now
 * @param {boolean} plans whether the agent has a plan mode
 * @param {import('../state.js').Device | undefined} refuses the machine that takes no mode that allows from here
 * @param {(some: {mode?: PermissionMode, plan: boolean}) => void} choose
 */
export function startModeChip(now, plans, refuses, choose) {
  const on = plans && now.plan;
  const [label, note] = OWN_MODES.plan;
  return modeButton(on ? { label, note, strong: false } : ourMode(now.mode), [
    ...(plans ? [{ label, note, on, run: () => choose({ plan: true }) }] : []),
    ...ourModes(on ? null : now.mode, refuses, (mode) => choose({ mode, plan: false })),
  ]);
}

/**
 * Which of its own modes an agent is in, where that changes what it asks for.
 * @param {SessionRecord} session
 */
export const ownMode = (session) => (session.mode && !NO_MODES.has(session.mode) ? session.mode : null);

/**
 * One list: planning, how Bascule answers, then what else the agent itself has. The chip shows what counts.
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
export function modeChip(app, state, session) {
  const id = session.session_id;
  const agent = agentOf(state, session);
  const known = agent?.modes ?? [];
  const own = ownMode(session);
  const plain = known.find((one) => NO_MODES.has(one));
  const setOwn = (/** @type {string} */ mode) => app.api.mode(id, { mode });
  const choose = async (/** @type {PermissionMode} */ mode) => {
    try {
      if (own && plain) await setOwn(plain);
      await app.api.permissionMode(id, { mode });
    } catch (error) {
      app.trouble(error);
    }
  };
  const refuses = refusing(state, session);
  const ownChoice = (/** @type {string} */ mode) => ({
    label: OWN_MODES[mode]?.[0] ?? mode,
    on: mode === own,
    ...offer(asksIn(agent, mode) ? undefined : refuses, OWN_MODES[mode]?.[1] ?? ''),
    run: () => void setOwn(mode).catch(app.trouble),
  });
  const more = known.filter((one) => one !== 'plan' && one !== plain);
  return modeButton(
    own
      ? { label: OWN_MODES[own]?.[0] ?? own, note: OWN_MODES[own]?.[1] ?? '', strong: own !== 'plan' }
      : ourMode(session.permission_mode),
    [
      ...(known.includes('plan') ? [ownChoice('plan')] : []),
      ...ourModes(own ? null : session.permission_mode, refuses, (mode) => void choose(mode)),
      ...(more.length ? [{ title: `${agentTitle(state, session.agent)}’s own modes` }, ...more.map(ownChoice)] : []),
    ],
    unaskedOf(agent, session.driver),
  );
}

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
export function modelChip(app, state, session) {
  const known = state.live[session.session_id]?.models ?? [];
  const offered = known.length
    ? known
    : (agentOf(state, session)?.models ?? []).map((value) => ({
        value,
        name: value,
        description: '',
      }));
  const now = offered.find((model) => model.value === session.model);
  const label = now?.name || session.model || 'Default model';
  if (offered.length < 2 && label === agentTitle(state, session.agent)) return null; // the demo has no other name
  if (offered.length < 2) return h('span', { class: 'chip k-model', 'data-key': 'model' }, label);
  return h(
    'button',
    {
      type: 'button',
      class: 'chip k-model',
      'data-key': 'model',
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) =>
        menu(
          event.currentTarget,
          offered.map((model) => ({
            label: model.name || model.value,
            note: model.description,
            on: model.value === session.model,
            run: () => void app.api.model(session.session_id, { model: model.value }).catch(app.trouble),
          })),
        ),
    },
    label,
    caret(),
  );
}
