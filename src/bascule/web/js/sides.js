/** A unified diff as two columns: what was, beside what is. Pure. */

/** @typedef {import('./diff.js').DiffLine} DiffLine */

/**
 * Removed lines stand beside the lines that took their place; what has no partner stands alone.
 * @param {DiffLine[]} lines
 * @returns {{left: DiffLine | null, right: DiffLine | null}[]}
 */
export function sidesOf(lines) {
  /** @type {{left: DiffLine | null, right: DiffLine | null}[]} */
  const rows = [];
  /** @type {DiffLine[]} */
  let removed = [];
  /** @type {DiffLine[]} */
  let added = [];
  const settle = () => {
    for (let n = 0; n < Math.max(removed.length, added.length); n++)
      rows.push({ left: removed[n] ?? null, right: added[n] ?? null });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'del') {
      if (added.length) settle(); // a removal after an addition begins another change
      removed.push(line);
    } else if (line.kind === 'add') added.push(line);
    else {
      settle();
      rows.push({ left: line, right: line });
    }
  }
  settle();
  return rows;
}
