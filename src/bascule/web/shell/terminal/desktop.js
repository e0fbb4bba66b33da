/** A session in a terminal window of the person's own desktop, or the command that goes on with it there. */

import { openTerminal } from '../sidebar/found_session.js';
import { deviceIdOf, deviceOf, isRemote, screenAgents } from '../machines.js';
import { isOver } from '../sessions.js';
import { mayStart } from '../state.js';
import { letGo } from './chat_or_screen.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

const LOOPBACK = /^(127\.|localhost$|\[::1\]$)/;

/**
 * Its screen is shown in the window while it runs on; any other conversation is handed over.
 * @param {SessionRecord} session
 */
const isOnScreen = (session) => session.driver === 'terminal' && !session.found && !isOver(session);

/**
 * For the session's menu. The window opens on the server's desktop, so it is offered to who sits there.
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {import('../parts.js').Choice[]}
 */
export function desktopChoices(app, state, session) {
  const resumes =
    session.agent_session_id &&
    screenAgents(state, deviceIdOf(state, session)).some((agent) => agent.name === session.agent);
  if (!mayStart(state) || openTerminal(state, session) || !(resumes || isOnScreen(session))) return [];
  return state.desktop?.terminal && LOOPBACK.test(location.hostname) && !isRemote(state, session)
    ? [
        {
          label: 'Open in my terminal',
          note: state.desktop.terminal,
          icon: 'terminal',
          run: () => void openOnDesktop(app, session),
        },
      ]
    : [{ label: 'Copy the resume command', icon: 'copy', run: () => void copyCommand(app, session) }];
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
async function openOnDesktop(app, session) {
  if (!isOnScreen(session) && !session.found && !(await letGo(app, session))) return;
  const action = { label: 'Copy the command', run: () => void copyCommand(app, session) };
  try {
    const { launched, terminal } = await app.api.openTerminal(session.session_id);
    if (launched) app.note(`Opened in ${terminal}.`);
    else app.note(`${terminal} is opening. If no window appears, run the command yourself.`, { action });
  } catch (error) {
    app.note(/** @type {Error} */ (error).message, { tone: 'bad', action });
  }
}

/**
 * A hub that runs no agents is on no machine of its own.
 * @param {App} app
 * @param {SessionRecord} session
 */
function placeOf(app, session) {
  const state = app.store.get();
  const isElsewhere = isRemote(state, session) || !state.me?.device;
  return (isElsewhere && deviceOf(state, session)?.name) || 'this machine';
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
async function copyCommand(app, session) {
  try {
    const { command } = await app.api.resumeCommand(session.session_id);
    const done = await app.copy(command);
    app.note(done ? `Copied. Paste it into a terminal on ${placeOf(app, session)}.` : command, { stay: !done });
  } catch (error) {
    app.trouble(error);
  }
}
