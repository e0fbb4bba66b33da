/** What the page knows, with its first values; what is in view of it, and what this browser may do. Pure. */

import { table } from '../js/tables.js';

/**
 * @typedef {import('../js/types.d.ts').SessionRecord} SessionRecord
 * @typedef {import('../js/types.d.ts').AgentInfo} AgentInfo
 * @typedef {import('../js/types.d.ts').DeviceStatus} Device
 * @typedef {import('../js/types.d.ts').AnswerView} WaitedAnswer
 * @typedef {{
 *   session_id: string,
 *   request_id: string,
 *   state: import('../js/types.d.ts').RequestView['state'],
 *   opened_at: string,
 *   seq: number,
 *   input_sha256: string,
 *   answered_at?: string | null,
 *   sending?: string,
 *   shownAt?: number,
 *   gone?: string | null,
 *   here?: boolean,
 * }} AnyRequest
 * @typedef {AnyRequest & {
 *   kind: 'permission',
 *   asked: import('../js/types.d.ts').PermissionRequested,
 *   answer?: import('../js/types.d.ts').PermissionAnswered | null,
 * }} OpenPermission
 * @typedef {AnyRequest & {
 *   kind: 'question',
 *   asked: import('../js/types.d.ts').QuestionAsked,
 *   answer?: import('../js/types.d.ts').QuestionAnswered | null,
 * }} OpenQuestion
 * @typedef {OpenPermission | OpenQuestion} OpenRequest
 * @typedef {{
 *   queue: import('../js/types.d.ts').PromptQueued[],
 *   commands: import('../js/types.d.ts').SlashCommand[],
 *   models: import('../js/types.d.ts').ModelChoice[],
 *   edits: {path: string, patch: string, added: number, removed: number, seq: number}[],
 *   steps: Record<string, string>,
 *   failure: import('../js/types.d.ts').SessionFailed & {at: string} | null,
 *   opened: boolean,
 *   error: string,
 * }} LiveSession
 * @typedef {import('../js/types.d.ts').Project} Project
 * @typedef {{
 *   name: keyof typeof import('./routes.js').SCREENS | 'settings' | 'session' | 'compare' | 'library',
 *   id?: string,
 *   part?: string,
 *   q?: string,
 * }} Route
 * @typedef {{
 *   sessionId: string,
 *   text: string,
 *   images: import('../js/types.d.ts').SentImage[],
 *   key: string,
 *   prompts?: {promptId: string, version: number}[],
 * }} Held
 * @typedef {import('../js/types.d.ts').OpenTerminal} OpenTerminal
 * @typedef {import('../js/types.d.ts').FoundItem} FoundItem
 * @typedef {import('../js/types.d.ts').UnloggedProcess & {device?: string}} Unlogged
 * @typedef {import('../js/types.d.ts').PairingView & {ends: number}} Pairing
 * @typedef {typeof FIRST} State
 */

/**
 * Who this browser is to the server, and which server answers.
 * @typedef {import('../js/types.d.ts').Hello} Me
 */
/** @typedef {import('../js/types.d.ts').FoundEverywhere} FoundList */
/**
 * @typedef {{sessionId: string, title: string, text: string, yes: string, no: string, run: () => void}} Confirmation
 */

export const FIRST = {
  line: /** @type {import('../js/feed.js').Line} */ ({
    phase: 'connecting',
    attempt: 0,
    retryAt: null,
    heardAt: 0,
    lostAt: null,
  }),
  presence: /** @type {Record<string, {viewers: string[], typing: string[]}>} */ (table()),
  back: /** @type {{at: number, events: number, restarted: boolean} | null} */ (null),
  updated: /** @type {string | null} the version that answers now, when it is not the one this page came from */ (null),
  me: /** @type {Me | null} */ (null),
  loaded: false,
  unlogged: /** @type {Unlogged[]} processes that run and are not in the log */ ([]),
  damaged: /** @type {{sessionId: string, message: string}[]} sessions that can't be read */ ([]),
  restoredSeen: '', // when the restore was noticed that somebody has read of here
  replaced: false, // the log is another one than this page had read, so everything was loaded again
  sessions: /** @type {Record<string, SessionRecord>} */ (table()),
  more: /** @type {string | null} the cursor after the first page; null when this page holds all sessions */ (null),
  moreOf: /** @type {Record<string, string | null>} and of each group that more was loaded of */ (table()),
  counts: /** @type {import('../js/types.d.ts').Operations['session:count']['answer'] | null} */ (null),
  archived: /** @type {SessionRecord[] | null} */ (null),
  moreArchived: /** @type {string | null} */ (null),
  archivedCount: 0,
  found: /** @type {Record<string, FoundList>} by machine */ (table()),
  farFound: /** @type {Record<string, string>} the machine of each hit that this server has no copy of */ (table()),
  foundAll: false,
  foundOpen: /** @type {Record<string, {terminal: OpenTerminal | null, command: string}>} */ (table()),
  devices: /** @type {Device[]} */ ([]),
  away: /** @type {Record<string, number>} since when each device is */ (table()),
  projects: /** @type {Project[]} in the order they were added */ ([]),
  prompts: /** @type {import('../js/types.d.ts').PromptView[] | null} null until somebody needs them */ (null),
  agentsOf: /** @type {Record<string, AgentInfo[]>} by machine */ (table()),
  pairings: /** @type {Pairing[]} machines that ask to join */ ([]),
  desktop: /** @type {import('../js/types.d.ts').Operations['launch:terminal']['answer'] | null} */ (null),
  beside: /** @type {string | null} */ (null), // the terminal shown next to a chat
  requests: /** @type {Record<string, OpenRequest>} */ (table()),
  answers: /** @type {WaitedAnswer[]} given while a machine was away, the newest first */ ([]),
  live: /** @type {Record<string, LiveSession>} */ (table()),
  tabs: /** @type {string[]} */ ([]),
  route: /** @type {Route} */ ({ name: 'start' }),
  inboxPick: /** @type {string | null} */ (null),
  requestPick: /** @type {Record<string, string>} */ (table()),
  later: /** @type {Record<string, boolean>} */ (table()),
  held: /** @type {Held[]} */ ([]),
  edits: /** @type {Record<string, import('./session/editing.js').Edit>} earlier messages being edited */ (table()),
  notes: /** @type {{id: number, text: string, tone?: string, action?: {label: string, run: () => void}}[]} */ ([]),
  confirm: /** @type {Confirmation | null} */ (null),
  side: true,
  collapsed: /** @type {string[]} */ ([]),
  unfolded: /** @type {string[]} groups of the sidebar whose older sessions are shown, too */ ([]),
  pins: /** @type {string[]} sessions a person keeps at the top */ ([]),
  notify: false, // whether this browser shows a notification when a request opens
  muted: /** @type {string[]} sessions that cause none */ ([]),
  panel: false,
  panelTab: 'changes',
  panelTurn: /** @type {number | null} */ (null),
  panelFile: /** @type {{id: string, path: string, line: number} | null} one to open in Files */ (null),
  comments: /** @type {Record<string, import('./composer/comments.js').Comment[]>} */ (table()),
  theme: 'auto',
  seen: /** @type {Record<string, number>} */ (table()),
  tick: 0,
};

/** @type {LiveSession} */
export const FIRST_LIVE = {
  queue: [],
  commands: [],
  models: [],
  edits: [],
  steps: {},
  failure: null,
  opened: false,
  error: '',
};

/**
 * The wire leaves defaults out.
 * @param {Partial<import('../js/types.d.ts').WireSessionView>} record
 * @returns {SessionRecord}
 */
export const filledRecord = (record) => ({
  session_id: '',
  titled: false,
  agent_version: null,
  created_at: '',
  updated_at: '',
  created_by: '',
  generation: 0,
  started_at: '',
  spawned: false,
  held: 0,
  cents: 0,
  tokens: 0,
  turn_tokens: 0,
  spent: {},
  raised: {},
  code: null,
  signal: null,
  kept_at: '',
  cols: null,
  rows: null,
  skip_permissions: false,
  process: '',
  agent: '',
  driver: '',
  cwd: '',
  worktree_of: null,
  device: '',
  title: '',
  phase: 'starting',
  model: null,
  mode: null,
  permission_mode: 'relay',
  open_requests: 0,
  worked_ms: 0,
  working_since: '',
  queued: 0,
  turns: 0,
  cost_usd: null,
  context_used: null,
  context_size: null,
  end_reason: null,
  end_message: null,
  ends_at: null,
  guard: null,
  capability: 'full',
  ends_for: null,
  attempt: 0,
  attempts: 0,
  agent_session_id: null,
  archived: false,
  demo: false,
  found: false,
  seq: 0,
  started_seq: 0,
  added: 0,
  removed: 0,
  forks_after: 0,
  copied_from: null,
  pull_request: null,
  ...record,
});

/** @param {{session_id: string, request_id: string}} ask */
export const requestKey = (ask) => `${ask.session_id}/${ask.request_id}`;

/**
 * Open requests that nobody has answered yet, the oldest first.
 * @param {State} state
 * @param {string} [sessionId]
 */
export function openRequests(state, sessionId) {
  const answered = new Set(waitingAnswers(state).map(answerKey));
  return Object.values(state.requests)
    .filter((ask) => ask.state === 'open' && (!sessionId || ask.session_id === sessionId))
    .filter((ask) => !answered.has(requestKey(ask)))
    .sort((a, b) => (a.opened_at < b.opened_at ? -1 : a.opened_at > b.opened_at ? 1 : a.seq - b.seq));
}

/** @param {WaitedAnswer} answer */
export const answerKey = (answer) => `${answer.sessionId}/${answer.requestId}`;

/**
 * Answers that wait for their machine, the newest first.
 * @param {State} state
 */
export const waitingAnswers = (state) => state.answers.filter((answer) => answer.state === 'waiting');

/**
 * Which session is in view, if one is.
 * @param {State} state
 * @returns {string | null}
 */
export function shownSession(state) {
  if (state.route.name === 'session') return state.route.id ?? null;
  if (state.route.name === 'inbox' && state.inboxPick) return state.inboxPick.split('/')[0];
  return null;
}

/**
 * May this browser send, answer and stop?
 * @param {State} state
 * @param {string} [sessionId]
 */
export function mayAct(state, sessionId) {
  if (!state.me || state.me.role === 'owner' || state.me.role === 'operator') return true;
  return state.me.role === 'session' && state.me.sessionId === sessionId;
}

/**
 * Was this browser let in by a link to one session, to read along?
 * @param {State} state
 */
export const isGuest = (state) => state.me?.role === 'viewer' && Boolean(state.me.sessionId);

/**
 * May this browser start sessions?
 * @param {State} state
 */
export const mayStart = (state) => !state.me || state.me.role === 'owner' || state.me.role === 'operator';
