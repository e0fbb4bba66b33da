// Made by web/page_types.py from the model's structs. Do not edit.

export interface SessionStarted {
  type: 'session_started';
  agent: string;
  driver: string;
  cwd: string;
  by: string;
  device?: string;
  model?: string | null;
  permission_mode?: string;
  mode?: string | null;
  resumed_from?: string | null;
  forked?: boolean;
  demo?: boolean;
  cols?: number | null;
  rows?: number | null;
  skip_permissions?: boolean;
  process?: string;
  worktree_of?: string | null;
  found?: boolean;
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

export interface SessionEnding {
  type: 'session_ending';
  reason: 'closed' | 'exited' | 'killed' | 'idle_limit' | 'time_limit' | 'size_limit' | 'lost' | 'disconnected' | 'elsewhere';
  by: string;
}

export interface SessionEnded {
  type: 'session_ended';
  reason: 'closed' | 'exited' | 'killed' | 'idle_limit' | 'time_limit' | 'size_limit' | 'lost' | 'disconnected' | 'elsewhere';
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
}

export interface Interrupted {
  type: 'interrupted';
  by: string;
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

export interface ToolStarted {
  type: 'tool_started';
  tool_id: string;
  name: string;
  title: string;
  kind?: 'execute' | 'edit' | 'read' | 'search' | 'fetch' | 'think' | 'agent' | 'plan' | 'question' | 'other';
  input?: any;
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
  input: any;
  input_sha256: string;
  options: PermissionOption[];
  tool_id?: string | null;
  note?: string;
  blocked_path?: string | null;
  suggestions?: any[];
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
  input: any;
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
  rule: any;
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
  input: any;
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
  permission_mode: string;
  agent_session_id: string | null;
  agent_version: string | null;
  created_at: string;
  updated_at: string;
  created_by: string;
  seq: number;
  started_at: string;
  started_seq: number;
  spawned: boolean;
  open_requests: number;
  queued: number;
  turns: number;
  cost_usd: number | null;
  context_used: number | null;
  context_size: number | null;
  end_reason: string | null;
  end_message: string | null;
  code: number | null;
  signal: number | null;
  attempt: number;
  attempts: number;
  archived: boolean;
  demo: boolean;
  cols: number | null;
  rows: number | null;
  skip_permissions: boolean;
  process: string;
  worktree_of: string | null;
  added: number;
  removed: number;
  pull_request: string | null;
  found: boolean;
}

export interface RequestRecord {
  session_id: string;
  request_id: string;
  kind: 'permission' | 'question';
  state: 'open' | 'answered' | 'delivered' | 'confirmed' | 'withdrawn';
  input_sha256: string;
  asked: any;
  opened_at: string;
  seq: number;
  tool_id?: string | null;
  answer?: PermissionAnswered | QuestionAnswered | null;
  answered_at?: string | null;
  answered_by?: string | null;
  reason?: string | null;
}

export interface AgentInfo {
  name: string;
  title: string;
  available: boolean;
  version?: string | null;
  path?: string | null;
  problem?: string | null;
  demo?: boolean;
  models?: string[];
  modes?: string[];
  drivers?: string[];
  signed_in?: 'yes' | 'no' | 'unknown' | null;
  login?: string;
  skips_permissions?: boolean;
  status?: 'idle' | 'starting' | 'connected' | 'disconnected' | 'reconnecting';
  unasked?: Record<string, string[]>;
  forks?: boolean;
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

export interface QuestionOption {
  label: string;
  description?: string;
  preview?: string | null;
}

export type Event = SessionStarted | AgentSpawned | SessionReady | SessionEnding | SessionEnded | ReconnectScheduled | SessionFailed | PromptQueued | PromptEdited | PromptsReordered | PromptWithdrawn | PromptSent | TurnEnded | Interrupted | EntryOpened | TextAppended | EntryClosed | ToolStarted | ToolChanged | PlanChanged | PermissionRequested | PermissionAnswered | PermissionWithdrawn | QuestionAsked | QuestionAnswered | QuestionWithdrawn | AnswerDelivered | RuleAdded | TitleChanged | ArchivedChanged | ModeChanged | PermissionModeChanged | ModelChanged | CommandsChanged | ModelsChanged | UsageChanged | StderrWritten | Note | Unrecognised | TerminalResized | Bell;

export type Entry = PromptEntry | TextEntry | ToolEntry | PlanEntry | RequestEntry | TurnEntry | EventEntry;

export interface Logged {
  seq: number;
  at: string;
  event: Event;
}
