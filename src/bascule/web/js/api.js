/** Every wish the page can send, by name. What changes on the page changes because of the event that follows. */

/** A name for one wish, so that sending it twice does it once. */
export const newKey = () => crypto.randomUUID();

/** @param {import('./feed.js').Feed} feed */
export function createApi(feed) {
  /** @param {string} type */
  const inSession = (type) => (/** @type {string} */ sessionId, /** @type {Record<string, any>} */ fields = {}) =>
    feed.call(`session:${type}`, { sessionId, ...fields });
  return {
    sessions: (archived = false) => feed.call('session:list', { archived }).then((answer) => answer.sessions),
    requests: () => feed.call('requests:list').then((answer) => answer.requests),
    devices: () => feed.call('device:list').then((answer) => answer.devices),
    // An agent that has only its own screen can't be talked to from here: the page has no terminal yet.
    agents: (refresh = false) => feed.call('agents:list', { refresh }).then((answer) => answer.agents.filter(talks)),
    /** @param {Record<string, any>} wish */
    create: (wish) => feed.call('session:create', wish),
    open: inSession('open'),
    entries: inSession('entries'),
    events: inSession('events'),
    subscribe: inSession('subscribe'),
    unsubscribe: inSession('unsubscribe'),
    send: inSession('send'),
    queue: inSession('queue'),
    interrupt: inSession('interrupt'),
    end: inSession('end'),
    resume: inSession('resume'),
    title: inSession('title'),
    archive: inSession('archive'),
    model: inSession('model'),
    mode: inSession('mode'),
    permissionMode: inSession('permission-mode'),
    permission: inSession('permission'),
    question: inSession('question'),
    grants: () => feed.call('grants:list').then((answer) => answer.grants),
    /** @param {Record<string, any>} wish */
    makeGrant: (wish) => feed.call('grants:create', wish),
    /** @param {string} grantId */
    revokeGrant: (grantId) => feed.call('grants:revoke', { grantId }),
    /** @param {number} after @param {number} limit */
    audit: (after, limit) => feed.call('audit:list', { after, limit }),
    verifyAudit: () => feed.call('audit:verify'),
    stopEverything: () => feed.call('kill-all'),
    /** @param {string} path */
    directory: (path) => get(feed, `/api/directories?path=${encodeURIComponent(path)}`),
  };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @param {import('./feed.js').Feed} feed @param {string} path */
async function get(feed, path) {
  const answer = await fetch(path, { headers: { authorization: `Bearer ${feed.key() ?? ''}` }, credentials: 'omit', cache: 'no-store' });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.error?.message ?? 'It did not work.'), { code: body.error?.code });
  return body;
}

/** @param {{drivers?: string[]}} agent */
function talks(agent) {
  return !agent.drivers?.length || agent.drivers.some((one) => one !== 'terminal');
}
