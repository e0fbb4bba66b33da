/** What the composer says in words, from the state alone. Pure. */

import { foundPlaceholder } from '../sidebar/found_session.js';
import { deviceName, unreachable } from '../machines.js';
import { agentTitle, isReconnecting, ownNames } from '../sessions.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/** @param {SessionRecord} session */
export const isWorking = (session) => session.phase === 'running' || session.phase === 'interrupted';

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export function placeholder(state, session) {
  const agent = agentTitle(state, session.agent);
  if (unreachable(state, session)) return `${deviceName(state, session)} is away. Write now, send later`;
  if (session.found) return foundPlaceholder(state, session);
  if (isReconnecting(session)) return `Message ${agent}. It is sent when the agent is back.`;
  if (session.phase === 'starting') return `${agent} is starting`;
  if (session.phase === 'ending') return 'Ending this session';
  if (isWorking(session)) return `Message ${agent}. It is sent when the turn ends.`;
  return `Message ${agent}. @ file, / command`;
}

/**
 * Who else is writing to a session just now; empty when nobody is.
 * @param {State} state
 * @param {string} id
 */
export function typingWords(state, id) {
  const names = (state.presence[id]?.typing ?? []).filter((name) => !ownNames(state).includes(name));
  if (!names.length) return '';
  return names.length === 1 ? `${names[0]} is typing` : `${names.slice(0, 3).join(', ')} are typing`;
}
