/** How a terminal looks in each theme: its sixteen colours, from the page's own tokens where they have them. */

const TOKENS = {
  background: '--well',
  foreground: '--text',
  cursor: '--text-strong',
  cursorAccent: '--well',
  red: '--del',
  green: '--add',
  yellow: '--st-blocked',
  blue: '--syn-fn',
  magenta: '--syn-key',
  cyan: '--syn-type',
  brightRed: '--del',
  brightGreen: '--add',
  brightYellow: '--syn-num',
  brightBlue: '--syn-fn',
  brightMagenta: '--syn-key',
  brightCyan: '--syn-op',
};

/** @param {string} theme dark, light, or what the system prefers */
export function isDark(theme) {
  if (theme === 'dark' || theme === 'light') return theme === 'dark';
  return !matchMedia('(prefers-color-scheme: light)').matches;
}

/** @param {string} theme */
export function colours(theme) {
  const dark = isDark(theme);
  const tokens = getComputedStyle(document.documentElement);
  const named = Object.fromEntries(
    Object.entries(TOKENS).map(([name, token]) => [name, tokens.getPropertyValue(token).trim()]),
  );
  const greys = dark
    ? { black: '#414868', brightBlack: '#737aa2', white: '#c0caf5', brightWhite: '#e6eaff' }
    : { black: '#2a2f4c', brightBlack: '#6a7196', white: '#565d80', brightWhite: '#1a1d30' };
  return {
    ...named,
    ...greys,
    selectionBackground: dark ? '#3b4570' : '#c3cdf0',
    selectionInactiveBackground: dark ? '#2b3150' : '#dfe4f5',
    scrollbarSliderBackground: dark ? '#3b405866' : '#b0b6d066',
  };
}

/** @returns {string} */
export const monospace = () =>
  getComputedStyle(document.documentElement).getPropertyValue('--font-mono').trim() || 'monospace';
