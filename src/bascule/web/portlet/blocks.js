/** How entries are laid out: which lines fold into one, what belongs inside a sub-agent. Pure. */

/**
 * @typedef {import('../js/types.d.ts').Entry} Entry
 * @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry
 * @typedef {{key: string, kind: 'entry' | 'group', entries: Entry[], inside: Map<string, Entry[]>, last: boolean}} Block
 */

/**
 * @param {Entry[]} entries
 * @returns {Block[]}
 */
export function blocksOf(entries) {
  const { top, inside } = nested(entries);
  /** @type {Block[]} */
  const blocks = [];
  /** @type {ToolEntry[]} */
  let run = [];
  const flush = () => {
    if (run.length > 1) blocks.push({ key: `g${run[0].first_seq}`, kind: 'group', entries: run, inside, last: false });
    else if (run.length) blocks.push(single(run[0], inside, false));
    run = [];
  };
  top.forEach((entry, n) => {
    if (entry.kind === 'request' && isShownByItsTool(entry, top)) return;
    if (entry.kind === 'tool' && isShownElsewhere(entry, top)) return;
    const last = n === top.length - 1;
    if (entry.kind === 'tool' && foldable(entry) && !(last && entry.tool_kind === 'edit')) {
      run.push(entry);
      return;
    }
    flush();
    blocks.push(single(entry, inside, last));
  });
  flush();
  return blocks;
}

/** @param {Entry} entry @param {Map<string, Entry[]>} inside @param {boolean} last @returns {Block} */
const single = (entry, inside, last) => ({ key: `e${entry.first_seq}`, kind: 'entry', entries: [entry], inside, last });

/** Failed ones never fold; what still runs, or asks, stays in sight. @param {ToolEntry} tool */
const foldable = (tool) => tool.status === 'done' && tool.tool_kind !== 'agent' && tool.tool_kind !== 'question';

/** @param {Entry[]} entries */
function nested(entries) {
  const known = new Set(entries.filter((one) => one.kind === 'tool').map((one) => one.tool_id));
  /** @type {Map<string, Entry[]>} */
  const inside = new Map();
  const top = entries.filter((entry) => {
    const parent = entry.kind === 'tool' || entry.kind === 'text' ? entry.parent : null;
    if (!parent || !known.has(parent)) return true;
    inside.set(parent, [...(inside.get(parent) ?? []), entry]);
    return false;
  });
  return { top, inside };
}

/** @param {import('../js/types.d.ts').RequestEntry} request @param {Entry[]} top */
function isShownByItsTool(request, top) {
  const asked = /** @type {any} */ (request.asked);
  if (asked.type !== 'permission_requested' || !asked.tool_id) return false;
  if (request.answer && /** @type {any} */ (request.answer).decision === 'deny') return false;
  return top.some((entry) => entry.kind === 'tool' && entry.tool_id === asked.tool_id);
}

/** A question is shown by its request, a change of the plan by the plan. @param {ToolEntry} tool @param {Entry[]} top */
function isShownElsewhere(tool, top) {
  if (tool.tool_kind === 'plan' && tool.status === 'done') return /todo|update_plan/i.test(tool.name) && top.some((entry) => entry.kind === 'plan');
  return tool.tool_kind === 'question' && top.some((entry) => entry.kind === 'request' && /** @type {any} */ (entry.asked).tool_id === tool.tool_id);
}

/**
 * What a turn changed, spent and took, for its footer.
 * @param {Entry[]} entries
 * @param {import('../js/types.d.ts').TurnEntry} turn
 */
export function turnFacts(entries, turn) {
  const at = entries.indexOf(turn);
  const files = new Map();
  const said = [];
  let cost = 0;
  for (let n = at - 1; n >= 0; n--) {
    const entry = entries[n];
    if (entry.kind === 'turn') {
      cost = entry.ended.cost_usd ?? 0;
      break;
    }
    if (entry.kind === 'tool' && entry.tool_kind === 'edit' && entry.status === 'done') {
      for (const one of entry.diffs) {
        const sum = files.get(one.path) ?? { added: 0, removed: 0 };
        files.set(one.path, { added: sum.added + (one.added ?? 0), removed: sum.removed + (one.removed ?? 0) });
      }
    }
    if (entry.kind === 'text' && entry.voice === 'assistant' && !entry.parent) said.unshift(entry.text);
  }
  const total = turn.ended.cost_usd;
  return { files, said: said.join('\n\n'), cost: typeof total === 'number' ? Math.max(0, total - cost) : null };
}
