/** What is asked of sessions everywhere: their status, order, project, marks and names. Pure. */

import { folderName } from '../js/format.js';
import { visible } from '../js/visible.js';
import { allAgents, deviceIdOf, deviceName, deviceOf, isRemote, placeKey, several } from './machines.js';
import { openRequests, waitingAnswers } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').SessionRecord} SessionRecord */
/** @typedef {import('./state.js').Project} Project */
/** @typedef {{path: string, device?: string}} Place a folder, on its machine */
/**
 * @typedef {object} Group a group of the sidebar
 * @property {string} key
 * @property {string} path
 * @property {string} device
 * @property {string} name
 * @property {Project | null} project
 * @property {SessionRecord[]} sessions
 */

// The name under which the command line of the machine itself acts.
const COMMAND_LINE = 'this machine';

/**
 * The folder a session's work is meant for, also when it works in a tree beside it.
 * @param {SessionRecord} session
 */
export const homeOf = (session) => session.worktree_of || session.cwd;

/**
 * Its agent went away, and Bascule starts it again.
 * @param {SessionRecord} session
 */
export const isReconnecting = (session) =>
  (session.phase === 'ended' && session.end_reason === 'disconnected') ||
  (session.phase === 'starting' && session.attempt > 0);

/**
 * It is over, and nothing is done about that.
 * @param {SessionRecord} session
 */
export const isOver = (session) =>
  (session.phase === 'ended' || session.phase === 'failed') && !isReconnecting(session);

/**
 * "Reconnecting… try 2 of 5"
 * @param {SessionRecord} session
 */
export const reconnectWords = (session) =>
  session.attempts ? `Reconnecting… try ${session.attempt} of ${session.attempts}` : 'Reconnecting…';

/**
 * Its machine is away: what it does there is not known.
 * @param {State} state
 * @param {SessionRecord} session
 */
const isOutOfReach = (state, session) => deviceOf(state, session)?.online === false;

/**
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {{dot: string, word: string}}
 */
export function statusOf(state, session) {
  const open = openRequests(state, session.session_id);
  const given = waitingAnswers(state).filter((answer) => answer.sessionId === session.session_id);
  if (given.length && !open.length) return { dot: 'ending', word: 'Answered' };
  if (session.open_requests > 0 || open.length) {
    return open.length && open.every((ask) => ask.kind === 'question')
      ? { dot: 'blocked', word: 'Asks you' }
      : { dot: 'blocked', word: 'Needs you' };
  }
  if (session.guard) return { dot: 'blocked', word: 'Needs you' };
  if (!isOver(session) && isOutOfReach(state, session)) return { dot: 'ending', word: 'Away' };
  if (isReconnecting(session)) return { dot: 'starting', word: reconnectWords(session) };
  switch (session.phase) {
    case 'starting':
      return { dot: 'starting', word: 'Starting' };
    case 'running':
      return { dot: 'running', word: 'Working' };
    case 'interrupted':
      return { dot: 'running', word: 'Stopping' };
    case 'waiting':
      return { dot: 'waiting', word: 'Ready' };
    case 'ending':
      return { dot: 'ending', word: 'Ending' };
    case 'failed':
      return { dot: 'failed', word: 'Failed' };
    default:
      return { dot: 'ended', word: 'Ended' };
  }
}

/**
 * Blocked first, then working, then by last activity.
 * @param {State} state
 */
export function sessionsInOrder(state) {
  /** @param {SessionRecord} session */
  const rank = (session) =>
    session.open_requests > 0 || session.guard
      ? 0
      : ['running', 'starting', 'interrupted'].includes(session.phase)
        ? 1
        : 2;
  const replaced = replacedTwins(state);
  return Object.values(state.sessions)
    .filter((session) => !session.archived && !session.found && !replaced.has(session.session_id))
    .sort((a, b) => rank(a) - rank(b) || (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
}

/**
 * A conversation that went on the other way, as a chat or in its own terminal: the row it left is not shown.
 * @param {State} state
 * @returns {Set<string>}
 */
export function replacedTwins(state) {
  /** @type {Map<string, SessionRecord>} */
  const newest = new Map();
  /** @type {Set<string>} */
  const replaced = new Set();
  for (const session of Object.values(state.sessions)) {
    if (!session.agent_session_id || session.found) continue;
    const key = `${deviceIdOf(state, session)} ${session.agent} ${session.agent_session_id}`;
    const other = newest.get(key);
    if (!other || (other.driver === 'terminal') === (session.driver === 'terminal')) {
      newest.set(key, other && other.updated_at > session.updated_at ? other : session);
      continue;
    }
    const [old, now] =
      isOver(session) && (!isOver(other) || session.updated_at < other.updated_at)
        ? [session, other]
        : [other, session];
    if (isOver(old)) replaced.add(old.session_id);
    newest.set(key, now);
  }
  return replaced;
}

/**
 * @param {string} path
 * @param {string} folder
 */
const within = (path, folder) => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/**
 * The project a session belongs to: the innermost whose folder holds its own.
 * @param {State} state
 * @param {SessionRecord} session
 */
export function groupOf(state, session) {
  return state.projects
    .filter(
      (project) => within(homeOf(session), project.path) && deviceIdOf(state, session) === deviceIdOf(state, project),
    )
    .reduce(
      (/** @type {Project | null} */ best, project) =>
        best && best.path.length >= project.path.length ? best : project,
      null,
    );
}

/**
 * The sidebar's groups: projects in the order they were added, then other folders that sessions ran in.
 * @param {State} state
 * @param {Iterable<Place>} [folders] to list though this page holds no session of theirs
 * @returns {Group[]}
 */
export function groupsOf(state, folders = []) {
  const kept = state.projects.map((project) => ({
    ...folderGroup(state, { path: project.path, device: project.device }),
    name: project.name,
    project,
  }));
  /** @type {Map<string, Group>} */
  const others = new Map();
  const other = (/** @type {Place} */ place) => {
    const made = folderGroup(state, place);
    const group = others.get(made.key) ?? made;
    others.set(made.key, group);
    return group;
  };
  for (const session of sessionsInOrder(state)) {
    const project = groupOf(state, session);
    const group =
      kept.find((candidate) => candidate.project === project) ?? other({ ...session, path: homeOf(session) });
    group.sessions.push(session);
  }
  for (const place of folders)
    if (!kept.some((group) => group.key === placeKey(state, place.device, place.path))) other(place);
  return [...kept, ...others.values()];
}

const FOLDED = 5; // sessions that are over, below those that live

/**
 * What a group of the sidebar shows: those that live, then the latest few of the others, or all of them.
 * @param {SessionRecord[]} sessions in order
 * @param {boolean} all
 * @param {string[]} also ids that are shown in any case
 */
export function foldedList(sessions, all, also) {
  const live = sessions.filter((session) => !isOver(session));
  const over = sessions.filter(isOver);
  return [...live, ...(all ? over : over.filter((session, n) => n < FOLDED || also.includes(session.session_id)))];
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export const isPinned = (state, session) => !session.archived && state.pins.includes(session.session_id);

/**
 * In the order they were pinned.
 * @param {State} state
 */
export const pinnedSessions = (state) =>
  state.pins.flatMap((id) => {
    const session = state.sessions[id];
    return session && isPinned(state, session) ? [session] : [];
  });

/**
 * @param {State} state
 * @param {Place} place
 * @returns {Group}
 */
const folderGroup = (state, { path, device }) => ({
  key: placeKey(state, device, path),
  path,
  device: deviceIdOf(state, { device }),
  name: folderName(path),
  project: null,
  sessions: [],
});

/**
 * The marks of a session where it stands as a card: is it live, is it on another machine, was it begun in a browser or
 * at the machine, has it a pull request?
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {{word: string, title: string}[]}
 */
export function marksOf(state, session) {
  const marks = [];
  if (!['ended', 'failed'].includes(session.phase)) marks.push({ word: 'Live', title: 'Its agent is running' });
  if (several(state)) marks.push(machineMark(state, session));
  if (session.created_by)
    marks.push(
      session.created_by === COMMAND_LINE
        ? { word: 'Local', title: 'Started on the machine itself' }
        : { word: 'Remote', title: `Started in a browser by ${session.created_by}` },
    );
  if (session.pull_request) marks.push({ word: `PR ${pullNumber(session.pull_request)}`, title: session.pull_request });
  return marks;
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export const machineMark = (state, session) =>
  isRemote(state, session)
    ? { word: 'Remote', title: `Runs on ${deviceName(state, session)}, not on the machine this page comes from` }
    : { word: deviceName(state, session), title: `Runs on ${deviceName(state, session)}` };

/**
 * "#218"
 * @param {string} url
 */
export const pullNumber = (url) => `#${url.split('/').pop()}`;

/**
 * An agent's name as sentences use it: what stands in brackets belongs to lists.
 * @param {State} state
 * @param {string} name
 */
export function agentTitle(state, name) {
  const title =
    allAgents(state).find((agent) => agent.name === name)?.title ??
    (name
      .split('-')
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      .join(' ') ||
      'Agent');
  return title.replace(/ \(.*\)$/, '');
}

/** @param {SessionRecord} session */
export const titleOf = (session) =>
  visible(session.title ?? '') || (session.driver === 'terminal' ? 'Terminal' : 'New session');

/**
 * The name of an actor, as this reader would say it.
 * @param {{me: import('./state.js').Me | null}} state
 * @param {string} by
 * @param {string} [you]
 */
export const nameOf = (state, by, you = 'You') => (ownNames(state).includes(by) ? you : by);

/**
 * The names this browser acts under, now and before.
 * @param {{me: import('./state.js').Me | null}} state
 * @returns {string[]}
 */
export const ownNames = ({ me }) => (me ? [me.name, ...(me.formerNames ?? [])] : []);

/**
 * A model as people call it.
 * @param {State} state
 * @param {SessionRecord} session
 */
export function modelName(state, session) {
  const known = state.live[session.session_id]?.models.find((model) => model.value === session.model);
  return known?.name || session.model || '';
}
