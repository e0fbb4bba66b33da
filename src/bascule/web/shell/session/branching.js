/** Going on from a finished turn in a second session, where the agent can; the first one stays as it is. */

import { agentOf } from '../machines.js';
import { mayStart } from '../state.js';
import { editsAfter } from './editing.js';

/** @typedef {import('../state.js').State} State */

/**
 * @param {State} state
 * @param {string} id
 */
export function mayBranch(state, id) {
  const session = state.sessions[id];
  const agent = session && agentOf(state, session);
  const first = agent?.drivers?.[0] ?? session?.driver; // `forks` is said of this way
  return Boolean(session?.agent_session_id && agent?.forks && first === session.driver && mayStart(state));
}

/**
 * The frame only asks; a person starts it, here.
 * @param {import('../app.js').App} app
 * @param {string} id
 */
export function offerBranch(app, id) {
  app.note('Continue from here in a new session? This one stays as it is.', {
    action: { label: 'New session', run: () => void branch(app, id).catch(app.trouble) },
  });
}

/**
 * @param {import('../app.js').App} app
 * @param {string} id
 */
async function branch(app, id) {
  const { agent, device, cwd, model, title, seq, agent_session_id: resume } = app.store.get().sessions[id];
  const made = await app.api.create({
    agent,
    device: device || undefined,
    cwd,
    model: model ?? undefined,
    title: title ? `${title}, continued`.slice(0, 200) : undefined,
    resume,
    fork: true,
    copiedFrom: { session: id, seq },
  });
  app.go({ name: 'session', id: made.sessionId ?? made.id });
}

/**
 * Of the session whose conversation this one began as a copy of, if this page has it.
 * @param {State} state
 * @param {string} id
 */
const sourceTitle = (state, id) => state.sessions[state.sessions[id]?.copied_from?.session ?? '']?.title ?? '';

/**
 * Go to where the copy ends.
 * @param {import('../app.js').App} app
 * @param {string} id
 */
export function showSource(app, id) {
  const from = app.store.get().sessions[id]?.copied_from;
  if (from) app.goTo(from.session, from.seq);
}

/**
 * @param {State} state
 * @param {string} id
 */
const known = (state, id) => [mayBranch(state, id), editsAfter(state, id), sourceTitle(state, id)].join();

/**
 * Agents and records come when they come; a frame hears when what it may offer changes.
 * @param {import('../../js/store.js').Store<State>} store
 * @param {import('../frames/frames.js').Frames} frames
 */
export function tellCopies(store, frames) {
  frames.editsAfter = (id) => editsAfter(store.get(), id);
  frames.sourceTitle = (id) => sourceTitle(store.get(), id);
  store.subscribe((state, before) => {
    for (const id of frames.frames.keys()) if (known(state, id) !== known(before, id)) frames.tellMay(id);
  });
}
