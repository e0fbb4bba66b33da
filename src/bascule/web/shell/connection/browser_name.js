/** What a browser is called, by what it says of itself. Pure. */

const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['Chrom', 'Chrome'],
  ['CriOS', 'Chrome'],
  ['Safari', 'Safari'],
];
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Mac OS', 'Mac'],
  ['Windows', 'Windows'],
  ['CrOS', 'Chromebook'],
  ['Linux', 'Linux'],
];

/**
 * "Safari on iPhone": what this browser is called among the others until somebody names it.
 * @param {string} agent
 */
export function browserName(agent) {
  const [browser, system] = [BROWSERS, SYSTEMS].map((list) => list.find(([mark]) => agent.includes(mark))?.[1]);
  return browser && system ? `${browser} on ${system}` : (browser ?? system ?? 'browser');
}
