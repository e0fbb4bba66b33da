/** What "allow in this session" would reach, in words; the page's side of `policy/rules.py`. Pure. */

// Words a shell takes as they are: no quoting, expansion, redirection, assignment or second command.
const WORD = /^[A-Za-z0-9_./:@%+,=-]+$/;

/**
 * The rule the server would make for this request, or null when it can't be remembered exactly.
 * @param {any} asked
 * @returns {{verb: string, what: string, rest: string} | null}
 */
export function scopeOf(asked) {
  const input = asked.input && typeof asked.input === 'object' ? asked.input : {};
  if (asked.kind === 'execute') {
    const words = String(input.command ?? '').split(' ');
    if (!words.every((word) => WORD.test(word)) || words[0].includes('=')) return null;
    return { verb: 'Allow', what: words.join(' '), rest: 'in this session' };
  }
  if (asked.kind === 'edit' || asked.kind === 'read') {
    const path = String(input.file_path ?? input.notebook_path ?? input.path ?? '');
    if (!path.startsWith('/') || /\/\.{0,2}(\/|$)/.test(path)) return null;
    return { verb: asked.kind === 'edit' ? 'Allow edits of' : 'Allow reading', what: path.split('/').pop() ?? path, rest: 'in this session' };
  }
  if (asked.kind === 'plan') return null;
  return { verb: 'Allow', what: asked.tool, rest: 'with exactly this, in this session' };
}

/** What Bascule says an agent wants. @param {string} agent @param {any} asked */
export function wishOf(agent, asked) {
  switch (asked.kind) {
    case 'execute': return `${agent} wants to run a command`;
    case 'edit': return `${agent} wants to ${asked.tool === 'Write' ? 'write' : 'edit'} a file`;
    case 'read': return `${agent} wants to read a file`;
    case 'search': return `${agent} wants to search`;
    case 'fetch': return `${agent} wants to open a page`;
    case 'plan': return `${agent} has a plan`;
    case 'agent': return `${agent} wants to start a helper`;
    default: return String(asked.tool).startsWith('mcp__') ? `${agent} wants to use an outside tool` : `${agent} wants to use a tool`;
  }
}

/** The short form for lists. @param {any} asked */
export function wishWords(asked) {
  switch (asked.kind) {
    case 'execute': return 'Run a command';
    case 'edit': return asked.tool === 'Write' ? 'Write a file' : 'Edit a file';
    case 'read': return 'Read a file';
    case 'fetch': return 'Open a page';
    case 'plan': return 'Go ahead with a plan';
    default: return 'Use a tool';
  }
}
