/** Going on from a finished turn in a second session, where the agent can; the first one stays as it is. */

import { agentOf } from '../machines.js';
import { mayStart } from '../state.js';

/** @typedef {import('../state.js').State} State */

/**
 * @param {State} state
 * @param {string} id
 */
export function mayBranch(state, id) {
  const session = state.sessions[id];
  const agent = session && agentOf(state, session);
  return Boolean(session?.agent_session_id && agent?.forks && mayStart(state));
}

/**
 * The frame only asks; a person starts it, here.
 * @param {import('../app.js').App} app
 * @param {string} id
 */
export function offerBranch(app, id) {
  app.note('Go on from here in a second session? This one stays as it is.', {
    action: { label: 'New session', run: () => void branch(app, id).catch(app.trouble) },
  });
}

/**
 * @param {import('../app.js').App} app
 * @param {string} id
 */
async function branch(app, id) {
  const { agent, cwd, model, title, agent_session_id: resume } = app.store.get().sessions[id];
  const made = await app.api.create({
    agent,
    cwd,
    model: model ?? undefined,
    title: title ? `${title}, continued`.slice(0, 200) : undefined,
    resume,
    fork: true,
  });
  app.go({ name: 'session', id: made.sessionId ?? made.id });
}

/**
 * Agents and records come when they come; a frame is told when its answer changes.
 * @param {import('../../js/store.js').Store<State>} store
 * @param {import('../frames/frames.js').Frames} frames
 */
export function tellWhenKnown(store, frames) {
  store.subscribe((state, before) => {
    for (const id of frames.frames.keys()) if (mayBranch(state, id) !== mayBranch(before, id)) frames.tellMay(id);
  });
}
