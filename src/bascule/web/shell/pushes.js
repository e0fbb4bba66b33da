/** What the server pushes, by type, and what each push changes in the store. */

import { put, tableOf } from '../js/tables.js';
import { agentsOf, deviceById, hereId } from './machines.js';
import { groupOf } from './sessions.js';
import { filledRecord } from './state.js';

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */
/** @typedef {ReturnType<typeof import('../js/events.js').createEvents>} Events */
/** @typedef {import('./live.js').Live} Live */
/** @typedef {import('../js/types.d.ts').Push} Push */
/** @typedef {Push['type']} PushType */
/** @typedef {import('./session_list.js').SessionList} SessionList */
/**
 * @typedef {object} Context
 * @property {Store} store
 * @property {Events} events
 * @property {Live} live
 * @property {SessionList} list
 * @property {(id: string) => void} closeTab
 */

// Pushes that say anew what an answer to the page's first questions lists.
const LISTED = new Set([
  'session:created',
  'session:changed',
  'agent:status',
  'project:added',
  'project:changed',
  'project:removed',
]);

/** @param {Context} context */
export function takePushes(context) {
  const { store, events, live } = context;
  /** @type {{[Type in PushType]?: (message: Extract<Push, {type: Type}>) => void}} */
  const pushes = {
    'session:events': (message) => live.take(message.sessionId, message.entries),
    // This page can't resume from its position in that log: it is another one, or shorter than it was.
    resync: (message) => {
      if (message.reason !== 'slow') {
        store.set({ replaced: true });
        live.startOver(message.sessionId);
      }
    },
    'session:created': (message) => setSession(context, message.session),
    'session:changed': (message) => setSession(context, message.session),
    'session:presence': ({ sessionId, viewers, typing }) =>
      store.set((state) => ({ presence: put(state.presence, sessionId, { viewers, typing }) })),
    'requests:changed': ({ request }) => live.requests.take(request),
    'agent:status': (message) => {
      setDevices(store, message.devices);
      if (message.agent && message.status) setAgentStatus(store, message.device, message.agent, message.status);
    },
    'server:restored': ({ restored }) => store.set(({ me }) => (me ? { me: { ...me, restored } } : {})),
    'project:added': ({ project }) =>
      store.set((state) => ({
        projects: [...state.projects.filter((otherProject) => otherProject.id !== project.id), project],
      })),
    'project:changed': ({ project }) =>
      store.set((state) => ({
        projects: state.projects.map((otherProject) => (otherProject.id === project.id ? project : otherProject)),
      })),
    'project:removed': (message) => removeProject(context, message.projectId),
  };
  /** @type {(() => void)[] | null} null while no list is being asked for */
  let sinceAsked = null;
  for (const [type, take] of /** @type {[PushType, (message: Push) => void][]} */ (Object.entries(pushes)))
    events.on(type, (message) => {
      take(message);
      if (LISTED.has(type)) sinceAsked?.push(() => take(message));
    });
  return {
    /**
     * Call it before asking for the lists, and the function it returns once they are in the store: a push may
     * overtake an answer that was read before it, and would be lost under that answer.
     */
    replayAfter() {
      /** @type {(() => void)[]} */
      const pushed = [];
      sinceAsked = pushed;
      return () => {
        for (const takeAgain of pushed) takeAgain();
        if (sinceAsked === pushed) sinceAsked = null;
      };
    },
  };
}

/** @typedef {ReturnType<typeof takePushes>} Pushes */

/**
 * @param {Context} context
 * @param {import('../js/types.d.ts').WireSessionView} session
 */
function setSession({ store, live, closeTab, list }, session) {
  const id = session.session_id;
  const before = store.get().sessions[id];
  store.set((state) => ({ sessions: put(state.sessions, id, filledRecord(session)) }));
  if (!before || before.archived !== Boolean(session.archived) || before.found !== Boolean(session.found))
    list.countAgain();
  if (before && !before.archived && session.archived) closeTab(id);
  // A page may ask for a session before its first row has come from its machine.
  if (store.get().live[id]?.error) live.ensure(id);
}

/**
 * Which devices there are, and since when each of the others is away.
 * @param {Store} store
 * @param {import('./state.js').Device[]} devices
 */
export function setDevices(store, devices) {
  store.set((state) => ({
    devices,
    agentsOf: agentsAfter(state, devices),
    away: tableOf(
      devices
        .filter((device) => !device.online)
        .map((device) => /** @type {const} */ ([device.device, state.away[device.device] ?? Date.now()])),
    ),
  }));
}

/**
 * A machine that says something else of its agents than before is believed.
 * @param {import('./state.js').State} state
 * @param {import('./state.js').Device[]} devices
 */
function agentsAfter(state, devices) {
  let known = state.agentsOf;
  for (const { device, agents } of devices) {
    const last = deviceById(state, device)?.agents ?? [];
    if (agents?.length && JSON.stringify(agents) !== JSON.stringify(last)) known = put(known, device, agents);
  }
  return known;
}

/**
 * Whether the processes that an agent's sessions share are there.
 * @param {Store} store
 * @param {string | null | undefined} device an older server names none
 * @param {string} name
 * @param {import('../js/types.d.ts').AgentInfo['status']} status
 */
function setAgentStatus(store, device, name, status) {
  const state = store.get();
  const id = device || hereId(state);
  const agents = agentsOf(state, id).map((agent) => (agent.name === name ? { ...agent, status } : agent));
  if (id) store.set({ agentsOf: put(state.agentsOf, id, agents) });
}

/**
 * Its tabs close; its sessions stay where they are.
 * @param {Context} context
 * @param {string} id
 */
function removeProject({ store, closeTab }, id) {
  const state = store.get();
  const gone = state.tabs.filter((tab) => state.sessions[tab] && groupOf(state, state.sessions[tab])?.id === id);
  store.set({ projects: state.projects.filter((project) => project.id !== id) });
  for (const tab of gone) closeTab(tab);
}
