/** What the page knows, with its first values, and the questions everybody asks of it. Pure. */

/**
 * @typedef {import('../js/types.d.ts').SessionRecord} SessionRecord
 * @typedef {import('../js/types.d.ts').AgentInfo} AgentInfo
 * @typedef {{device: string, name: string, version: string, online: boolean, agents: AgentInfo[]}} Device
 * @typedef {{session_id: string, request_id: string, kind: 'permission' | 'question', state: string, asked: any, opened_at: string, seq: number, input_sha256: string, answer?: any, answered_at?: string, sending?: string, shownAt?: number, gone?: string}} Ask
 * @typedef {{queue: import('../js/types.d.ts').PromptQueued[], commands: any[], models: any[], edits: {path: string, patch: string, added: number, removed: number, seq: number}[], steps: Record<string, string>, failure: any, opened: boolean, error: string}} LiveSession
 * @typedef {{name: 'start' | 'inbox' | 'settings' | 'session' | 'list', id?: string, part?: string}} Route
 * @typedef {{sessionId: string, text: string, images: any[], key: string}} Held
 * @typedef {typeof FIRST} State
 */

export const FIRST = {
  line: /** @type {import('../js/feed.js').Line} */ ({ phase: 'connecting', attempt: 0, retryAt: null, heardAt: 0, lostAt: null }),
  back: /** @type {{at: number, events: number} | null} */ (null),
  me: /** @type {{name: string, role: string, sessionId: string | null, grantId: string, version: string} | null} */ (null),
  loaded: false,
  sessions: /** @type {Record<string, SessionRecord>} */ ({}),
  archived: /** @type {SessionRecord[] | null} */ (null),
  devices: /** @type {Device[]} */ ([]),
  agents: /** @type {AgentInfo[]} */ ([]),
  asks: /** @type {Record<string, Ask>} */ ({}),
  live: /** @type {Record<string, LiveSession>} */ ({}),
  tabs: /** @type {string[]} */ ([]),
  route: /** @type {Route} */ ({ name: 'start' }),
  inboxPick: /** @type {string | null} */ (null),
  askPick: /** @type {Record<string, string>} */ ({}),
  later: /** @type {Record<string, boolean>} */ ({}),
  held: /** @type {Held[]} */ ([]),
  notes: /** @type {{id: number, text: string, tone?: string, action?: {label: string, run: () => void}}[]} */ ([]),
  confirm: /** @type {{sessionId: string, title: string, text: string, yes: string, no: string, run: () => void} | null} */ (null),
  side: true,
  collapsed: /** @type {string[]} */ ([]),
  panel: false,
  theme: 'auto',
  seen: /** @type {Record<string, number>} */ ({}),
  tick: 0,
};

/** @type {LiveSession} */
export const FIRST_LIVE = { queue: [], commands: [], models: [], edits: [], steps: {}, failure: null, opened: false, error: '' };

/** The wire leaves defaults out. @param {any} record @returns {SessionRecord} */
export const filledRecord = (record) => ({
  agent: '', driver: '', cwd: '', device: '', title: '', phase: 'starting', model: null, mode: null, permission_mode: 'relay',
  open_requests: 0, queued: 0, turns: 0, cost_usd: null, context_used: null, context_size: null, end_reason: null,
  end_message: null, archived: false, demo: false, seq: 0, started_seq: 0, ...record,
});

/** @param {{session_id: string, request_id: string}} ask */
export const askKey = (ask) => `${ask.session_id}/${ask.request_id}`;

/** Open requests, the oldest first. @param {State} state @param {string} [sessionId] */
export function openAsks(state, sessionId) {
  return Object.values(state.asks)
    .filter((ask) => ask.state === 'open' && (!sessionId || ask.session_id === sessionId))
    .sort((a, b) => (a.opened_at < b.opened_at ? -1 : a.opened_at > b.opened_at ? 1 : a.seq - b.seq));
}

/** Which session is in view, if one is. @param {State} state @returns {string | null} */
export function shownSession(state) {
  if (state.route.name === 'session') return state.route.id ?? null;
  if (state.route.name === 'inbox' && state.inboxPick) return state.inboxPick.split('/')[0];
  return null;
}

/** @param {State} state @param {SessionRecord} session @returns {{dot: string, word: string}} */
export function statusOf(state, session) {
  const asks = openAsks(state, session.session_id);
  if (session.open_requests > 0 || asks.length) {
    return asks.length && asks.every((ask) => ask.kind === 'question') ? { dot: 'blocked', word: 'Asks you' } : { dot: 'blocked', word: 'Needs you' };
  }
  switch (session.phase) {
    case 'starting': return { dot: 'starting', word: 'Starting' };
    case 'running': return { dot: 'running', word: 'Working' };
    case 'interrupted': return { dot: 'running', word: 'Stopping' };
    case 'waiting': return { dot: 'waiting', word: 'Ready' };
    case 'ending': return { dot: 'ending', word: 'Ending' };
    case 'failed': return { dot: 'failed', word: 'Failed' };
    default: return { dot: 'ended', word: 'Ended' };
  }
}

/** Blocked first, then working, then by last activity. @param {State} state */
export function sessionsInOrder(state) {
  /** @param {SessionRecord} one */
  const rank = (one) => (one.open_requests > 0 ? 0 : ['running', 'starting', 'interrupted'].includes(one.phase) ? 1 : 2);
  return Object.values(state.sessions).filter((one) => !one.archived)
    .sort((a, b) => rank(a) - rank(b) || (a.updated_at < b.updated_at ? 1 : a.updated_at > b.updated_at ? -1 : 0));
}

/** An agent's name as sentences use it: what stands in brackets belongs to lists. @param {State} state @param {string} name */
export function agentTitle(state, name) {
  const title = state.agents.find((one) => one.name === name)?.title ?? (name ? name[0].toUpperCase() + name.slice(1) : 'Agent');
  return title.replace(/ \(.*\)$/, '');
}

/** @param {State} state @param {SessionRecord} session */
export function deviceName(state, session) {
  const device = state.devices.find((one) => one.device === session.device) ?? state.devices[0];
  return device?.name || session.device || 'this machine';
}

/** @param {SessionRecord} session */
export const titleOf = (session) => session.title || 'New session';

/** May this browser send, answer and stop? @param {State} state @param {string} [sessionId] */
export function mayAct(state, sessionId) {
  if (!state.me || state.me.role === 'owner' || state.me.role === 'operator') return true;
  return state.me.role === 'session' && state.me.sessionId === sessionId;
}

/** May this browser start sessions? @param {State} state */
export const mayStart = (state) => !state.me || state.me.role === 'owner' || state.me.role === 'operator';

/** A model as people call it. @param {State} state @param {SessionRecord} session */
export function modelName(state, session) {
  const known = state.live[session.session_id]?.models.find((one) => one.value === session.model);
  return known?.name || session.model || '';
}
