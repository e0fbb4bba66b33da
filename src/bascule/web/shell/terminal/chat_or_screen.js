/** A conversation as a chat or on the agent's own screen: one click apart, and never both at once. */

import { iconButton } from '../../js/dom.js';
import { deviceIdOf, onDevice, screenAgents } from '../machines.js';
import { mayStart } from '../state.js';
import { isTerminal, openHere, openTerminal } from './terminals.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

const OVER = ['ended', 'failed'];
const END_SECONDS = 30;

/** @param {SessionRecord} session */
const isOver = (session) => OVER.includes(session.phase);

/**
 * The button in the session's bar, where the conversation can be taken up the other way.
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
export function otherWay(app, state, session) {
  if (!mayStart(state) || !session.agent_session_id) return null;
  const agent = screenAgents(state, deviceIdOf(state, session)).find((candidate) => candidate.name === session.agent);
  if (!agent || !agent.drivers?.some((driver) => driver !== 'terminal')) return null;
  return session.driver === 'terminal'
    ? iconButton('chat', 'Continue as a chat', { onclick: () => void asChat(app, session) })
    : iconButton('terminal', 'Continue in the terminal', {
        onclick: () => void asTerminal(app, session),
      });
}

/**
 * For the session's menu.
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {import('../parts.js').Choice[]}
 */
export function terminalChoices(app, state, session) {
  if (!mayStart(state) || !session.cwd) return [];
  return [{ label: 'Open a terminal here', icon: 'terminal', run: () => void openHere(app, session) }];
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
async function asTerminal(app, session) {
  const open = twin(app.store.get(), session, true);
  if (open && !isOver(open)) {
    app.go({ name: 'session', id: open.session_id });
    return;
  }
  if (!(await letGo(app, session))) return;
  if (open) await again(app, open);
  else
    await openTerminal(app, {
      agent: session.agent,
      cwd: session.cwd,
      ...onDevice(app.store.get(), session.device),
      resume: session.agent_session_id ?? '',
      title: session.title || undefined,
    });
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
async function asChat(app, session) {
  if (!(await letGo(app, session))) return;
  const chat = twin(app.store.get(), session, false);
  if (chat) await again(app, chat);
  else {
    try {
      const made = await app.api.create({
        agent: session.agent,
        cwd: session.cwd,
        ...onDevice(app.store.get(), session.device),
        resume: session.agent_session_id,
        ...(session.title ? { title: session.title } : {}),
      });
      app.go({ name: 'session', id: made.sessionId });
    } catch (error) {
      app.trouble(error);
    }
  }
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
async function again(app, session) {
  try {
    if (isOver(session)) await app.api.resume(session.session_id);
    app.go({ name: 'session', id: session.session_id });
  } catch (error) {
    app.trouble(error);
  }
}

/**
 * The same conversation's other session, the newest.
 * @param {State} state
 * @param {SessionRecord} session
 * @param {boolean} terminal
 */
function twin(state, session, terminal) {
  return Object.values(state.sessions)
    .filter(
      (otherSession) =>
        otherSession.agent_session_id === session.agent_session_id &&
        otherSession.device === session.device &&
        otherSession.session_id !== session.session_id &&
        isTerminal(state, otherSession.session_id) === terminal,
    )
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))[0];
}

/**
 * Two programs must not write one conversation: this one ends before the other begins.
 * @param {App} app
 * @param {SessionRecord} session
 */
export async function letGo(app, session) {
  if (isOver(session)) return true;
  if (session.driver !== 'terminal' && ['running', 'starting', 'interrupted'].includes(session.phase)) {
    app.note('It is working. Wait until it is ready, or stop the turn first.');
    return false;
  }
  try {
    await app.api.end(session.session_id);
    await ended(app, session.session_id);
    return true;
  } catch (error) {
    app.trouble(error);
    return false;
  }
}

/**
 * @param {App} app
 * @param {string} id
 * @returns {Promise<void>}
 */
function ended(app, id) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop();
      reject(new Error('It did not end in time. Try again.'));
    }, END_SECONDS * 1000);
    const look = () => {
      const session = app.store.get().sessions[id];
      if (session && !isOver(session)) return;
      stop();
      resolve();
    };
    const unsubscribe = app.store.subscribe(look);
    const stop = () => {
      clearTimeout(timer);
      unsubscribe();
    };
    look();
  });
}
