// Made by web/page_types.py from the model's structs and the operations. Do not edit.

export interface SessionStarted {
  type: 'session_started';
  agent: string;
  driver: string;
  cwd: string;
  by: string;
  device?: string;
  resumed_from?: string | null;
  forked?: boolean;
  forked_at?: string | null;
  copied_from?: CopiedFrom | null;
  demo?: boolean;
  process?: string;
  worktree_of?: string | null;
  found?: boolean;
  model?: string | null;
  permission_mode?: 'relay' | 'auto_read' | 'auto' | 'deny';
  mode?: string | null;
  cols?: number | null;
  rows?: number | null;
  capability?: 'read_only' | 'sandboxed' | 'project_scoped' | 'full' | null;
  skip_permissions?: boolean;
}

export interface AgentSpawned {
  type: 'agent_spawned';
  pid: number;
  argv0: string;
}

export interface SessionReady {
  type: 'session_ready';
  agent_session_id?: string | null;
  model?: string | null;
  version?: string | null;
  mode?: string | null;
}

export interface EndScheduled {
  type: 'end_scheduled';
  at: string;
  reason: 'idle_limit' | 'time_limit';
}

export interface EndCancelled {
  type: 'end_cancelled';
  by?: string;
}

export interface SessionEnding {
  type: 'session_ending';
  reason: 'closed' | 'exited' | 'killed' | 'user_terminated' | 'idle_limit' | 'time_limit' | 'size_limit' | 'lost' | 'disconnected' | 'elsewhere';
  by: string;
}

export interface SessionEnded {
  type: 'session_ended';
  reason: 'closed' | 'exited' | 'killed' | 'user_terminated' | 'idle_limit' | 'time_limit' | 'size_limit' | 'lost' | 'disconnected' | 'elsewhere';
  code?: number | null;
  signal?: number | null;
  message?: string | null;
}

export interface ReconnectScheduled {
  type: 'reconnect_scheduled';
  attempt: number;
  attempts: number;
  seconds?: number;
  message?: string;
}

export interface SessionFailed {
  type: 'session_failed';
  reason: string;
  message: string;
  stderr_tail?: string;
  code?: number | null;
  signal?: number | null;
}

export interface PromptQueued {
  type: 'prompt_queued';
  prompt_id: string;
  text: string;
  by: string;
  client_message_id?: string | null;
  images?: Image[];
  held?: boolean;
}

export interface PromptEdited {
  type: 'prompt_edited';
  prompt_id: string;
  text: string;
  by: string;
}

export interface PromptsReordered {
  type: 'prompts_reordered';
  order: string[];
  by: string;
}

export interface PromptWithdrawn {
  type: 'prompt_withdrawn';
  prompt_id: string;
  by: string;
}

export interface QueueHeld {
  type: 'queue_held';
  by: string;
}

export interface QueueReleased {
  type: 'queue_released';
  by: string;
  prompt_ids?: string[];
}

export interface PromptSent {
  type: 'prompt_sent';
  prompt_id: string;
  text: string;
  by: string;
  client_message_id?: string | null;
  images?: Image[];
}

export interface TurnEnded {
  type: 'turn_ended';
  stop_reason: 'end_turn' | 'interrupted' | 'error' | 'max_tokens' | 'refusal' | 'other';
  usage?: Usage | null;
  cost_usd?: number | null;
  duration_ms?: number | null;
  message?: string | null;
  fork_at?: string | null;
}

export interface Interrupted {
  type: 'interrupted';
  by: string;
}

export interface GuardAsked {
  type: 'guard_asked';
  guard_id: string;
  kind: 'session_cents' | 'session_tokens' | 'project_cents' | 'project_tokens' | 'day_cents' | 'day_tokens' | 'loop';
  text: string;
  spent?: number;
  allowed?: number;
  cut_short?: boolean;
}

export interface GuardAnswered {
  type: 'guard_answered';
  guard_id: string;
  decision: 'go_on' | 'end';
  by: string;
  allowed?: number;
}

export interface EntryOpened {
  type: 'entry_opened';
  entry_id: string;
  kind: 'assistant' | 'thinking';
  parent?: string | null;
}

export interface TextAppended {
  type: 'text_appended';
  entry_id: string;
  kind: 'assistant' | 'thinking';
  text: string;
}

export interface EntryClosed {
  type: 'entry_closed';
  entry_id: string;
}

export interface TextSaid {
  type: 'text_said';
  entry_id: string;
  kind: 'assistant' | 'thinking';
  text: string;
  parent?: string | null;
}

export interface ToolStarted {
  type: 'tool_started';
  tool_id: string;
  name: string;
  title: string;
  kind?: 'execute' | 'edit' | 'read' | 'search' | 'fetch' | 'think' | 'agent' | 'plan' | 'question' | 'other';
  input?: unknown;
  parent?: string | null;
}

export interface ToolChanged {
  type: 'tool_changed';
  tool_id: string;
  status: 'running' | 'done' | 'failed' | 'denied';
  output?: string;
  diffs?: Diff[];
  locations?: Location[];
  images?: Image[];
}

export interface PlanChanged {
  type: 'plan_changed';
  items: PlanItem[];
}

export interface PermissionRequested {
  type: 'permission_requested';
  request_id: string;
  tool: string;
  title: string;
  kind: 'execute' | 'edit' | 'read' | 'search' | 'fetch' | 'think' | 'agent' | 'plan' | 'question' | 'other';
  input: unknown;
  input_sha256: string;
  options: PermissionOption[];
  tool_id?: string | null;
  note?: string;
  blocked_path?: string | null;
  suggestions?: unknown[];
  reason_follows?: boolean;
}

export interface PermissionAnswered {
  type: 'permission_answered';
  request_id: string;
  decision: 'allow' | 'deny';
  by: string;
  option?: string | null;
  rule?: string | null;
  message?: string | null;
  rule_ids?: string[];
}

export interface PermissionWithdrawn {
  type: 'permission_withdrawn';
  request_id: string;
  reason: string;
}

export interface QuestionAsked {
  type: 'question_asked';
  request_id: string;
  questions: Question[];
  input: unknown;
  input_sha256: string;
  tool_id?: string | null;
}

export interface QuestionAnswered {
  type: 'question_answered';
  request_id: string;
  by: string;
  answers?: Record<string, string>;
  notes?: Record<string, string>;
  message?: string | null;
}

export interface QuestionWithdrawn {
  type: 'question_withdrawn';
  request_id: string;
  reason: string;
}

export interface AnswerDelivered {
  type: 'answer_delivered';
  request_id: string;
}

export interface RuleAdded {
  type: 'rule_added';
  rule: unknown;
  words: string;
  by: string;
}

export interface TitleChanged {
  type: 'title_changed';
  title: string;
  by?: string;
}

export interface ArchivedChanged {
  type: 'archived_changed';
  archived: boolean;
  by: string;
}

export interface ModeChanged {
  type: 'mode_changed';
  mode: string;
  by?: string;
}

export interface PermissionModeChanged {
  type: 'permission_mode_changed';
  mode: 'relay' | 'auto_read' | 'auto' | 'deny';
  by: string;
}

export interface ModelChanged {
  type: 'model_changed';
  model: string;
  by?: string;
}

export interface CommandsChanged {
  type: 'commands_changed';
  commands: SlashCommand[];
}

export interface ModelsChanged {
  type: 'models_changed';
  models: ModelChoice[];
}

export interface UsageChanged {
  type: 'usage_changed';
  used?: number | null;
  size?: number | null;
  cost_usd?: number | null;
}

export interface StderrWritten {
  type: 'stderr_written';
  text: string;
  dropped?: number;
}

export interface Note {
  type: 'note';
  code: string;
  text: string;
  level?: 'info' | 'warning' | 'error';
}

export interface Unrecognised {
  type: 'unrecognised';
  raw: string;
  reason: string;
  length?: number;
  sha256?: string;
}

export interface TerminalResized {
  type: 'terminal_resized';
  cols: number;
  rows: number;
  by?: string;
}

export interface Bell {
  type: 'bell';
}

export interface PromptEntry {
  kind: 'prompt';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  prompt_id: string;
  text: string;
  by: string;
  client_message_id: string | null;
  images: Image[];
}

export interface TextEntry {
  kind: 'text';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  entry_id: string;
  voice: 'assistant' | 'thinking';
  text: string;
  parent: string | null;
}

export interface ToolEntry {
  kind: 'tool';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  tool_id: string;
  name: string;
  title: string;
  tool_kind: 'execute' | 'edit' | 'read' | 'search' | 'fetch' | 'think' | 'agent' | 'plan' | 'question' | 'other';
  input: unknown;
  status: 'running' | 'done' | 'failed' | 'denied';
  output: string;
  diffs: Diff[];
  locations: Location[];
  images: Image[];
  parent: string | null;
  finished_at: string | null;
}

export interface PlanEntry {
  kind: 'plan';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  items: PlanItem[];
}

export interface RequestEntry {
  kind: 'request';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  request_id: string;
  state: 'open' | 'answered' | 'withdrawn';
  asked: PermissionRequested | QuestionAsked;
  answer: PermissionAnswered | QuestionAnswered | null;
  reason: string | null;
  settled_at: string | null;
}

export interface TurnEntry {
  kind: 'turn';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  ended: TurnEnded;
}

export interface EventEntry {
  kind: 'event';
  first_seq: number;
  last_seq: number;
  at: string;
  open: boolean;
  event: Note | StderrWritten | SessionStarted | SessionEnded | SessionFailed | Interrupted | Unrecognised;
  attempt: number;
  attempts: number;
  back: boolean;
}

export interface SessionRecord {
  session_id: string;
  agent: string;
  driver: string;
  cwd: string;
  device: string;
  title: string;
  titled: boolean;
  phase: 'starting' | 'running' | 'waiting' | 'interrupted' | 'ending' | 'ended' | 'failed';
  model: string | null;
  mode: string | null;
  permission_mode: 'relay' | 'auto_read' | 'auto' | 'deny';
  agent_session_id: string | null;
  agent_version: string | null;
  created_at: string;
  updated_at: string;
  created_by: string;
  seq: number;
  generation: number;
  started_at: string;
  started_seq: number;
  spawned: boolean;
  open_requests: number;
  worked_ms: number;
  working_since: string;
  queued: number;
  held: number;
  turns: number;
  cost_usd: number | null;
  cents: number;
  tokens: number;
  turn_tokens: number;
  spent: Record<string, Spent>;
  guard: GuardAsked | null;
  raised: Record<string, number>;
  context_used: number | null;
  context_size: number | null;
  end_reason: string | null;
  end_message: string | null;
  code: number | null;
  signal: number | null;
  attempt: number;
  attempts: number;
  ends_at: string | null;
  ends_for: string | null;
  kept_at: string;
  archived: boolean;
  demo: boolean;
  cols: number | null;
  rows: number | null;
  skip_permissions: boolean;
  capability: 'read_only' | 'sandboxed' | 'project_scoped' | 'full';
  process: string;
  worktree_of: string | null;
  added: number;
  removed: number;
  forks_after: number;
  copied_from: CopiedFrom | null;
  pull_request: string | null;
  found: boolean;
}

export interface RequestRecord {
  session_id: string;
  request_id: string;
  kind: 'permission' | 'question';
  state: 'open' | 'answered' | 'delivered' | 'confirmed' | 'withdrawn';
  input_sha256: string;
  asked: PermissionRequested | QuestionAsked;
  opened_at: string;
  seq: number;
  tool_id?: string | null;
  answer?: PermissionAnswered | QuestionAnswered | null;
  answered_at?: string | null;
  answered_by?: string | null;
  reason?: string | null;
}

export interface AnswersChanged {
  type: 'answers:changed';
}

export interface ComparisonsChanged {
  type: 'compare:changed';
}

export interface LimitsChanged {
  type: 'limits:changed';
  limits: Limits;
  configured: Limits;
  changed: string[];
}

export interface PairingsChanged {
  type: 'pairings:changed';
}

export interface ProjectAdded {
  type: 'project:added';
  project: Project;
}

export interface ProjectChanged {
  type: 'project:changed';
  project: Project;
}

export interface ProjectRemoved {
  type: 'project:removed';
  projectId: string;
}

export interface PromptsChanged {
  type: 'prompts:changed';
  promptId?: string | null;
  version?: number | null;
}

export interface RulesChanged {
  type: 'rules:changed';
}

export interface ServerRestored {
  type: 'server:restored';
  restored: Restored | null;
}

export interface UnloggedChanged {
  type: 'unlogged:changed';
}

export interface DevicesChanged {
  type: 'agent:status';
  devices: DeviceStatus[];
  device?: string | null;
  agent?: string | null;
  cliType?: string | null;
  status?: 'idle' | 'starting' | 'connected' | 'disconnected' | 'reconnecting' | null;
  message?: string | null;
}

export interface RequestChanged {
  type: 'requests:changed';
  sessionId: string;
  requestId: string;
  open: number;
  gone: boolean;
  request: RequestView;
}

export interface SessionArchived {
  type: 'session:archived';
  sessionId: string;
  archived: boolean;
}

export interface SessionChanged {
  type: 'session:changed';
  sessionId: string;
  session: WireSessionView;
}

export interface SessionCreated {
  type: 'session:created';
  sessionId: string;
  session: WireSessionView;
}

export interface SessionTitled {
  type: 'session:title-updated';
  sessionId: string;
  title: string;
}

export interface Resync {
  type: 'resync';
  sessionId: string;
  after: number;
  epoch: string;
  reason: 'slow' | 'replaced' | 'ahead';
  message?: string;
}

export interface SessionEvents {
  type: 'session:events';
  sessionId: string;
  entries: Logged[];
}

export interface SessionViewers {
  type: 'session:presence';
  sessionId: string;
  viewers: string[];
  typing: string[];
}

export interface Problem {
  type: 'error';
  error: Fault;
  sessionId?: string | null;
}

export interface Revoked {
  type: 'revoked';
}

export interface Expired {
  type: 'expired';
}

export interface Shutdown {
  type: 'shutdown';
}

export interface TerminalBegan {
  type: 'begin';
  offset: number;
  base: number;
  end: number;
  run: number;
  epoch: string;
  prelude: string;
  cols: number;
  rows: number;
  readOnly: boolean;
  over: boolean;
}

export interface TerminalReplaced {
  type: 'resync';
  reason: 'replaced' | 'ahead';
  epoch: string;
  message: string;
}

export interface TerminalSkipped {
  type: 'skipped';
  from: number;
  to: number;
  prelude: string;
}

export interface TerminalEnded {
  type: 'ended';
  code: number | null;
  signal: number | null;
  reason: string | null;
  message: string | null;
}

export interface TerminalSize {
  type: 'size';
  cols: number;
  rows: number;
  owner: boolean;
  by: string;
  rule: string;
  replies: boolean;
}

export interface TerminalTyping {
  type: 'typing';
  by: string;
}

export interface TerminalUnread {
  type: 'unread';
  bytes: number;
}

export interface AgentInfo {
  name: string;
  title: string;
  available: boolean;
  version?: string | null;
  path?: string | null;
  problem?: string | null;
  install?: string;
  demo?: boolean;
  models?: string[];
  modes?: string[];
  asking_modes?: string[];
  drivers?: string[];
  signed_in?: 'yes' | 'no' | 'unknown' | null;
  login?: string;
  skips_permissions?: boolean;
  status?: 'idle' | 'starting' | 'connected' | 'disconnected' | 'reconnecting';
  unasked?: Record<string, string[]>;
  forks?: boolean;
  forks_at?: string[];
}

export interface AuditRecord {
  action: 'session_started' | 'session_ended' | 'input' | 'permission' | 'question' | 'rule' | 'mode' | 'interrupt' | 'limit' | 'grant' | 'worktree' | 'git' | 'refused' | 'start_asked' | 'start_decided' | 'start_refused' | 'start_unusual' | 'restored';
  actor: string;
  session_id?: string | null;
  grant_id?: string;
  address?: string;
  user_agent?: string;
  request_id?: string | null;
  decision?: string | null;
  input_sha256?: string | null;
  detail?: string;
  via?: string;
}

export interface Empty {
}

export interface AddressList {
  addresses: ServerAddress[];
}

export interface ListConversations {
  agent: string;
}

export interface Conversations {
  conversations: Conversation[];
  more: boolean;
}

export interface ListAgents {
  refresh?: boolean;
}

export interface AgentList {
  agents: AgentInfo[];
}

export interface AnswerList {
  answers: AnswerView[];
}

export interface AnswerNamed {
  sessionId: string;
  answerId: string;
}

export interface Done {
}

export interface AuditQuery {
  device?: string | null;
  chain?: number | null;
  after?: number;
  limit?: number;
}

export interface AuditPage {
  records: AuditRow[];
  last: number;
}

export interface AuditNamed {
  device?: string | null;
}

export interface AuditVerdict {
  ok: boolean;
  count: number;
  bad: number | null;
  problem: string | null;
  copies: AuditCopy[];
}

export interface ReadContestant {
  comparisonId: string;
  sessionId: string;
}

export interface ContestantChanges {
  branch: string | null;
  files: FileChange[];
  cut: boolean;
  problem: string | null;
  ignored: number;
}

export interface KeepContestant {
  comparisonId: string;
  sessionId: string;
}

export interface Kept {
  files: number;
  words: string;
}

export interface ListComparisons {
}

export interface Comparisons {
  comparisons: Comparison[];
}

export interface RemoveTrees {
  comparisonId: string;
  sessionIds: string[];
  confirm?: boolean;
}

export interface TreesRemoved {
  trees: TreeRemoval[];
  comparison: Comparison;
}

export interface ReadComparison {
  comparisonId: string;
}

export interface Comparison {
  id: string;
  title: string;
  prompt: string;
  folder: string;
  top: string;
  base: string;
  baseBranch?: string | null;
  dirty?: number;
  createdAt: string;
  createdBy: string;
  contestants: Contestant[];
  kept?: string | null;
  keptAt?: string | null;
}

export interface CompareBody {
  prompt: string;
  agents: EntrantBody[];
  cwd?: string | null;
  projectId?: string | null;
  images?: SentImage[];
  permissionMode?: 'relay' | 'auto_read' | 'auto' | 'deny';
  title?: string | null;
}

export interface DevicesTold {
  devices: DeviceOutcome[];
}

export interface DeviceNamed {
  deviceId: string;
}

export interface DeviceList {
  devices: DeviceStatus[];
}

export interface DeviceRename {
  deviceId: string;
  name: string;
}

export interface DeviceStatus {
  device: string;
  name: string;
  version: string;
  online: boolean;
  epoch: number;
  agents: AgentInfo[];
  state: 'online' | 'stale' | 'away';
  lastHeard: string | null;
  paused: boolean;
  pausedByOwner: boolean;
  storageProblem: string | null;
  roots: string[];
  running: number;
  skewMs: number;
  needsUpdate: boolean;
  startsByItself: boolean | null;
  starts: StartsState;
  levels: ('read_only' | 'sandboxed' | 'project_scoped' | 'full')[];
  ownerOnly: boolean;
  replacedBy: string;
}

export interface DirectoryQuery {
  path?: string | null;
  prefix?: string | null;
  limit?: number;
}

export interface Directories {
  path?: string | null;
  files?: number | null;
  directories?: string[] | null;
  cut?: boolean;
}

export interface RecentDirectories {
  directories: string[];
  folders: RecentFolder[];
}

export interface FoundNamed {
  sessionId: string;
}

export interface ListFound {
  limit?: number;
  wait?: boolean;
}

export interface FoundEverywhere {
  sessions: FoundItem[];
  total: number;
  looking: Looking;
  missing: MissingDevice[];
}

export interface GrantBody {
  name: string;
  role: 'owner' | 'operator' | 'viewer' | 'session' | 'daemon';
  sessionId?: string | null;
  device?: string | null;
  expiresIn?: number | null;
}

export interface GrantMade {
  grant: GrantView;
  token: string;
  link: string;
}

export interface GrantList {
  grants: GrantView[];
}

export interface GrantRename {
  grantId: string;
  name: string;
}

export interface GrantNamed {
  grantId: string;
}

export interface Hello {
  name: string;
  formerNames: string[];
  role: string;
  sessionId: string | null;
  grantId: string;
  madeBy: string;
  expiresAt: string | null;
  version: string;
  waits: Waits;
  boot: string;
  epoch: string;
  device: string;
  restored: Restored | null;
}

export interface EndedEverywhere {
  ended: number;
  devices: DeviceOutcome[];
}

export interface OfferNamed {
  offerId: string;
}

export interface OfferedPrompt {
  origin: string;
  prompt: string;
  mode: string | null;
  agent: string | null;
  cwd: string | null;
}

export interface LaunchTerminal {
  terminal: string;
  rule: string;
  problem: string;
}

export interface LimitsBody {
  limits: Record<string, number | null>;
}

export interface LimitsView {
  limits: Limits;
  configured: Limits;
  changed: string[];
}

export interface LinkBody {
  name?: string;
  role?: 'owner' | 'operator' | 'viewer';
}

export interface LinkMade {
  link: string;
  secret: string;
  expiresIn: number;
  addresses: ServerAddress[];
}

export interface ActiveBody {
  active: boolean;
}

export interface ChannelAdd {
  service: 'webhook' | 'ntfy' | 'slack' | 'discord' | 'telegram' | 'gotify';
  name: string;
  url: string;
  secret?: string;
  chat?: string;
  kinds?: ('approval' | 'question' | 'ended' | 'finished' | 'limit' | 'machine')[];
  projects?: string[];
  showCommands?: boolean;
}

export interface NotificationsView {
  channels: ChannelView[];
  quietStart: string;
  quietEnd: string;
  finishedMinutes: number;
  timeZone: string;
  pushKey: string;
  pushProblem: string;
  ownChannel: string | null;
}

export interface ChannelChange {
  channelId: string;
  name?: string | null;
  enabled?: boolean | null;
  kinds?: ('approval' | 'question' | 'ended' | 'finished' | 'limit' | 'machine')[] | null;
  projects?: string[] | null;
  showCommands?: boolean | null;
}

export interface ChannelNamed {
  channelId: string;
}

export interface NotifyOptions {
  quietStart?: string;
  quietEnd?: string;
  finishedMinutes?: number;
}

export interface PushSubscribe {
  endpoint: string;
  p256dh: string;
  auth: string;
}

export interface ChannelTested {
  ok: boolean;
  message: string;
}

export interface PairingAnswer {
  pairingId: string;
  code: string;
  allow: boolean;
  replaces?: string;
}

export interface PairingList {
  pairings: PairingView[];
}

export interface ProjectAdd {
  path: string;
  name?: string | null;
}

export interface Project {
  id: string;
  device: string;
  path: string;
  name: string;
  collapsed: boolean;
  addedAt: string;
  addedBy: string;
}

export interface ProjectChange {
  projectId: string;
  name?: string | null;
  collapsed?: boolean | null;
}

export interface ProjectList {
  projects: Project[];
}

export interface ProjectNamed {
  projectId: string;
}

export interface TrustFolder {
  path: string;
  trusted?: boolean;
}

export interface Directory {
  path: string;
  files?: number | null;
}

export interface ListTrusted {
}

export interface TrustedFolders {
  folders: string[];
}

export interface PromptAdd {
  content: PromptContent;
  shared?: boolean;
}

export interface PromptView {
  title: string;
  kind: 'prompt' | 'context' | 'scratch';
  projectId: string | null;
  tags: string[];
  fields: TemplateField[];
  contexts: string[];
  always: boolean;
  id: string;
  version: number;
  grantId: string;
  shared: boolean;
  favourite: boolean;
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  updatedBy: string;
  removedAt: string | null;
  excerpt: string;
  source: PromptSource | null;
  mine: boolean;
  snippet: string[];
}

export interface PromptExport {
  folder: string;
  promptIds?: string[];
}

export interface FilesOutcome {
  folder: string;
  added: FileOutcome[];
  changed: FileOutcome[];
  unchanged: FileOutcome[];
  skipped: FileOutcome[];
  cut: boolean;
}

export interface PromptImport {
  folder: string;
  projectId?: string | null;
  shared?: boolean;
}

export interface PromptsQuery {
  q?: string;
  removed?: boolean;
}

export interface PromptList {
  prompts: PromptView[];
}

export interface PromptMark {
  promptId: string;
  favourite?: boolean | null;
  shared?: boolean | null;
}

export interface PromptNamed {
  promptId: string;
}

export interface PromptSave {
  promptId: string;
  base: number;
  content: PromptContent;
}

export interface PromptShown {
  prompt: PromptView;
  content: PromptContent;
}

export interface PromptUsed {
  promptId: string;
  version: number;
  kind: 'session' | 'terminal' | 'comparison' | 'message';
  sessions?: string[];
}

export interface PromptUses {
  uses: PromptUseView[];
}

export interface PromptVersionNamed {
  promptId: string;
  version: number;
}

export interface PromptContent {
  title: string;
  kind?: 'prompt' | 'context' | 'scratch';
  projectId?: string | null;
  tags?: string[];
  fields?: TemplateField[];
  contexts?: string[];
  always?: boolean;
  delta: Delta;
}

export interface PromptVersions {
  versions: PromptVersion[];
}

export interface QrBody {
  text: string;
}

export interface QrCode {
  rows: string[];
}

export interface RequestList {
  requests: RequestView[];
}

export interface AddRule {
  rule: RuleSpec;
  replaces?: string | null;
}

export interface RuleView {
  answer: 'allow' | 'deny' | 'ask';
  toolClass: 'read' | 'edit' | 'command' | 'fetch' | 'mcp' | 'other';
  argv?: string[] | null;
  more?: boolean;
  path?: string | null;
  tool?: string | null;
  host?: string | null;
  folder?: string | null;
  sessionId?: string | null;
  agent?: string | null;
  expiresAt?: string | null;
  id: string;
  createdAt: string;
  createdBy: string;
  used?: number;
  usedAt?: string | null;
  words: string;
  expired?: boolean;
}

export interface ProposeRules {
  folder?: string | null;
}

export interface Proposals {
  proposals: Proposal[];
  read: string[];
  problems: string[];
}

export interface ListRules {
}

export interface RuleViews {
  rules: RuleView[];
  problem: string | null;
}

export interface RemoveRule {
  ruleId: string;
}

export interface TryBody {
  rule?: RuleSpec | null;
  request?: TryRequest | null;
}

export interface RuleTrial {
  dryRun?: DryRun | null;
  tried?: Tried | null;
}

export interface SearchQuery {
  q: string;
  session?: string | null;
  limit?: number;
}

export interface SearchAnswer {
  hits: SearchHitView[];
  owed: number;
  missing: MissingDevice[];
}

export interface ArchiveSession {
  sessionId: string;
  archived?: boolean;
}

export interface CastQuery {
  sessionId: string;
  offset?: number | null;
  keepSecrets?: boolean;
}

export interface CastPage {
  text: string;
  next: number | null;
}

export interface SessionBody {
  sessionId: string;
}

export interface Changes {
  branch: string | null;
  files: ChangedFile[];
  cut: boolean;
  gitProblem: string | null;
}

export interface CommitFiles {
  sessionId: string;
  message: string;
  paths?: string[];
}

export interface Committed {
  commit: string;
  branch: string | null;
  files: number;
  skipped: string[];
}

export interface CountQuery {
  archived?: boolean;
}

export interface SessionCount {
  folders: FolderSessions[];
  total: number;
  archived: number;
}

export interface CreateBody {
  model?: string | null;
  agent?: string | null;
  cwd?: string | null;
  projectId?: string | null;
  prompt?: string | null;
  images?: SentImage[];
  clientMessageId?: string | null;
  permissionMode?: 'relay' | 'auto_read' | 'auto' | 'deny';
  mode?: string | null;
  capability?: 'read_only' | 'sandboxed' | 'project_scoped' | 'full' | null;
  resume?: string | null;
  fork?: boolean;
  forkAt?: string | null;
  copiedFrom?: CopiedFrom | null;
  title?: string | null;
  driver?: 'stream_json' | 'acp' | 'codex' | 'plain' | 'terminal' | null;
  cols?: number | null;
  rows?: number | null;
  skipPermissions?: boolean;
  worktree?: boolean;
  signature?: StartSignature | null;
}

export interface Created {
  id: string;
  token: string;
  sessionId: string;
  seq: number;
  model: string | null;
  createdAt: string;
  waiting: WaitingStart | null;
}

export interface EndSession {
  sessionId: string;
}

export interface EndGiven {
  waits?: boolean;
  message?: string;
}

export interface PageQuery {
  sessionId: string;
  before?: number | null;
  after?: number | null;
  around?: number | null;
  limit?: number;
}

export interface EntriesPage {
  seq: number;
  entries: WireEntry[];
  before: number | null;
  after: number | null;
  epoch: string;
}

export interface EventsQuery {
  sessionId: string;
  after?: number;
  limit?: number;
}

export interface EventsPage {
  events: Logged[];
  last: number;
}

export interface ReadFile {
  sessionId: string;
  path?: string;
  max?: number;
}

export interface FileContent {
  path: string;
  size: number;
  modifiedAt: string;
  binary: boolean;
  cut: boolean;
  text: string;
}

export interface ListFiles {
  sessionId: string;
  path?: string;
}

export interface FileList {
  path: string;
  items: FileItem[];
  cut: boolean;
}

export interface FindFiles {
  sessionId: string;
  q: string;
  limit?: number;
}

export interface FoundFiles {
  paths: string[];
}

export interface FollowFound {
  sessionId: string;
}

export interface Followed {
  sessionId: string;
  terminal: OpenTerminal | null;
  command: string;
}

export interface AnswerGuard {
  sessionId: string;
  guardId: string;
  decision: 'go_on' | 'end';
  allowed?: number | null;
}

export interface Interrupt {
  sessionId: string;
  hold?: boolean;
}

export interface KeepSession {
  sessionId: string;
}

export interface ListQuery {
  archived?: boolean;
  live?: boolean;
  projectId?: string | null;
  folder?: string | null;
  device?: string | null;
  limit?: number;
  cursor?: string | null;
}

export interface SessionList {
  sessions: WireSessionView[];
  damaged: DamagedSession[];
  next: string | null;
}

export interface FindListeners {
  sessionId: string;
}

export interface Listening {
  running: boolean;
  listeners: Listener[];
  cut: boolean;
  shared: boolean;
  unseen: number;
}

export interface SetMode {
  sessionId: string;
  mode: string;
}

export interface SetModel {
  sessionId: string;
  model: string;
}

export interface SessionOpened {
  session: WireSessionView;
  seq: number;
  epoch: string;
  entries: WireEntry[];
  before: number | null;
  after: number | null;
  queue: PromptQueued[];
}

export interface TerminalOpened {
  id: string;
  launched: boolean;
  terminal: string;
  rule: string;
}

export interface AnswerPermission {
  sessionId: string;
  requestId: string;
  decision: 'allow' | 'deny';
  message?: string | null;
  inputSha256?: string | null;
  option?: string | null;
  remember?: boolean;
}

export interface AnswerGiven {
  waits?: boolean;
  answerId?: string;
  message?: string;
}

export interface SetPermissionMode {
  sessionId: string;
  mode: 'relay' | 'auto_read' | 'auto' | 'deny';
}

export interface OpenPullRequest {
  sessionId: string;
  repository: string;
  branch: string;
  title: string;
  body?: string;
  draft?: boolean;
}

export interface PullRequestOpened {
  url: string;
}

export interface PlanPullRequest {
  sessionId: string;
}

export interface PullRequestPlan {
  tool: 'gh' | 'glab' | null;
  repository: string;
  branch: string | null;
  title: string;
  problem: string | null;
}

export interface AnswerQuestion {
  sessionId: string;
  requestId: string;
  answers?: Record<string, string>;
  notes?: Record<string, string>;
  message?: string | null;
  inputSha256?: string | null;
}

export interface QueueBody {
  sessionId: string;
  op: 'edit' | 'reorder' | 'withdraw' | 'release' | 'discard';
  promptId?: string | null;
  text?: string | null;
  order?: string[];
}

export interface Queue {
  queue: PromptQueued[];
}

export interface ReconnectBody {
  sessionId?: string | null;
  cliType?: string | null;
}

export interface Reconnected {
  status: 'idle' | 'starting' | 'connected' | 'disconnected' | 'reconnecting';
}

export interface ResumeSession {
  sessionId: string;
  signature?: StartSignature | null;
}

export interface ShowResumeCommand {
  sessionId: string;
}

export interface ResumeCommand {
  command: string;
  argv: string[];
}

export interface RevertFile {
  sessionId: string;
  path: string;
  kept?: string | null;
}

export interface Reverted {
  path: string;
  kept: string;
}

export interface SendPrompt {
  sessionId: string;
  text: string;
  clientMessageId?: string | null;
  images?: SentImage[];
}

export interface PromptPlaced {
  promptId: string;
  state: 'sent' | 'queued';
}

export interface ShareBody {
  sessionId: string;
  name?: string | null;
  expiresIn?: number;
  keepSecrets?: boolean;
}

export interface SessionView {
  session_id: string;
  agent: string;
  driver: string;
  cwd: string;
  device: string;
  title: string;
  titled: boolean;
  phase: 'starting' | 'running' | 'waiting' | 'interrupted' | 'ending' | 'ended' | 'failed';
  mode: string | null;
  permission_mode: 'relay' | 'auto_read' | 'auto' | 'deny';
  agent_session_id: string | null;
  agent_version: string | null;
  created_at: string;
  updated_at: string;
  created_by: string;
  seq: number;
  generation: number;
  started_at: string;
  started_seq: number;
  spawned: boolean;
  open_requests: number;
  worked_ms: number;
  working_since: string;
  queued: number;
  held: number;
  turns: number;
  cost_usd: number | null;
  cents: number;
  tokens: number;
  turn_tokens: number;
  spent: Record<string, Spent>;
  guard: GuardAsked | null;
  raised: Record<string, number>;
  context_used: number | null;
  context_size: number | null;
  end_reason: string | null;
  end_message: string | null;
  code: number | null;
  signal: number | null;
  attempt: number;
  attempts: number;
  ends_at: string | null;
  ends_for: string | null;
  kept_at: string;
  archived: boolean;
  demo: boolean;
  cols: number | null;
  rows: number | null;
  skip_permissions: boolean;
  capability: 'read_only' | 'sandboxed' | 'project_scoped' | 'full';
  process: string;
  worktree_of: string | null;
  added: number;
  removed: number;
  forks_after: number;
  copied_from: CopiedFrom | null;
  pull_request: string | null;
  found: boolean;
  model: string | null;
  id: string;
  status: string;
  createdAt: string;
  lastActiveAt: string;
  cliType: string;
}

export interface StageFiles {
  sessionId: string;
  paths: string[];
  staged?: boolean;
}

export interface Subscribe {
  sessionId: string;
  after?: number | string;
  epoch?: string | null;
}

export interface Subscribed {
  seq: number;
  epoch: string;
}

export interface RenameSession {
  sessionId: string;
  title: string;
}

export interface TypingBody {
  sessionId: string;
  typing?: boolean;
}

export interface SettingsView {
  limits: Limits;
  terminal: TerminalSettings;
  roots: string[];
  configFile: string;
}

export interface BlockStarts {
  blocked?: boolean;
}

export interface DecideStart {
  startId: string;
  decision: 'approve' | 'deny' | 'block';
}

export interface ListStarts {
}

export interface StartList {
  starts: WaitingStart[];
  approval: string;
  blockedUntil: number | null;
}

export interface WithdrawStart {
  startId: string;
}

export interface TunnelNamed {
  host: string;
}

export interface TunnelList {
  tunnels: TunnelStatus[];
}

export interface TunnelBody {
  host: string;
  port: number;
}

export interface TunnelStatus {
  host: string;
  port: number;
  state: 'connecting' | 'open' | 'failed';
  message: string;
}

export interface EndProcess {
  name: string;
}

export interface PutAside {
  folder: string;
}

export interface ListUnlogged {
}

export interface UnloggedList {
  processes: UnloggedProcess[];
}

export interface TakeUpProcess {
  name: string;
}

export interface TakenUp {
  sessionIds: string[];
}

export interface JoinBody {
  url: string;
  token: string;
  mayWiden?: boolean;
}

export interface UplinkStatus {
  state: 'none' | 'connecting' | 'connected' | 'refused' | 'unreachable';
  url: string;
  hub: string;
  since: number | null;
  heardAt: number | null;
  message: string;
  mayWiden: boolean;
}

export interface UplinkQuery {
  wait?: number;
}

export interface WidenBody {
  mayWiden: boolean;
}

export interface UsageSums {
  sessions: number;
  turns: number;
  costUsd: number | null;
  agents: AgentSums[];
  devices: DeviceSums[];
  costliest: WireSessionView[];
}

export interface DaemonStatus {
  connected: boolean;
  client_id: string | null;
  capabilities: Capabilities;
  devices: DeviceStatus[];
  storage_problem: string | null;
  restored: Restored | null;
}

export interface TakeFeedback {
  agent: string;
  conversation: string;
  pid?: number;
  idle?: boolean;
}

export interface TakenFeedback {
  promptId?: string;
  text?: string;
}

export interface AwaitFeedback {
  agent: string;
  conversation: string;
  pid?: number;
}

export interface FeedbackNews {
  state: 'ready' | 'nothing' | 'over';
}

export interface RedeemBody {
  secret: string;
  name?: string;
}

export interface LinkRedeemed {
  token: string;
  name: string;
  role: string;
}

export interface DenyBody {
  token: string;
}

export interface PairingBody {
  device: string;
  name: string;
  user: string;
  version: string;
  agents?: string[];
}

export interface PairingAsked {
  code: string;
  secret: string;
  expiresIn: number;
}

export interface PairingPoll {
  secret: string;
  wait?: number;
}

export interface PairingState {
  state: 'waiting' | 'allowed' | 'denied';
  token: string | null;
  by: string;
}

export interface SpawnBody {
  prompt: string;
  cwd: string;
  harness?: string | null;
  model?: string | null;
  permission_mode?: 'relay' | 'auto_read' | 'auto' | 'deny';
  capability?: 'read_only' | 'sandboxed' | 'project_scoped' | 'full' | null;
  resume_session_id?: string | null;
}

export interface Spawned {
  session_id: string;
  status: string;
  harness: string;
}

export interface ReadStartLink {
  token: string;
}

export interface StartByLink {
  device: string;
  start: WaitingStart;
  blockSeconds: number;
}

export interface AnswerStartLink {
  token: string;
  decision: 'approve' | 'deny' | 'block';
}

export interface TicketBody {
  purpose?: 'socket' | 'stream' | 'terminal' | 'export';
  sessionId?: string | null;
}

export interface TicketMade {
  ticket: string;
  expiresIn: number;
}

export interface Health {
  status: string;
}

export interface CopiedFrom {
  session: string;
  seq: number;
}

export interface Image {
  media_type: string;
  data: string;
}

export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
}

export interface Diff {
  path: string;
  patch: string;
  added?: number;
  removed?: number;
}

export interface Location {
  path: string;
  line?: number | null;
}

export interface PlanItem {
  text: string;
  status?: 'pending' | 'in_progress' | 'completed';
  active_form?: string | null;
}

export interface PermissionOption {
  option_id: string;
  kind: 'allow_once' | 'allow_always' | 'deny';
  name: string;
  scope?: string;
}

export interface Question {
  question: string;
  header?: string;
  options?: QuestionOption[];
  multi_select?: boolean;
}

export interface SlashCommand {
  name: string;
  description?: string;
  hint?: string;
}

export interface ModelChoice {
  value: string;
  name?: string;
  description?: string;
}

export interface Spent {
  cents?: number;
  tokens?: number;
}

export interface Limits {
  spawns_per_minute?: number;
  inputs_per_minute?: number;
  sessions?: number;
  session_seconds?: number;
  idle_seconds?: number;
  output_bytes?: number;
  permission_seconds?: number;
  question_seconds?: number;
  prompt_chars?: number;
  start_seconds?: number;
  session_cents?: number;
  session_tokens?: number;
  project_cents?: number;
  project_tokens?: number;
  day_cents?: number;
  day_tokens?: number;
  loop_repeats?: number;
  quiet_seconds?: number;
}

export interface Restored {
  at: string;
  records: number;
  backupAt: string | null;
  machines: SentAgain[];
}

export interface RequestView {
  session_id: string;
  request_id: string;
  kind: 'permission' | 'question';
  state: 'open' | 'answered' | 'delivered' | 'confirmed' | 'withdrawn';
  input_sha256: string;
  asked: PermissionRequested | QuestionAsked;
  opened_at: string;
  seq: number;
  tool_id?: string | null;
  answer?: PermissionAnswered | QuestionAnswered | null;
  answered_at?: string | null;
  answered_by?: string | null;
  reason?: string | null;
  session_title?: string;
  waitingAnswer?: WaitingAnswerView | null;
}

export interface ServerAddress {
  kind: 'public' | 'network' | 'loopback';
  url: string;
}

export interface Conversation {
  id: string;
  title?: string;
  cwd?: string;
  updatedAt?: string;
  session?: string | null;
}

export interface AnswerView {
  id: string;
  device: string;
  deviceName: string;
  sessionId: string;
  sessionTitle: string;
  requestId: string;
  decision: string;
  by: string;
  at: string;
  expiresAt: string | null;
  sentAt: string | null;
  state: 'waiting' | 'applied' | 'refused' | 'expired' | 'revoked' | 'taken_back';
  outcome: string;
  settledAt: string | null;
  mayTakeBack: boolean;
}

export interface AuditCopy {
  device: string;
  name: string;
  chain: number;
  current: boolean;
  count: number;
  beganAt: string;
  copiedAt: string;
  brokenAt: number | null;
  problem: string | null;
  differsAt: number | null;
}

export interface FileChange {
  path: string;
  status: 'modified' | 'added' | 'deleted' | 'untracked' | 'conflict';
  added: number;
  removed: number;
  patch: string;
  cut: boolean;
  binary: boolean;
  staged: boolean;
}

export interface TreeRemoval {
  sessionId: string;
  removed: boolean;
  branch: string | null;
  words: string;
}

export interface Contestant {
  sessionId: string;
  agent: string;
  model?: string | null;
  tree: string;
  cwd: string;
  branch: string;
  gitDir?: string;
  state?: 'planned' | 'there' | 'removed';
  problem?: string | null;
}

export interface EntrantBody {
  agent: string;
  model?: string | null;
}

export interface SentImage {
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  data: string;
}

export interface DeviceOutcome {
  device: string;
  name: string;
  outcome: 'done' | 'waiting' | 'refused';
  ended: number;
  message: string;
}

export interface StartsState {
  approval?: string;
  blockedUntil?: number | null;
  waiting?: WaitingStart[];
}

export interface RecentFolder {
  path: string;
  device: string;
}

export interface FoundItem {
  sessionId: string;
  agent: string;
  title: string;
  cwd: string;
  createdAt: string;
  updatedAt: string;
  messages: number;
  costUsd: number | null;
  model: string | null;
  phase: string;
  queued: number;
  archived: boolean;
  terminal: OpenTerminal | null;
  command: string;
  device: string;
}

export interface Looking {
  running: boolean;
  done: number;
  total: number;
  problems: number;
}

export interface MissingDevice {
  device: string;
  name: string;
  lastHeard: string | null;
}

export interface GrantView {
  id: string;
  name: string;
  role: string;
  sessionId: string | null;
  device: string | null;
  kind: string;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  openStreams: number;
}

export interface Waits {
  permission: number;
  question: number;
}

export interface ChannelView {
  id: string;
  type: 'push' | 'command' | 'desktop' | 'webhook' | 'ntfy' | 'slack' | 'discord' | 'telegram' | 'gotify';
  name: string;
  host: string;
  enabled: boolean;
  kinds: ('approval' | 'question' | 'ended' | 'finished' | 'limit' | 'machine')[];
  projects: string[];
  showCommands: boolean;
  mine: boolean;
  hasSecret: boolean;
  problem: string;
  deliveredAt: string | null;
  failedAt: string | null;
  nextTryAt: string | null;
  waiting: number;
  givenUp: number;
}

export interface PairingView {
  id: string;
  code: string;
  device: string;
  name: string;
  user: string;
  version: string;
  address: string;
  agents: string[];
  expiresIn: number;
  known: boolean;
}

export interface TemplateField {
  name: string;
  kind?: 'text' | 'number' | 'choice' | 'choices' | 'file' | 'folder' | 'code' | 'literal';
  hint?: string;
  choices?: string[];
  default?: string;
}

export interface PromptSource {
  device: string;
  path: string;
  sha256: string;
}

export interface FileOutcome {
  path: string;
  promptId: string | null;
  problem: string | null;
}

export interface PromptUseView {
  version: number;
  kind: 'session' | 'terminal' | 'comparison' | 'message';
  sessionId: string | null;
  at: string;
  by: string;
  title: string;
}

export interface Delta {
  ops: DeltaOp[];
}

export interface PromptVersion {
  version: number;
  title: string;
  at: string;
  by: string;
}

export interface RuleSpec {
  answer: 'allow' | 'deny' | 'ask';
  toolClass: 'read' | 'edit' | 'command' | 'fetch' | 'mcp' | 'other';
  argv?: string[] | null;
  more?: boolean;
  path?: string | null;
  tool?: string | null;
  host?: string | null;
  folder?: string | null;
  sessionId?: string | null;
  agent?: string | null;
  expiresAt?: string | null;
}

export interface Proposal {
  source: string;
  text: string;
  answer: 'allow' | 'deny' | 'ask';
  rule: RuleSpec | null;
  words: string;
  problem: string | null;
  known: boolean;
}

export interface TryRequest {
  toolClass?: 'read' | 'edit' | 'command' | 'fetch' | 'mcp' | 'other';
  text: string;
  folder?: string | null;
  agent?: string | null;
}

export interface DryRun {
  words: string;
  looked: number;
  fits: number;
  differs: number;
  requests: PastAnswer[];
  cut: boolean;
}

export interface Tried {
  answer: 'allow' | 'deny' | 'ask';
  why: string;
  parts: TriedPart[];
}

export interface SearchHitView {
  sessionId: string;
  title: string;
  firstSeq: number;
  snippet: string[];
  at: string;
  kind: string;
  archived: boolean;
  found: boolean;
  device: string;
}

export interface ChangedFile {
  path: string;
  status: 'modified' | 'added' | 'deleted' | 'untracked' | 'conflict' | 'edited';
  added: number;
  removed: number;
  patch: string;
  cut: boolean;
  binary: boolean;
  staged: boolean;
  source: 'session' | 'git' | 'both';
  edits: number[];
}

export interface FolderSessions {
  path: string;
  device: string;
  sessions: number;
}

export interface StartSignature {
  key: string;
  at: number;
  nonce: string;
  mac: string;
}

export interface WaitingStart {
  id: string;
  sessionId: string;
  what: string;
  folder: string;
  words: string;
  by: string;
  browser: string;
  address: string;
  via?: string;
  askedAt: number;
  expiresAt: number;
  reasons?: string[];
  state?: 'waiting' | 'starting' | 'denied' | 'expired' | 'failed';
  plain?: boolean;
  message?: string;
}

export interface FileItem {
  name: string;
  kind: 'folder' | 'file' | 'link' | 'other';
  size: number;
  modifiedAt: string;
}

export interface OpenTerminal {
  pid: number;
  status: 'idle' | 'waiting' | 'working';
  waitingFor?: string;
  listens?: boolean;
}

export interface DamagedSession {
  sessionId: string;
  message: string;
}

export interface Listener {
  address: string;
  port: number;
  loopback: boolean;
  pid: number;
  process: string;
}

export interface TerminalSettings {
  tape_bytes?: number;
  shelf_bytes?: number;
  size_owner?: 'smallest' | 'typing';
  silent_seconds?: number;
  session_seconds?: number;
  idle_seconds?: number;
}

export interface UnloggedProcess {
  name: string;
  running: boolean;
  pid: number | null;
  argv: string[];
  cwd: string;
  startedAt: string;
  keptBytes: number;
  sessionIds: string[];
  agent: string;
  title: string;
  canTakeUp: boolean;
  problem: string;
}

export interface AgentSums {
  agent: string;
  sessions: number;
  turns: number;
  costUsd: number | null;
}

export interface DeviceSums {
  device: string;
  name: string;
  sessions: number;
  turns: number;
  costUsd: number | null;
}

export interface Capabilities {
  can_spawn_sessions: boolean;
  supported_harnesses: string[];
}

export interface QuestionOption {
  label: string;
  description?: string;
  preview?: string | null;
}

export interface SentAgain {
  device: string;
  name: string;
  rows: number;
}

export interface WaitingAnswerView {
  decision: string;
  by: string;
  at: string;
}

export interface DeltaOp {
  insert: string | Record<string, string>;
  attributes?: Record<string, string | number | number | boolean | null>;
}

export interface PastAnswer {
  sessionId: string;
  sessionTitle: string;
  requestId: string;
  agent: string;
  text: string;
  at: string;
  then: 'allow' | 'deny' | 'withdrawn' | 'open';
  by: string;
  now: 'allow' | 'deny' | 'ask';
}

export interface TriedPart {
  text: string;
  answer: 'allow' | 'deny' | 'ask' | null;
  ruleId: string | null;
  words: string;
}

export type Sparse<T, Left extends keyof T> = Omit<T, Left> & Partial<Pick<T, Left>>;

export type WirePromptEntry = Sparse<
  PromptEntry,
  | 'open'
  | 'client_message_id'
  | 'images'
>;

export type WireTextEntry = Sparse<
  TextEntry,
  | 'open'
  | 'text'
  | 'parent'
>;

export type WireToolEntry = Sparse<
  ToolEntry,
  | 'open'
  | 'tool_kind'
  | 'input'
  | 'status'
  | 'output'
  | 'diffs'
  | 'locations'
  | 'images'
  | 'parent'
  | 'finished_at'
>;

export type WirePlanEntry = Sparse<
  PlanEntry,
  | 'open'
>;

export type WireRequestEntry = Sparse<
  RequestEntry,
  | 'open'
  | 'answer'
  | 'reason'
  | 'settled_at'
>;

export type WireTurnEntry = Sparse<
  TurnEntry,
  | 'open'
>;

export type WireEventEntry = Sparse<
  EventEntry,
  | 'open'
  | 'attempt'
  | 'attempts'
  | 'back'
>;

export type WireSessionView = Sparse<
  SessionView,
  | 'agent'
  | 'driver'
  | 'cwd'
  | 'device'
  | 'title'
  | 'titled'
  | 'phase'
  | 'mode'
  | 'permission_mode'
  | 'agent_session_id'
  | 'agent_version'
  | 'created_at'
  | 'updated_at'
  | 'created_by'
  | 'seq'
  | 'generation'
  | 'started_at'
  | 'started_seq'
  | 'spawned'
  | 'open_requests'
  | 'worked_ms'
  | 'working_since'
  | 'queued'
  | 'held'
  | 'turns'
  | 'cost_usd'
  | 'cents'
  | 'tokens'
  | 'turn_tokens'
  | 'spent'
  | 'guard'
  | 'raised'
  | 'context_used'
  | 'context_size'
  | 'end_reason'
  | 'end_message'
  | 'code'
  | 'signal'
  | 'attempt'
  | 'attempts'
  | 'ends_at'
  | 'ends_for'
  | 'kept_at'
  | 'archived'
  | 'demo'
  | 'cols'
  | 'rows'
  | 'skip_permissions'
  | 'capability'
  | 'process'
  | 'worktree_of'
  | 'added'
  | 'removed'
  | 'forks_after'
  | 'copied_from'
  | 'pull_request'
  | 'found'
  | 'model'
  | 'id'
  | 'status'
  | 'createdAt'
  | 'lastActiveAt'
  | 'cliType'
>;

export type Event =
  | SessionStarted
  | AgentSpawned
  | SessionReady
  | EndScheduled
  | EndCancelled
  | SessionEnding
  | SessionEnded
  | ReconnectScheduled
  | SessionFailed
  | PromptQueued
  | PromptEdited
  | PromptsReordered
  | PromptWithdrawn
  | QueueHeld
  | QueueReleased
  | PromptSent
  | TurnEnded
  | Interrupted
  | GuardAsked
  | GuardAnswered
  | EntryOpened
  | TextAppended
  | EntryClosed
  | TextSaid
  | ToolStarted
  | ToolChanged
  | PlanChanged
  | PermissionRequested
  | PermissionAnswered
  | PermissionWithdrawn
  | QuestionAsked
  | QuestionAnswered
  | QuestionWithdrawn
  | AnswerDelivered
  | RuleAdded
  | TitleChanged
  | ArchivedChanged
  | ModeChanged
  | PermissionModeChanged
  | ModelChanged
  | CommandsChanged
  | ModelsChanged
  | UsageChanged
  | StderrWritten
  | Note
  | Unrecognised
  | TerminalResized
  | Bell;

export type Entry =
  | PromptEntry
  | TextEntry
  | ToolEntry
  | PlanEntry
  | RequestEntry
  | TurnEntry
  | EventEntry;

export type WireEntry =
  | WirePromptEntry
  | WireTextEntry
  | WireToolEntry
  | WirePlanEntry
  | WireRequestEntry
  | WireTurnEntry
  | WireEventEntry;

export type Push =
  | AnswersChanged
  | ComparisonsChanged
  | LimitsChanged
  | PairingsChanged
  | ProjectAdded
  | ProjectChanged
  | ProjectRemoved
  | PromptsChanged
  | RulesChanged
  | ServerRestored
  | UnloggedChanged
  | DevicesChanged
  | RequestChanged
  | SessionArchived
  | SessionChanged
  | SessionCreated
  | SessionTitled
  | Resync
  | SessionEvents
  | SessionViewers
  | Problem
  | Revoked
  | Expired
  | Shutdown;

export type TerminalMessage =
  | TerminalBegan
  | TerminalReplaced
  | TerminalSkipped
  | TerminalEnded
  | TerminalSize
  | TerminalTyping
  | TerminalUnread
  | Problem
  | Revoked
  | Expired
  | Shutdown;

export interface Logged {
  seq: number;
  at: string;
  event: Event;
}

export interface AuditRow {
  entry: { n: number; at: string; record: AuditRecord };
}

export interface Fault {
  code: string;
  message: string;
  [field: string]: unknown;
}

export interface Operations {
  'addresses:list': { body: Empty; answer: AddressList };
  'agents:conversations': { body: ListConversations; answer: Conversations };
  'agents:list': { body: ListAgents; answer: AgentList };
  'answers:list': { body: Empty; answer: AnswerList };
  'answers:take-back': { body: AnswerNamed; answer: Done };
  'audit:list': { body: AuditQuery; answer: AuditPage };
  'audit:verify': { body: AuditNamed; answer: AuditVerdict };
  'compare:changes': { body: ReadContestant; answer: ContestantChanges };
  'compare:keep': { body: KeepContestant; answer: Kept };
  'compare:list': { body: ListComparisons; answer: Comparisons };
  'compare:remove': { body: RemoveTrees; answer: TreesRemoved };
  'compare:show': { body: ReadComparison; answer: Comparison };
  'compare:start': { body: CompareBody; answer: Comparison };
  'daemon:pause': { body: Empty; answer: DevicesTold };
  'daemon:resume': { body: Empty; answer: DevicesTold };
  'device:forget': { body: DeviceNamed; answer: Done };
  'device:list': { body: Empty; answer: DeviceList };
  'device:rename': { body: DeviceRename; answer: { device: DeviceStatus } };
  'directories:find': { body: DirectoryQuery; answer: Directories };
  'directories:recent': { body: Empty; answer: RecentDirectories };
  'found:fetch': { body: FoundNamed; answer: Done };
  'found:list': { body: ListFound; answer: FoundEverywhere };
  'grants:create': { body: GrantBody; answer: GrantMade };
  'grants:list': { body: Empty; answer: GrantList };
  'grants:rename': { body: GrantRename; answer: Done };
  'grants:revoke': { body: GrantNamed; answer: Done };
  'hello': { body: Empty; answer: Hello };
  'kill-all': { body: Empty; answer: EndedEverywhere };
  'launch:offer': { body: OfferNamed; answer: OfferedPrompt };
  'launch:terminal': { body: Empty; answer: LaunchTerminal };
  'limits:set': { body: LimitsBody; answer: LimitsView };
  'limits:show': { body: Empty; answer: LimitsView };
  'links:create': { body: LinkBody; answer: LinkMade };
  'notifications:active': { body: ActiveBody; answer: Done };
  'notifications:add': { body: ChannelAdd; answer: NotificationsView };
  'notifications:change': { body: ChannelChange; answer: NotificationsView };
  'notifications:remove': { body: ChannelNamed; answer: NotificationsView };
  'notifications:set': { body: NotifyOptions; answer: NotificationsView };
  'notifications:show': { body: Empty; answer: NotificationsView };
  'notifications:subscribe': { body: PushSubscribe; answer: NotificationsView };
  'notifications:test': { body: ChannelNamed; answer: ChannelTested };
  'pairings:answer': { body: PairingAnswer; answer: Done };
  'pairings:list': { body: Empty; answer: PairingList };
  'ping': { body: Empty; answer: Done };
  'project:add': { body: ProjectAdd; answer: { project: Project } };
  'project:change': { body: ProjectChange; answer: { project: Project } };
  'project:list': { body: Empty; answer: ProjectList };
  'project:remove': { body: ProjectNamed; answer: Done };
  'projects:trust': { body: TrustFolder; answer: Directory };
  'projects:trusted': { body: ListTrusted; answer: TrustedFolders };
  'prompts:add': { body: PromptAdd; answer: { prompt: PromptView } };
  'prompts:export': { body: PromptExport; answer: FilesOutcome };
  'prompts:import': { body: PromptImport; answer: FilesOutcome };
  'prompts:list': { body: PromptsQuery; answer: PromptList };
  'prompts:mark': { body: PromptMark; answer: { prompt: PromptView } };
  'prompts:remove': { body: PromptNamed; answer: Done };
  'prompts:restore': { body: PromptNamed; answer: { prompt: PromptView } };
  'prompts:save': { body: PromptSave; answer: { prompt: PromptView } };
  'prompts:show': { body: PromptNamed; answer: PromptShown };
  'prompts:used': { body: PromptUsed; answer: Done };
  'prompts:uses': { body: PromptNamed; answer: PromptUses };
  'prompts:version': { body: PromptVersionNamed; answer: { content: PromptContent } };
  'prompts:versions': { body: PromptNamed; answer: PromptVersions };
  'qr': { body: QrBody; answer: QrCode };
  'requests:list': { body: Empty; answer: RequestList };
  'rules:add': { body: AddRule; answer: { rule: RuleView } };
  'rules:import': { body: ProposeRules; answer: Proposals };
  'rules:list': { body: ListRules; answer: RuleViews };
  'rules:remove': { body: RemoveRule; answer: Done };
  'rules:try': { body: TryBody; answer: RuleTrial };
  'search': { body: SearchQuery; answer: SearchAnswer };
  'session:archive': { body: ArchiveSession; answer: Done };
  'session:cast': { body: CastQuery; answer: CastPage };
  'session:changes': { body: SessionBody; answer: Changes };
  'session:commit': { body: CommitFiles; answer: Committed };
  'session:count': { body: CountQuery; answer: SessionCount };
  'session:create': { body: CreateBody; answer: Created };
  'session:end': { body: EndSession; answer: EndGiven };
  'session:entries': { body: PageQuery; answer: EntriesPage };
  'session:events': { body: EventsQuery; answer: EventsPage };
  'session:file': { body: ReadFile; answer: FileContent };
  'session:files': { body: ListFiles; answer: FileList };
  'session:find-files': { body: FindFiles; answer: FoundFiles };
  'session:follow': { body: FollowFound; answer: Followed };
  'session:guard': { body: AnswerGuard; answer: Done };
  'session:interrupt': { body: Interrupt; answer: Done };
  'session:cancel': { body: Interrupt; answer: Done };
  'session:keep': { body: KeepSession; answer: Done };
  'session:list': { body: ListQuery; answer: SessionList };
  'session:listeners': { body: FindListeners; answer: Listening };
  'session:mode': { body: SetMode; answer: Done };
  'session:model': { body: SetModel; answer: Done };
  'session:open': { body: PageQuery; answer: SessionOpened };
  'session:open-terminal': { body: SessionBody; answer: TerminalOpened };
  'session:permission': { body: AnswerPermission; answer: AnswerGiven };
  'session:permission-mode': { body: SetPermissionMode; answer: Done };
  'session:pull-request': { body: OpenPullRequest; answer: PullRequestOpened };
  'session:pull-request-plan': { body: PlanPullRequest; answer: PullRequestPlan };
  'session:question': { body: AnswerQuestion; answer: AnswerGiven };
  'session:queue': { body: QueueBody; answer: Done };
  'session:queued': { body: SessionBody; answer: Queue };
  'session:reconnect': { body: ReconnectBody; answer: Reconnected | Done };
  'session:resume': { body: ResumeSession; answer: Done };
  'session:resume-command': { body: ShowResumeCommand; answer: ResumeCommand };
  'session:revert': { body: RevertFile; answer: Reverted };
  'session:send': { body: SendPrompt; answer: PromptPlaced };
  'session:share': { body: ShareBody; answer: GrantMade };
  'session:show': { body: SessionBody; answer: { session: WireSessionView } };
  'session:stage': { body: StageFiles; answer: Done };
  'session:subscribe': { body: Subscribe; answer: Subscribed };
  'session:title': { body: RenameSession; answer: Done };
  'session:typing': { body: TypingBody; answer: Done };
  'session:unsubscribe': { body: SessionBody; answer: Done };
  'settings:show': { body: Empty; answer: SettingsView };
  'starts:block': { body: BlockStarts; answer: Done };
  'starts:decide': { body: DecideStart; answer: Done };
  'starts:list': { body: ListStarts; answer: StartList };
  'starts:withdraw': { body: WithdrawStart; answer: Done };
  'tunnels:close': { body: TunnelNamed; answer: Done };
  'tunnels:list': { body: Empty; answer: TunnelList };
  'tunnels:open': { body: TunnelBody; answer: TunnelStatus };
  'unlogged:end': { body: EndProcess; answer: PutAside };
  'unlogged:list': { body: ListUnlogged; answer: UnloggedList };
  'unlogged:take-up': { body: TakeUpProcess; answer: TakenUp };
  'uplink:join': { body: JoinBody; answer: UplinkStatus };
  'uplink:leave': { body: Empty; answer: UplinkStatus };
  'uplink:show': { body: UplinkQuery; answer: UplinkStatus };
  'uplink:widen': { body: WidenBody; answer: UplinkStatus };
  'usage:show': { body: Empty; answer: UsageSums };
}

export interface HttpOperations {
  'GET /api/daemon/status': { body: Empty; answer: DaemonStatus };
  'POST /api/feedback/take': { body: TakeFeedback; answer: TakenFeedback };
  'POST /api/feedback/wait': { body: AwaitFeedback; answer: FeedbackNews };
  'POST /api/links/redeem': { body: RedeemBody; answer: LinkRedeemed };
  'POST /api/notifications/deny': { body: DenyBody; answer: Done };
  'POST /api/pairings': { body: PairingBody; answer: PairingAsked };
  'POST /api/pairings/poll': { body: PairingPoll; answer: PairingState };
  'POST /api/sessions/spawn': { body: SpawnBody; answer: Spawned };
  'POST /api/starts/link': { body: ReadStartLink; answer: StartByLink };
  'POST /api/starts/link/answer': { body: AnswerStartLink; answer: Done };
  'POST /api/tickets': { body: TicketBody; answer: TicketMade };
  'GET /health': { body: Empty; answer: Health };
}

export type Rest<Name extends keyof Operations> =
  Omit<Operations[Name]['body'], 'sessionId'> & { key?: string };

export type InSession<Name extends keyof Operations> = (
  sessionId: string,
  ...fields: {} extends Rest<Name> ? [fields?: Rest<Name>] : [fields: Rest<Name>]
) => Promise<Operations[Name]['answer']>;
