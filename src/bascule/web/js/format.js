/** How times, amounts, agents and tools are said. Pure. */

import { fieldsOf } from './json.js';
import { table } from './tables.js';

// Made once: each `toLocaleTimeString` makes such a format anew, which costs more than all the rest of a row.
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const DAY_AND_MONTH = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** @param {number} ms */
export function duration(ms) {
  const seconds = ms / 1000;
  if (seconds < 1) return `${Math.max(1, Math.round(ms))} ms`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.round(seconds % 60);
  if (minutes < 60) return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * How long something has waited: one unit is enough.
 * @param {number} ms
 */
export function waited(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/**
 * A limit, exactly as it is set: "30 min", "1 h 30 min". Rounded, it would promise time that nobody has.
 * @param {number} seconds
 */
export function limitTime(seconds) {
  const hours = Math.floor(seconds / 3600);
  const [days, rest] = hours < 48 ? [0, hours] : [Math.floor(hours / 24), hours % 24];
  const parts = [
    days && `${days} days`,
    rest && `${rest} h`,
    Math.floor(seconds / 60) % 60 && `${Math.floor(seconds / 60) % 60} min`,
    seconds % 60 && `${seconds % 60} s`,
  ];
  return parts.filter(Boolean).join(' ') || '0 s';
}

/**
 * The age of a session, as short as can be.
 * @param {string} at
 * @param {number} now
 */
export function age(at, now) {
  const seconds = (now - Date.parse(at)) / 1000;
  if (!(seconds >= 45)) return 'now';
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} m`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h`;
  if (seconds < 7 * 86400) return `${Math.round(seconds / 86400)} d`;
  return DAY_AND_MONTH.format(new Date(at));
}

/** @param {string} at */
export function clockTime(at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : CLOCK.format(date);
}

/**
 * @param {string} at
 * @param {number} now
 */
export function moment(at, now) {
  const date = new Date(at);
  if (now - date.getTime() < 20 * 3600 * 1000) return clockTime(at);
  return `${DAY_AND_MONTH.format(date)}, ${clockTime(at)}`;
}

/**
 * When something is over: "ends in 23 h", "never ends".
 * @param {string | null} at
 * @param {number} now
 */
export function endsWords(at, now) {
  if (!at) return 'never ends';
  const left = Date.parse(at) - now;
  return left > 0 ? `ends in ${waited(left)}` : 'has ended';
}

/**
 * "840", "1.2k", "92k", "1.5M"
 * @param {number} n
 */
export function shortCount(n) {
  if (n < 1000) return String(n);
  const [part, unit] = n < 999_500 ? [n / 1000, 'k'] : [n / 1_000_000, 'M'];
  return `${part < 10 ? Number(part.toFixed(1)) : Math.round(part)}${unit}`;
}

/** @param {number} n */
export const tokens = (n) => `${shortCount(n)} tokens`;

/** @param {number} n */
export function sizeWords(n) {
  const mega = n / (1024 * 1024);
  if (n < 1024) return `${n} B`;
  if (mega < 1) return `${Math.round(n / 1024)} KB`;
  return `${mega < 10 ? Number(mega.toFixed(1)) : Math.round(mega)} MB`;
}

/** @param {number} n */
export const money = (n) => (n < 0.01 ? '< $0.01' : `$${n.toFixed(2)}`);

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/**
 * "once", "twice", "3 times"
 * @param {number} n
 */
const times = (n) => (n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`);

/**
 * "third" for the banner
 * @param {number} n
 */
export const ordinal = (n) => ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'][n - 1] ?? `${n}th`;

/**
 * Whether an address means the machine it is opened on.
 * @param {string} host
 */
export const isNear = (host) => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);

/**
 * The last part of a folder's path.
 * @param {string} path
 */
export const folderName = (path) => path.replace(/\/+$/, '').split('/').pop() || path || 'this machine';

/**
 * A path as short as the folder it is seen from allows.
 * @param {string} path
 * @param {string} cwd
 */
export function nearPath(path, cwd) {
  if (cwd && path === cwd) return '.';
  return cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/**
 * Whether a file is a plan that an agent keeps for itself, as in `~/.claude/plans`: no change of the project. Whatever
 * else it wrote outside the folder is shown, above all hidden files such as `~/.bashrc`. The hub has the same rule
 * (policy/own_plans.py); tests/fixtures/own_plans.json holds both to it.
 * @param {string} path
 * @param {string} cwd
 */
export const isOwnPlan = (path, cwd) =>
  path.startsWith('/') &&
  !path.startsWith(`${cwd.replace(/\/+$/, '')}/`) &&
  /\/\.[^/.][^/]*\/plans\/[^/]+\.md$/.test(path) &&
  !path.includes('/../');

/**
 * "0.3 s", or "0.3 s · waited 17 s" where a person took their time.
 * @param {number} took both together, in milliseconds
 * @param {number} away
 */
export function workWords(took, away) {
  if (away < 1000) return took >= 1000 ? duration(took) : '';
  return `${duration(Math.max(1, took - away))} · waited ${duration(away)}`;
}

const LETTERS = table(
  /** @type {Record<string, [string, number]>} */ ({
    'claude-code': ['C', 1],
    claude: ['C', 1],
    codex: ['X', 2],
    gemini: ['G', 3],
    opencode: ['O', 4],
    demo: ['D', 5],
    aider: ['A', 2],
    cursor: ['U', 3],
    copilot: ['P', 4],
    shell: ['S', 5],
  }),
);

/**
 * The letter and tint an agent is shown with.
 * @param {string} name
 * @returns {[string, number]}
 */
export function agentMark(name) {
  if (LETTERS[name]) return LETTERS[name];
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return [(name[0] ?? '?').toUpperCase(), (sum % 5) + 1];
}

/** @type {Record<string, string>} */
export const MODE_WORDS = table({
  relay: 'Ask first',
  auto_read: 'Allow reading',
  auto: 'Allow all',
  deny: 'Deny all requests',
});

/** @type {Record<string, {icon: string, verb: string}>} */
const TOOL_WORDS = table({
  execute: { icon: 'terminal', verb: 'Run' },
  edit: { icon: 'edit', verb: 'Edit' },
  read: { icon: 'file', verb: 'Read' },
  search: { icon: 'search', verb: 'Search' },
  fetch: { icon: 'globe', verb: 'Fetch' },
  think: { icon: 'think', verb: 'Think' },
  agent: { icon: 'user', verb: 'Agent' },
  plan: { icon: 'plan', verb: 'Plan' },
  question: { icon: 'chat', verb: 'Question' },
});

/**
 * Icon, verb and target of a tool call.
 * @param {{name: string, title: string, tool_kind: string, input: unknown}} tool
 * @param {string} cwd
 */
export function toolWords(tool, cwd) {
  const input = fieldsOf(tool.input);
  const served = /^mcp__(.+?)__(.+)$/.exec(tool.name);
  const words = TOOL_WORDS[tool.tool_kind] ?? { icon: 'code', verb: served ? served[1] : tool.name };
  const path = text(input.file_path) ?? text(input.notebook_path) ?? text(input.path);
  const target =
    tool.tool_kind === 'execute'
      ? (text(input.command) ?? tool.title)
      : tool.tool_kind === 'search'
        ? (text(input.pattern) ?? text(input.query) ?? tool.title)
        : tool.tool_kind === 'fetch'
          ? (text(input.url) ?? text(input.query) ?? tool.title)
          : tool.tool_kind === 'agent'
            ? (text(input.description) ?? tool.title)
            : path !== null
              ? nearPath(path, cwd)
              : served
                ? served[2]
                : tool.title === tool.name
                  ? ''
                  : tool.title;
  const verb = tool.tool_kind === 'edit' && tool.name === 'Write' ? 'Write' : words.verb;
  return { icon: words.icon, verb, target: target.split('\n')[0] };
}

/** @param {unknown} value */
const text = (value) => (typeof value === 'string' && value ? value : null);

/**
 * "Read 6 files, searched twice"
 * @param {{tool_kind: string, name: string, input?: unknown, tool_id?: string}[]} tools
 */
export function groupWords(tools) {
  /** What was done, and to what: a file read three times is one file. @type {Map<string, Set<unknown>>} */
  const sorts = new Map();
  tools.forEach((tool, n) => {
    const sort = tool.tool_kind === 'search' && /web/i.test(tool.name) ? 'web' : tool.tool_kind;
    const input = fieldsOf(tool.input);
    const target = sort === 'read' || sort === 'edit' ? (text(input.file_path) ?? text(input.path) ?? n) : n;
    sorts.set(sort, (sorts.get(sort) ?? new Set()).add(target));
  });
  const parts = [...sorts].map(([kind, { size: n }]) => {
    switch (kind) {
      case 'read':
        return `read ${count(n, 'file')}`;
      case 'search':
        return `searched ${times(n)}`;
      case 'web':
        return n === 1 ? 'searched the web' : `searched the web ${times(n)}`;
      case 'execute':
        return `ran ${count(n, 'command')}`;
      case 'edit':
        return `edited ${count(n, 'file')}`;
      case 'fetch':
        return `fetched ${count(n, 'page')}`;
      case 'agent':
        return `asked ${count(n, 'agent')}`;
      default:
        return `used ${count(n, 'tool')}`;
    }
  });
  const line = parts.join(', ');
  return line.charAt(0).toUpperCase() + line.slice(1);
}
