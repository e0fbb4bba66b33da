/** The machines that agents run on: which one a session belongs to, how each is doing, in words. Pure. */

import { table, tableOf } from '../js/tables.js';
import { waited } from '../js/format.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Device} Device */
/** @typedef {import('./state.js').AgentInfo} AgentInfo */
/** @typedef {{device?: string}} Placed */
/** @typedef {'lost' | 'update' | 'away' | 'stale' | 'disk' | 'paused' | 'clock' | 'fine'} Kind */
/**
 * How a machine is doing: `word` stands beside its name, `more` is a sentence.
 * @typedef {{kind: Kind, dot: string, word: string, more: string}} Condition
 */

const CLOCK_OFF = 30_000; // milliseconds from which a clock is worth a word
const REMOVED = 'a removed machine';

/** @param {State} state */
export const several = (state) => state.devices.length > 1;

/**
 * The machine that this page's server runs on; empty when it is none, or not known.
 * @param {State} state
 */
export const hereId = (state) => state.me?.device || (state.devices.length === 1 ? state.devices[0].device : '');

/**
 * Older logs name no machine: they are of the one that has them.
 * @param {State} state
 * @param {Placed} placed a session, a project
 */
export const deviceIdOf = (state, placed) => placed.device || hereId(state);

/**
 * @param {State} state
 * @param {string | undefined} id
 */
export const deviceById = (state, id) => state.devices.find((device) => device.device === id);

/**
 * @param {State} state
 * @param {Placed} placed
 */
export const deviceOf = (state, placed) => deviceById(state, deviceIdOf(state, placed));

/**
 * @param {State} state
 * @param {Placed} placed
 */
export function deviceName(state, placed) {
  const device = deviceOf(state, placed);
  if (device) return device.name || device.device;
  return placed.device && state.devices.length ? REMOVED : 'this machine';
}

/**
 * It is on a machine that was taken off the list: it can be read, and nothing more.
 * @param {State} state
 * @param {Placed} placed
 */
export const isRemoved = (state, placed) =>
  Boolean(placed.device) && state.devices.length > 0 && !deviceById(state, placed.device);

/**
 * It runs on another machine than the one this page comes from.
 * @param {State} state
 * @param {Placed} placed
 */
export const isRemote = (state, placed) =>
  several(state) && Boolean(hereId(state)) && deviceIdOf(state, placed) !== hereId(state);

/**
 * The name to show beside a session; empty while there is only one machine.
 * @param {State} state
 * @param {Placed} placed
 */
export const machineTag = (state, placed) =>
  several(state) || isRemoved(state, placed) ? deviceName(state, placed) : '';

/**
 * A path means a folder only together with its machine: the key of a group of the sidebar.
 * @param {State} state
 * @param {string | undefined} device
 * @param {string} path
 */
export function placeKey(state, device, path) {
  const id = deviceIdOf(state, { device });
  return !id || id === hereId(state) ? path : `${id} ${path}`;
}

/**
 * What an operation that a machine carries out needs to hear once there are several.
 * @param {State} state
 * @param {string | undefined} device
 * @returns {{device?: string}}
 */
export const onDevice = (state, device) => (several(state) && device ? { device } : {});

/**
 * All agents of a machine; of one that is away, as they were.
 * @param {State} state
 * @param {string | undefined} device
 * @returns {AgentInfo[]}
 */
export const agentsOf = (state, device) =>
  (device && (state.agentsOf[device] ?? deviceById(state, device)?.agents)) || [];

/**
 * Those that can be talked to. One that has only its own screen is offered among the terminals.
 * @param {State} state
 * @param {string | undefined} device
 */
export const talkingAgents = (state, device) =>
  agentsOf(state, device).filter((agent) => !agent.drivers?.length || agent.drivers.some((way) => way !== 'terminal'));

/**
 * Those that can run in a terminal.
 * @param {State} state
 * @param {string | undefined} device
 */
export const screenAgents = (state, device) =>
  agentsOf(state, device).filter((agent) => agent.drivers?.includes('terminal'));

/**
 * The agent of a session, as it is on the session’s machine.
 * @param {State} state
 * @param {Placed & {agent: string}} session
 */
export const agentOf = (state, session) =>
  agentsOf(state, deviceIdOf(state, session)).find((agent) => agent.name === session.agent);

/**
 * Every agent of every machine, each name once.
 * @param {State} state
 */
export function allAgents(state) {
  /** @type {Map<string, AgentInfo>} */
  const found = new Map();
  for (const { device } of state.devices)
    for (const agent of talkingAgents(state, device)) {
      const other = found.get(agent.name);
      if (!other || (!other.available && agent.available)) found.set(agent.name, agent);
    }
  return [...found.values()];
}

/**
 * The state with the sessions, projects and agents of one machine only.
 * @param {State} state
 * @param {string | undefined} device
 * @returns {State}
 */
export function onlyOn(state, device) {
  if (!several(state) || !device) return state;
  const isThere = (/** @type {Placed} */ placed) => deviceIdOf(state, placed) === device;
  return {
    ...state,
    devices: state.devices.filter((otherDevice) => otherDevice.device === device),
    projects: state.projects.filter(isThere),
    sessions: tableOf(Object.entries(state.sessions).filter(([, one]) => isThere(one))),
  };
}

/**
 * The machine of a found session that the server may have no copy of yet.
 * @param {State} state
 * @param {string} id
 */
export function foundOn(state, id) {
  if (state.farFound[id]) return state.farFound[id];
  const lists = Object.entries(state.found);
  return lists.find(([, list]) => list.sessions.some((session) => session.sessionId === id))?.[0] ?? '';
}

/**
 * Machines that ask to join, while an answer still counts.
 * @param {State} state
 */
export const waitingPairings = (state) => state.pairings.filter((pairing) => pairing.ends > Date.now());

/**
 * When a machine was last heard, as far as this page knows.
 * @param {State} state
 * @param {Device} device
 */
export function heardAt(state, device) {
  const heard = Date.parse(device.lastHeard ?? '');
  const noticed = state.away[device.device];
  if (Number.isNaN(heard)) return noticed ?? Date.now();
  return noticed ? Math.min(heard, noticed) : heard;
}

/**
 * @param {State} state
 * @param {Device} device
 * @returns {Kind}
 */
function kindOf(state, device) {
  if (state.line.phase === 'lost') return 'lost';
  if (device.needsUpdate) return 'update';
  if (!device.online) return 'away';
  if (device.state === 'stale') return 'stale';
  if (device.storageProblem) return 'disk';
  if (device.paused) return 'paused';
  return Math.abs(device.skewMs ?? 0) >= CLOCK_OFF ? 'clock' : 'fine';
}

/** @type {Record<Kind, string>} */
const DOTS = table({
  lost: 'failed',
  update: 'failed',
  away: 'failed',
  stale: 'starting',
  disk: 'failed',
  paused: 'ending',
  clock: 'starting',
  fine: 'waiting',
});

/**
 * @param {State} state
 * @param {Device} device
 * @param {number} now
 * @returns {Condition}
 */
export function conditionOf(state, device, now) {
  const kind = kindOf(state, device);
  return { kind, dot: DOTS[kind], ...wordsFor(kind, state, device, now) };
}

/**
 * @param {Kind} kind
 * @param {State} state
 * @param {Device} device
 * @param {number} now
 * @returns {{word: string, more: string}}
 */
function wordsFor(kind, state, device, now) {
  const { name } = device;
  const ago = waited(whole(now - heardAt(state, device)));
  switch (kind) {
    case 'lost':
      return { word: `away ${waited(now - (state.line.lostAt ?? now))}`, more: 'This page has lost its server.' };
    case 'update':
      return { word: 'needs an update', more: `Bascule on ${name} is too old to talk to. Update it there.` };
    case 'away':
      return { word: `away ${ago}`, more: `Last heard ${ago} ago. Its agents are most likely still running.` };
    case 'stale':
      return { word: `last heard ${ago} ago`, more: 'It is connected, but has gone quiet.' };
    case 'disk':
      return storageProblem(device.storageProblem ?? '');
    case 'paused':
      return { word: 'paused', more: `It accepts no new sessions. Running ones continue.${endOfPause(device)}` };
    case 'clock':
      return { word: 'clock is off', more: clockWords(device.skewMs ?? 0) };
    default:
      return { word: 'connected', more: '' };
  }
}

/** @param {Device} device */
const endOfPause = ({ name, pausedByOwner }) =>
  pausedByOwner ? ` It was paused on ${name} itself; there, “bascule daemon resume” ends that.` : '';

/**
 * What can't be written, and what to do where that is not plain from it.
 * @param {string} problem
 */
function storageProblem(problem) {
  const word = storageWord(problem);
  const advice = word === 'no database' ? ' Start its database server again; agents keep working meanwhile.' : '';
  return { word, more: `${problem}${advice}` };
}

/**
 * What can't be written: the hub's database or a machine's disk.
 * @param {string} problem
 */
function storageWord(problem) {
  if (/database/i.test(problem)) {
    if (/no changes/i.test(problem)) return 'database is read-only';
    return /is full/i.test(problem) ? 'database is full' : 'no database';
  }
  return /full|space/i.test(problem) ? 'disk full' : 'disk problem';
}

/**
 * Minutes that are over: “away 2 min” until it is three.
 * @param {number} ms
 */
const whole = (ms) => (ms < 60_000 ? Math.max(0, ms) : Math.floor(ms / 60_000) * 60_000);

/**
 * "Its clock is 3 min ahead of the server’s. Times shown from it are off by as much."
 * @param {number} ms
 */
const clockWords = (ms) =>
  `Its clock is ${waited(Math.abs(ms))} ${ms > 0 ? 'ahead of' : 'behind'} the server’s, so times from it are off.`;

/**
 * Whose latest words are not here yet; empty when all machines are heard.
 * @param {State} state
 */
export function missingWords(state) {
  if (!several(state) || state.line.phase !== 'live') return '';
  const names = state.devices.filter((device) => !device.online).map((device) => device.name);
  if (!names.length) return '';
  const are = names.length === 1 ? 'is' : 'are';
  return `${names.join(', ')} ${are} away: what happens there meanwhile is not listed yet.`;
}

/**
 * Why nothing can be started on a machine just now; empty when it can.
 * @param {State} state
 * @param {Device} device
 * @param {number} now
 */
export function startProblem(state, device, now) {
  const { kind, word } = conditionOf(state, device, now);
  switch (kind) {
    case 'away':
      return 'away. Nothing can be started there until it is back';
    case 'update':
      return `${word} before it can start anything`;
    case 'disk':
      return `${word}. It can store nothing`;
    case 'paused':
      return `${word}. It accepts no new sessions`;
    default:
      return '';
  }
}

/**
 * The machine that is meant when nobody chose one: the server’s own, if it can start something, else one that can.
 * @param {State} state
 */
export function usualDevice(state) {
  const now = Date.now();
  const able = state.devices.filter((device) => !startProblem(state, device, now));
  const here = hereId(state);
  return able.find((device) => device.device === here) ?? able[0] ?? deviceById(state, here) ?? state.devices[0];
}

/**
 * Why nothing can be sent to a session’s machine just now; empty when it can.
 * @param {State} state
 * @param {Placed} placed
 */
export function unreachable(state, placed) {
  if (state.line.phase !== 'live') return ''; // the page keeps what is written and sends it by itself
  if (isRemoved(state, placed)) return 'Its machine was removed from the list, so nothing can be sent there.';
  const device = deviceOf(state, placed);
  if (!device || (device.online && !device.needsUpdate)) return '';
  return device.needsUpdate
    ? `${device.name} needs an update before anything can be sent there.`
    : `${device.name} is away, so nothing can be sent there right now.`;
}
