/** How entries are laid out: which lines fold into one, what belongs inside a sub-agent. Pure. */

import { isOwnPlan } from '../js/format.js';

/**
 * @typedef {import('../js/types.d.ts').Entry} Entry
 * @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry
 * @typedef {{key: string, kind: 'entry' | 'group', entries: Entry[], last: boolean, inside: Block[]}} Block
 * @typedef {{
 *   tools: Map<string, ToolEntry>,
 *   plan: boolean,
 *   asked: Set<string>,
 *   waiting: Set<string>,
 *   waits: Map<string, number>,
 *   inside: Map<string, Entry[]>,
 * }} Known
 */

/**
 * @param {Entry[]} entries
 * @returns {{blocks: Block[], waiting: Set<string>, waits: Map<string, number>}} and the tool calls that wait for a
 *   person, and how long each has waited, in milliseconds
 */
export function blocksOf(entries) {
  const { known, top } = look(entries);
  return { blocks: laidOut(top, known), waiting: known.waiting, waits: known.waits };
}

/**
 * How long a request waited for a person. Unknown in what older versions logged.
 * @param {Entry} entry
 */
export function waitOf(entry) {
  if (entry.kind !== 'request' || !entry.settled_at) return 0;
  return Math.max(0, Date.parse(entry.settled_at) - Date.parse(entry.at)) || 0;
}

/**
 * @param {Entry[]} entries
 * @returns {{known: Known, top: Entry[]}}
 */
function look(entries) {
  /** @type {Known} */
  const known = {
    tools: new Map(),
    plan: false,
    asked: new Set(),
    waiting: new Set(),
    waits: new Map(),
    inside: new Map(),
  };
  for (const entry of entries) {
    if (entry.kind === 'tool') known.tools.set(entry.tool_id, entry);
    else if (entry.kind === 'plan') known.plan = true;
    else if (entry.kind === 'request') {
      const tool = entry.asked.tool_id;
      if (tool && entry.asked.type === 'question_asked') known.asked.add(tool);
      if (tool && entry.state === 'open') known.waiting.add(tool);
      if (tool) known.waits.set(tool, (known.waits.get(tool) ?? 0) + waitOf(entry));
    }
  }
  const top = entries.filter((entry) => {
    const parent = entry.kind === 'tool' || entry.kind === 'text' ? entry.parent : null;
    if (!parent || !known.tools.has(parent)) return true;
    const siblings = known.inside.get(parent);
    if (siblings) siblings.push(entry);
    else known.inside.set(parent, [entry]);
    return false;
  });
  return { known, top };
}

/**
 * @param {Entry[]} list
 * @param {Known} known
 * @returns {Block[]}
 */
function laidOut(list, known) {
  /** @type {Block[]} */
  const blocks = [];
  /** @type {ToolEntry[]} */
  let run = [];
  const flush = () => {
    if (run.length > 1)
      blocks.push({ key: `g${run[0].first_seq}`, kind: 'group', entries: run, last: false, inside: [] });
    else if (run.length) blocks.push(single(run[0], known, false));
    run = [];
  };
  const shown = list.filter((entry) => !isShownElsewhere(entry, known));
  const last = shown.findLastIndex((entry) => !standsBy(entry, known));
  shown.forEach((entry, n) => {
    if (entry.kind === 'tool' && foldable(entry) && !(n === last && entry.tool_kind === 'edit')) {
      run.push(entry);
      return;
    }
    flush();
    blocks.push(single(entry, known, n === last));
  });
  flush();
  return blocks;
}

/**
 * @param {Entry} entry
 * @param {Known} known
 * @param {boolean} last
 * @returns {Block}
 */
function single(entry, known, last) {
  const inside = entry.kind === 'tool' ? (known.inside.get(entry.tool_id) ?? []) : [];
  return {
    key: `e${entry.first_seq}`,
    kind: 'entry',
    entries: [entry],
    last,
    inside: inside.length ? laidOut(inside, known) : [],
  };
}

/**
 * Failed ones never fold; what still runs, or asks, stays in sight; pictures are worth seeing.
 * @param {ToolEntry} tool
 */
const foldable = (tool) =>
  tool.status === 'done' && !['agent', 'question', 'plan'].includes(tool.tool_kind) && !tool.images.length;

/**
 * What comes after the last edit without being the next thing said.
 * @param {Entry} entry
 * @param {Known} known
 */
const standsBy = (entry, known) =>
  entry.kind === 'plan' || entry.kind === 'request' || (entry.kind === 'tool' && known.waiting.has(entry.tool_id));

/**
 * A request is shown by its tool, a question by its request, a change of the plan by the plan.
 * @param {Entry} entry
 * @param {Known} known
 */
function isShownElsewhere(entry, known) {
  if (entry.kind === 'request') {
    const { asked, answer } = entry;
    if (asked.type !== 'permission_requested' || !asked.tool_id) return false;
    if (answer?.type === 'permission_answered' && answer.decision === 'deny') return false;
    return known.tools.has(asked.tool_id);
  }
  if (entry.kind !== 'tool') return false;
  if (entry.tool_kind === 'plan' && entry.status === 'done') return known.plan && /todo|update_plan/i.test(entry.name);
  return entry.tool_kind === 'question' && known.asked.has(entry.tool_id);
}

/**
 * Every key of these blocks and of those inside them.
 * @param {Block[]} blocks
 * @returns {string[]}
 */
export const keysOf = (blocks) => blocks.flatMap((block) => [block.key, ...keysOf(block.inside)]);

/**
 * Every entry a block draws, its own first.
 * @param {Block} block
 * @returns {Entry[]}
 */
export const entriesOf = (block) => [...block.entries, ...block.inside.flatMap(entriesOf)];

/**
 * What a turn changed, spent and took, for its footer.
 * @param {Entry[]} entries
 * @param {import('../js/types.d.ts').TurnEntry} turn
 * @param {boolean} fromStart whether the conversation's beginning is among the entries
 * @param {string} [cwd] an agent's own plans outside it are no change of the project
 * @returns {{
 *   files: Map<string, {added: number, removed: number}>,
 *   said: string,
 *   cost: number | null,
 *   whole: boolean,
 *   waited: number,
 * }} `whole`: the turn's beginning was there to be read; `waited`: for a person, in milliseconds
 */
export function turnFacts(entries, turn, fromStart, cwd = '') {
  /** @type {Map<string, {added: number, removed: number}>} */
  const files = new Map();
  const said = [];
  let spent = 0;
  let waited = 0;
  let n = entries.indexOf(turn) - 1;
  for (; n >= 0; n--) {
    const entry = entries[n];
    if (entry.kind === 'turn') {
      spent = entry.ended.cost_usd ?? 0;
      break;
    }
    if (entry.kind === 'tool' && entry.tool_kind === 'edit' && entry.status === 'done') {
      for (const diff of entry.diffs) {
        if (isOwnPlan(diff.path, cwd)) continue;
        const sum = files.get(diff.path) ?? { added: 0, removed: 0 };
        files.set(diff.path, { added: sum.added + (diff.added ?? 0), removed: sum.removed + (diff.removed ?? 0) });
      }
    }
    waited += waitOf(entry);
    if (entry.kind === 'text' && entry.voice === 'assistant' && !entry.parent) said.unshift(entry.text);
  }
  const whole = n >= 0 || fromStart;
  const total = turn.ended.cost_usd;
  // A turn's cost is the sum so far less the sum before, which is not known when the turn begins above the window.
  return {
    files,
    said: said.join('\n\n'),
    cost: whole && typeof total === 'number' ? Math.max(0, total - spent) : null,
    whole,
    waited,
  };
}
