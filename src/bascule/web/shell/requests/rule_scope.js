/** What "allow in this session" would reach, in words; the page's side of `policy/session_rules.py`. Pure. */

import { fieldsOf } from '../../js/json.js';

// Words a shell takes as they are: no quoting, expansion, redirection, assignment or second command.
const WORD = /^[A-Za-z0-9_./:@%+,=-]+$/;

// Fields the server understands; a request with any other can't be remembered (`policy/call_fields.py`).
const KNOWN = {
  execute: new Set([
    'command',
    'commands',
    'description',
    'timeout',
    'timeout_ms',
    'run_in_background',
    'cwd',
    'workdir',
    'kind',
    'threadId',
    'turnId',
    'itemId',
    'startedAtMs',
    'environmentId',
    'reason',
    'commandActions',
    'proposedExecpolicyAmendment',
    'availableDecisions',
  ]),
  read: new Set([
    'offset',
    'limit',
    'pages',
    'view_range',
    'start_line',
    'end_line',
    'cell_id',
    'description',
    'ignore',
  ]),
  edit: new Set([
    'content',
    'contents',
    'old_string',
    'new_string',
    'replace_all',
    'old_str',
    'new_str',
    'file_text',
    'insert_line',
    'edits',
    'cell_id',
    'cell_number',
    'cell_type',
    'edit_mode',
    'new_source',
    'diff',
    'description',
    'sessionId',
  ]),
};
const PATHS = new Set(['file_path', 'notebook_path', 'path', 'filepath', 'filePath', 'absolute_path']);

/**
 * The rule the server would make for this request, or null when it can't be remembered exactly.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 * @returns {{verb: string, what: string, rest: string} | null}
 */
export function scopeOf(asked) {
  const input = fieldsOf(asked.input);
  const said = Object.keys(input).filter((key) => input[key] !== null);
  if (asked.kind === 'execute') {
    const words = String(input.command ?? '').split(' ');
    if (!words.every((word) => WORD.test(word)) || words[0].includes('=')) return null;
    if (!said.every((key) => KNOWN.execute.has(key)) || (said.includes('cwd') && said.includes('workdir'))) return null;
    return { verb: 'Allow', what: words.join(' '), rest: 'in this session' };
  }
  if (asked.kind === 'edit' || asked.kind === 'read') {
    const known = asked.kind === 'edit' ? KNOWN.edit : KNOWN.read;
    const paths = said.filter((key) => PATHS.has(key));
    if (paths.length !== 1 || !said.every((key) => PATHS.has(key) || known.has(key))) return null;
    const path = String(input[paths[0]]);
    if (!path.startsWith('/') || /\/\.{0,2}(\/|$)/.test(path)) return null;
    if ((asked.blocked_path ?? null) !== null && asked.blocked_path !== path) return null;
    return {
      verb: asked.kind === 'edit' ? 'Allow edits of' : 'Allow reading',
      what: path.split('/').pop() ?? path,
      rest: 'in this session',
    };
  }
  if (asked.kind === 'plan' || asked.tool === asked.kind) return null;
  return { verb: 'Allow', what: asked.tool, rest: 'with exactly this, in this session' };
}

/**
 * What Bascule says an agent wants.
 * @param {string} agent
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 */
export function requestTitle(agent, asked) {
  switch (asked.kind) {
    case 'execute':
      return `${agent} wants to run a command`;
    case 'edit':
      return `${agent} wants to ${asked.tool === 'Write' ? 'write' : 'edit'} a file`;
    case 'read':
      return `${agent} wants to read a file`;
    case 'search':
      return `${agent} wants to search`;
    case 'fetch':
      return `${agent} wants to fetch a web page`;
    case 'plan':
      return `${agent} has a plan`;
    case 'agent':
      return `${agent} wants to start a sub-agent`;
    default:
      return String(asked.tool).startsWith('mcp__')
        ? `${agent} wants to use an outside tool`
        : `${agent} wants to use a tool`;
  }
}

/**
 * The short form for lists.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 */
export function requestWords(asked) {
  switch (asked.kind) {
    case 'execute':
      return 'Run a command';
    case 'edit':
      return asked.tool === 'Write' ? 'Write a file' : 'Edit a file';
    case 'read':
      return 'Read a file';
    case 'fetch':
      return 'Fetch a web page';
    case 'plan':
      return 'Go ahead with a plan';
    default:
      return 'Use a tool';
  }
}
