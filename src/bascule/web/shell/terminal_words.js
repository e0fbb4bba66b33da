/** What a terminal's foot says: who types, whose size counts, how it ended, what was left out. Pure. */

/**
 * @typedef {{cols: number, rows: number, owner: boolean, by: string, rule: string}} Arrangement
 * @typedef {{line: string, readOnly: boolean, typing: string, size: Arrangement | null, ended: any, skipped: number}} Foot
 */

/** @param {Foot} foot @returns {string} */
export function whoTypes(foot) {
  if (foot.line === 'refused') return 'This browser may no longer see this terminal.';
  if (foot.ended) return endWords(foot.ended);
  if (foot.line === 'lost') return 'Not connected. The program goes on, and nothing is lost.';
  if (foot.typing) return `${foot.typing} is typing`;
  if (foot.readOnly) return 'You read along live. You can’t type here.';
  return '';
}

/** @param {Foot} foot @returns {string} */
export function whoseSize({ size, ended }) {
  if (!size || ended) return '';
  const sides = `${size.cols} × ${size.rows}`;
  if (size.rule === 'typing') return `${sides}, size follows whoever types`;
  if (size.owner || !size.by) return sides;
  return `${sides}, fits ${size.by}’s window`;
}

/** @param {{code: number | null, signal: number | null, reason: string | null, message: string | null}} ended */
export function endWords({ code, signal, reason, message }) {
  if (message) return message;
  if (reason === 'closed') return 'Ended. What it wrote is kept.';
  if (signal) return `Ended by signal ${signal}. What it wrote is kept.`;
  return code ? `Ended with exit code ${code}. What it wrote is kept.` : 'Ended. What it wrote is kept.';
}

/** @param {number} bytes */
export function skippedWords(bytes) {
  const amount = bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return `${amount} came faster than this page could show it and were skipped. Scroll up to see what is kept.`;
}

/** @param {string} text */
export function pasteWords(text) {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n');
  const first = lines.slice(0, 4).map((line) => (line.length > 160 ? `${line.slice(0, 160)}…` : line));
  return { title: lines.length === 1 ? 'Paste a line that ends with Enter?' : `Paste ${lines.length} lines?`, preview: [...first, ...(lines.length > 4 ? [`… ${lines.length - 4} more`] : [])].join('\n') };
}
