/** Every command the page can send, by name. What changes on the page changes because of the event that follows. */

/** A name for one command, so that sending it twice does it once. */
export const newKey = () => crypto.randomUUID();

/** @param {import('./feed.js').Feed} feed */
export function createApi(feed) {
  /** @param {string} type */
  const inSession =
    (type) =>
    (/** @type {string} */ sessionId, /** @type {Record<string, any>} */ fields = {}) =>
      feed.call(`session:${type}`, { sessionId, ...fields });
  return {
    found: () => feed.call('found:list', { limit: 1000 }),
    sessions: (archived = false) => feed.call('session:list', { archived }).then((answer) => answer.sessions),
    damaged: () => feed.call('session:list').then((answer) => answer.damaged ?? []),
    unlogged: () => feed.call('unlogged:list').then((answer) => answer.processes),
    /** @param {string} name */
    takeUp: (name) => feed.call('unlogged:take-up', { name }),
    /** @param {string} name */
    endProcess: (name) => feed.call('unlogged:end', { name }),
    requests: () => feed.call('requests:list').then((answer) => answer.requests),
    devices: () => feed.call('device:list').then((answer) => answer.devices),
    // An agent that has only its own screen can't be talked to: it is offered among the terminals.
    agents: (refresh = false) => feed.call('agents:list', { refresh }).then((answer) => answer.agents.filter(talks)),
    screens: () => feed.call('agents:list', { refresh: false }).then((answer) => answer.agents.filter(hasScreen)),
    /** @param {Record<string, any>} command */
    create: (command) => feed.call('session:create', command),
    open: inSession('open'),
    show: inSession('show'),
    entries: inSession('entries'),
    events: inSession('events'),
    follow: inSession('follow'),
    subscribe: inSession('subscribe'),
    unsubscribe: inSession('unsubscribe'),
    send: inSession('send'),
    queue: inSession('queue'),
    interrupt: inSession('interrupt'),
    end: inSession('end'),
    resume: inSession('resume'),
    reconnect: inSession('reconnect'),
    title: inSession('title'),
    archive: inSession('archive'),
    model: inSession('model'),
    mode: inSession('mode'),
    permissionMode: inSession('permission-mode'),
    permission: inSession('permission'),
    question: inSession('question'),
    typing: inSession('typing'),
    files: inSession('files'),
    file: inSession('file'),
    changes: inSession('changes'),
    share: inSession('share'),
    grants: () => feed.call('grants:list').then((answer) => answer.grants),
    /** @param {Record<string, any>} command */
    makeGrant: (command) => feed.call('grants:create', command),
    /** @param {string} grantId */
    revokeGrant: (grantId) => feed.call('grants:revoke', { grantId }),
    /**
     * @param {string} session
     * @param {string} q
     */
    searchIn: (session, q) => feed.call('search', { session, q, limit: 100 }),
    /**
     * @param {number} after
     * @param {number} limit
     */
    audit: (after, limit) => feed.call('audit:list', { after, limit }),
    verifyAudit: () => feed.call('audit:verify'),
    settings: () => feed.call('settings:show'),
    /**
     * @param {string} text
     * @returns {Promise<string[]>} rows of dots
     */
    qr: (text) => feed.call('qr', { text }).then((answer) => answer.rows),
    stopEverything: () => feed.call('kill-all'),
    /**
     * @param {string} q
     * @param {number} limit
     */
    search: (q, limit) => feed.call('search', { q, limit }),
    projects: () => feed.call('project:list').then((answer) => answer.projects),
    /** @param {string} path */
    addProject: (path) => feed.call('project:add', { path }).then((answer) => answer.project),
    /**
     * @param {string} projectId
     * @param {string} name
     */
    renameProject: (projectId, name) => feed.call('project:change', { projectId, name }),
    /** @param {string} projectId */
    removeProject: (projectId) => feed.call('project:remove', { projectId }),
    /** @param {string} path */
    directory: (path) => get(feed, `/api/directories?path=${encodeURIComponent(path)}`),
    /**
     * The transcript as a file, with the name the server gives it.
     * @param {string} id
     * @param {'markdown' | 'html' | 'json'} format
     */
    exported: async (id, format) => {
      const answer = await got(feed, `/api/sessions/${encodeURIComponent(id)}/export?format=${format}`);
      const name =
        /filename="([\w.-]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? `session.${format}`;
      return { name, blob: await answer.blob() };
    },
    /** @param {string} prefix */
    folders: (prefix) =>
      get(feed, `/api/directories?prefix=${encodeURIComponent(prefix)}&limit=8`).then((answer) => answer.directories),
    recentFolders: () => get(feed, '/api/directories/recent').then((answer) => answer.directories),
  };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * @param {import('./feed.js').Feed} feed
 * @param {string} path
 */
const get = async (feed, path) => (await got(feed, path)).json();

/**
 * @param {import('./feed.js').Feed} feed
 * @param {string} path
 */
async function got(feed, path) {
  const answer = await fetch(path, {
    headers: { authorization: `Bearer ${feed.key() ?? ''}` },
    credentials: 'omit',
    cache: 'no-store',
  });
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({})); // a broken answer has no words of its own
  throw Object.assign(new Error(body.error?.message ?? 'It did not work.'), { code: body.error?.code });
}

/** @param {{drivers?: string[]}} agent */
const hasScreen = (agent) => Boolean(agent.drivers?.includes('terminal'));

/** @param {{drivers?: string[]}} agent */
function talks(agent) {
  return !agent.drivers?.length || agent.drivers.some((one) => one !== 'terminal');
}
