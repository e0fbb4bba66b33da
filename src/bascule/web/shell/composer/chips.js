/** The chips of a composer: model, and how permissions are answered. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { MODE_WORDS } from '../../js/format.js';
import { menu } from '../parts.js';
import { table } from '../../js/tables.js';
import { unaskedLines, unaskedOf } from '../start/unasked.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */
/** @typedef {SessionRecord['permission_mode']} PermissionMode */

/** @type {Record<string, string>} */
export const MODE_NOTES = table({
  relay: 'Every command and edit comes to you first.',
  auto_read: 'Reading files in its folder is allowed, hidden files aside. The rest comes to you.',
  auto: 'Everything is allowed automatically, until you change it back.',
  deny: 'Everything it asks for is denied.',
});

/** @type {Record<string, string>} */
const OWN_MODES = table({
  default: 'Normal',
  acceptEdits: 'Accept edits',
  plan: 'Plan first',
  auto: 'Automatic',
  dontAsk: 'Never ask',
});

const caret = () => h('span', { class: 'chip__caret' }, icon('down', 12));

/**
 * `said`: what the agent runs without asking, whatever is chosen here.
 * @param {PermissionMode} mode
 * @param {(mode: PermissionMode) => void} choose
 * @param {import('../parts.js').Choice[]} [more]
 * @param {string[]} [said]
 */
export function permissionChip(mode, choose, more = [], said = []) {
  const strong = mode === 'auto' || mode === 'auto_read';
  return h(
    'button',
    {
      type: 'button',
      class: `chip k-mode ${strong ? 'strong' : ''}`,
      'data-key': 'mode',
      'aria-haspopup': 'menu',
      title: [MODE_NOTES[mode], ...said].join('\n'),
      onclick: (/** @type {On} */ event) =>
        menu(
          event.currentTarget,
          /** @type {[PermissionMode, string][]} */ (Object.entries(MODE_WORDS))
            .map(([value, label]) => ({ label, note: MODE_NOTES[value], on: value === mode, run: () => choose(value) }))
            .concat(/** @type {any} */ (more)),
          said.length ? unaskedLines(said) || undefined : undefined,
        ),
    },
    icon(said.length ? 'alert' : 'shield', 14),
    MODE_WORDS[mode] ?? mode,
    said.length > 0 && h('span', { class: 'spoken' }, `. ${said.join(' ')}`),
    caret(),
  );
}

/**
 * Who answers for Bascule and, below it, the mode the agent itself is in.
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
export function modeChip(app, state, session) {
  const id = session.session_id;
  const agent = state.agents.find((one) => one.name === session.agent);
  const own = agent?.modes ?? [];
  return permissionChip(
    session.permission_mode,
    (mode) => void app.api.permissionMode(id, { mode }).catch(app.trouble),
    own.length
      ? [
          { title: 'The agent’s own mode' },
          ...own.map((mode) => ({
            label: OWN_MODES[mode] ?? mode,
            on: mode === session.mode,
            run: () => void app.api.mode(id, { mode }).catch(app.trouble),
          })),
        ]
      : [],
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
    : (state.agents.find((one) => one.name === session.agent)?.models ?? []).map((value) => ({
        value,
        name: value,
        description: '',
      }));
  const now = offered.find((one) => one.value === session.model);
  const label = now?.name || session.model || 'Default model';
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
          offered.map((one) => ({
            label: one.name || one.value,
            note: one.description,
            on: one.value === session.model,
            run: () => void app.api.model(session.session_id, { model: one.value }).catch(app.trouble),
          })),
        ),
    },
    label,
    caret(),
  );
}
