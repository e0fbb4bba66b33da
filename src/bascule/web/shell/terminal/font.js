/** The size of text in terminals, kept by the browser. */

const KEPT = 'bascule.terminal.font';
const SIZES = [10, 11, 12, 13, 14, 15, 16, 18, 20, 24];

export function fontSize() {
  const kept = Number(localStorage.getItem(KEPT));
  return SIZES.includes(kept) ? kept : matchMedia('(max-width: 720px)').matches ? 12 : 13;
}

/**
 * @param {number} step
 * @returns {number} the size from now on
 */
export function setFontSize(step) {
  const size = SIZES[Math.max(0, Math.min(SIZES.length - 1, SIZES.indexOf(fontSize()) + step))];
  localStorage.setItem(KEPT, String(size));
  return size;
}
