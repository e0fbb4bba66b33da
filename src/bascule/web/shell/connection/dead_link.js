/** What is wrong with a key that opens nothing, and what its holder can do about it, in words. Pure. */

/** @typedef {import('../../js/reconnecting_socket.js').Refused} Refused */

// Names that nobody chose: the first browser's, and the command line's.
const NOBODY = ['', 'owner', 'this machine'];
const DAY = 86_400_000; // milliseconds

/**
 * "today at 12:05", "on Friday", "on 3 November"
 * @param {string} at
 * @param {number} now
 */
export function whenWords(at, now) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const time = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
  if (date.toDateString() === new Date(now).toDateString()) return `today at ${time}`;
  if (now - date.getTime() < 6 * DAY) return `on ${date.toLocaleDateString('en', { weekday: 'long' })}`;
  return `on ${date.toLocaleDateString('en', { day: 'numeric', month: 'long' })}`;
}

/**
 * A one-time link that was refused, by the server's code.
 * @param {string} code
 */
function deadPairing(code) {
  const dead = (/** @type {string} */ title, /** @type {string} */ lead) => ({ title, lead, owner: true });
  switch (code) {
    case 'LINK_USED':
      return dead(
        'This link has already been used',
        'It lets one browser in, once. If that was not you, tell whoever runs this server.',
      );
    case 'LINK_EXPIRED':
      return dead('This link has expired', 'It worked for ten minutes, and nobody opened it in time.');
    case 'LIMIT_REACHED':
      return dead('Too many links that don’t work', 'Wait a minute, then open the link again.');
    case 'OFFLINE':
      return dead('The server is not responding', 'Open the link again when it does.');
    default:
      return dead(
        'This link does not work',
        'Was all of it copied? A link for another browser also expires when the server restarts.',
      );
  }
}

/**
 * @param {Refused | null | undefined} why
 * @param {{shared: boolean, key: boolean, now: number}} at by a link to one session; with any key at all
 * @returns {{title: string, lead: string, owner: boolean}} `owner`: the reader may well be the one who runs it
 */
export function deadLink(why, { shared, key, now }) {
  if (why?.pair) return deadPairing(why.pair);
  const ended = why?.ended;
  const name = ended && !NOBODY.includes(ended.by) ? ended.by : '';
  if (ended && (ended.share || shared)) {
    const ask = `Ask ${name || 'whoever sent it'} for a new one if you still need it.`;
    return ended.reason === 'revoked'
      ? {
          title: name ? `${name} stopped sharing this session` : 'This session is no longer shared',
          lead: ask,
          owner: false,
        }
      : { title: `This link ended ${whenWords(ended.at, now)}`, lead: ask, owner: false };
  }
  if (ended)
    return ended.reason === 'revoked'
      ? { title: 'This browser’s access was revoked', lead: `That was ${whenWords(ended.at, now)}.`, owner: true }
      : {
          title: `This browser’s link ended ${whenWords(ended.at, now)}`,
          lead: 'Links do not last forever.',
          owner: true,
        };
  if (key)
    return {
      title: 'This link’s key is not right',
      lead: 'Was all of it copied? Open the whole link again.',
      owner: !shared,
    };
  if (shared)
    return {
      title: 'This link has no key',
      lead: 'Was all of it copied? The key comes after the #.',
      owner: false,
    };
  return {
    title: 'This browser is not trusted here',
    lead: 'Bascule opens with a link that contains a key.',
    owner: true,
  };
}
