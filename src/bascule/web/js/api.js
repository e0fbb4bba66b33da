/**
 * The operations the page asks for, by short names; `feed.call` knows all of them by their message types.
 * What changes on the page changes because of the event that follows.
 */

/** A name for one command, so that sending it twice does it once. Not `randomUUID`, which plain http lacks. */
export const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @typedef {import('./types.js').Operations} Operations */
/** @typedef {import('./types.js').HttpOperations['POST /api/tickets']} Ticket */
/** @typedef {{device?: string}} Where which machine, once there are several */

/**
 * @param {import('./feed.js').Feed} feed
 * @param {object} [signing] for machines that take only starts of browsers they trust
 * @param {<B extends import('./start_signing.js').SignedBody>(body: B, device?: string) => Promise<B>} [signing.signed]
 * @param {(sessionId: string) => string | undefined} [signing.deviceOf]
 */
export function createApi(feed, { signed = async (body) => body, deviceOf = () => undefined } = {}) {
  /**
   * @template {keyof Operations & `session:${string}`} Name
   * @param {Name} type
   * @returns {import('./types.js').InSession<Name>}
   */
  const inSession =
    (type) =>
    (sessionId, ...fields) =>
      feed.call(type, /** @type {Operations[Name]['body']} */ ({ ...fields[0], sessionId }));
  return {
    ...machinesApi(feed),
    ...notificationsApi(feed),
    /** @param {Operations['session:list']['body']} [where] */
    sessions: (where = {}) => feed.call('session:list', where),
    counts: () => feed.call('session:count', {}),
    usage: () => feed.call('usage:show', {}),
    damaged: () => feed.call('session:list', { limit: 1 }).then((answer) => answer.damaged ?? []),
    requests: () => feed.call('requests:list', {}).then((answer) => answer.requests),
    answers: () => feed.call('answers:list', {}).then((answer) => answer.answers),
    /**
     * @param {string} sessionId
     * @param {string} answerId
     */
    takeBack: (sessionId, answerId) => feed.call('answers:take-back', { sessionId, answerId }),
    desktop: () => feed.call('launch:terminal', {}),
    /** @param {Operations['session:create']['body'] & {key?: string, device?: string}} command */
    create: async (command) => feed.call('session:create', await signed(command, command.device)),
    open: inSession('session:open'),
    show: inSession('session:show'),
    entries: inSession('session:entries'),
    events: inSession('session:events'),
    follow: inSession('session:follow'),
    listeners: inSession('session:listeners'),
    subscribe: inSession('session:subscribe'),
    unsubscribe: inSession('session:unsubscribe'),
    send: inSession('session:send'),
    queue: inSession('session:queue'),
    interrupt: inSession('session:interrupt'),
    end: inSession('session:end'),
    keep: inSession('session:keep'),
    guard: inSession('session:guard'),
    /** @param {string} sessionId */
    resume: async (sessionId) => feed.call('session:resume', await signed({ sessionId }, deviceOf(sessionId))),
    reconnect: inSession('session:reconnect'),
    /** @param {string} cliType an agent, with all its sessions that lost their process */
    reconnectAgent: (cliType) => feed.call('session:reconnect', { cliType }),
    openTerminal: inSession('session:open-terminal'),
    resumeCommand: inSession('session:resume-command'),
    title: inSession('session:title'),
    archive: inSession('session:archive'),
    model: inSession('session:model'),
    mode: inSession('session:mode'),
    permissionMode: inSession('session:permission-mode'),
    permission: inSession('session:permission'),
    question: inSession('session:question'),
    typing: inSession('session:typing'),
    files: inSession('session:files'),
    findFiles: inSession('session:find-files'),
    file: inSession('session:file'),
    changes: inSession('session:changes'),
    stage: inSession('session:stage'),
    revert: inSession('session:revert'),
    commit: inSession('session:commit'),
    pullRequestPlan: inSession('session:pull-request-plan'),
    pullRequest: inSession('session:pull-request'),
    share: inSession('session:share'),
    grants: () => feed.call('grants:list', {}).then((answer) => answer.grants),
    /** @param {Operations['grants:create']['body']} command */
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
     * @param {Operations['audit:list']['body']} [where] the copy of a machine's chain
     */
    audit: (after, limit, where = {}) => feed.call('audit:list', { after, limit, ...where }),
    /** @param {Where} [where] */
    verifyAudit: (where = {}) => feed.call('audit:verify', where),
    /** @param {Where} [where] */
    settings: (where = {}) => feed.call('settings:show', where),
    /** @param {Where} [where] */
    limits: (where = {}) => feed.call('limits:show', where),
    /** @param {Record<string, number | null>} limits 0 for none, null for the settings file's */
    setLimits: (limits) => feed.call('limits:set', { limits }),
    /**
     * @param {string} text
     * @returns {Promise<string[]>} rows of dots
     */
    qr: (text) => feed.call('qr', { text }).then((answer) => answer.rows),
    /** @param {Where} [where] on one machine, or on all */
    stopEverything: (where = {}) => feed.call('kill-all', where),
    /**
     * @param {string} q
     * @param {number} limit
     */
    search: (q, limit) => feed.call('search', { q, limit }),
    /** @param {string} offerId */
    offered: (offerId) => feed.call('launch:offer', { offerId }),
    ...projectsApi(feed),
    /**
     * The transcript as a file, with the name the server gives it.
     * @param {string} id
     * @param {'markdown' | 'html' | 'json'} format
     * @param {boolean} keep secrets
     */
    exported: (id, format, keep) => exported(feed, id, format, keep),
    /** @param {string} id */
    exportTicket: async (id) => {
      /** @type {Ticket['body']} */
      const wanted = { purpose: 'export', sessionId: id };
      /** @type {Ticket['answer']} */
      const { ticket } = await (await got(feed, '/api/tickets', wanted)).json();
      return encodeURIComponent(ticket);
    },
    /**
     * @param {string} prefix
     * @param {string | undefined} device
     */
    folders: (prefix, device) =>
      feed.call('directories:find', { prefix, limit: 8, device }).then((answer) => answer.directories ?? []),
    /**
     * @param {string} path
     * @param {boolean} trusted
     * @param {Where} where
     */
    trust: (path, trusted, where) => feed.call('projects:trust', { path, trusted, ...where }),
  };
}

/**
 * What a machine is asked for; it must be named once there are several.
 * @param {import('./feed.js').Feed} feed
 */
function machinesApi(feed) {
  return {
    /**
     * On this server’s own machine only.
     * @param {string} startId
     * @param {'approve' | 'deny' | 'block'} decision
     */
    decideStart: (startId, decision) => feed.call('starts:decide', { startId, decision }),
    /** @param {boolean} blocked */
    blockStarts: (blocked) => feed.call('starts:block', { blocked }),
    /**
     * @param {string} startId
     * @param {string} device
     */
    withdrawStart: (startId, device) => feed.call('starts:withdraw', { startId, device }),
    devices: () => feed.call('device:list', {}).then((answer) => answer.devices),
    /**
     * @param {string} device
     * @param {boolean} refresh
     */
    agents: (device, refresh) => feed.call('agents:list', { refresh, device }).then((answer) => answer.agents),
    /**
     * @param {string} deviceId
     * @param {string} name
     */
    renameDevice: (deviceId, name) => feed.call('device:rename', { deviceId, name }),
    /** @param {string} deviceId */
    forgetDevice: (deviceId) => feed.call('device:forget', { deviceId }),
    /**
     * @param {string} device
     * @param {boolean} paused
     */
    pauseDevice: (device, paused) => feed.call(paused ? 'daemon:pause' : 'daemon:resume', { device }),
    pairings: () => feed.call('pairings:list', {}).then((answer) => answer.pairings),
    /**
     * @param {import('./types.js').PairingView} pairing
     * @param {boolean} allow
     * @param {string} [replaces] the device that this machine was before
     */
    answerPairing: ({ id, code }, allow, replaces) =>
      feed.call('pairings:answer', { pairingId: id, code, allow, ...(replaces ? { replaces } : {}) }),
    /**
     * @param {number} limit
     * @param {Where} where
     */
    found: (limit, where) => feed.call('found:list', { limit, ...where }),
    /**
     * A found session of another machine is copied to this server only when somebody wants to see it.
     * @param {string} sessionId
     * @param {string} [device] without it, whichever has it
     */
    fetchFound: (sessionId, device) => feed.call('found:fetch', { sessionId, device }),
    /** @param {Where} where */
    unlogged: (where) => feed.call('unlogged:list', where).then((answer) => answer.processes),
    /**
     * @param {string} name
     * @param {Where} where
     */
    takeUp: (name, where) => feed.call('unlogged:take-up', { name, ...where }),
    /**
     * @param {string} name
     * @param {Where} where
     */
    endProcess: (name, where) => feed.call('unlogged:end', { name, ...where }),
    /** @param {Where} where of the latest sessions */
    recentFolders: (where) => feed.call('directories:recent', where),
  };
}

/** @param {import('./feed.js').Feed} feed */
function notificationsApi(feed) {
  return {
    notifications: () => feed.call('notifications:show', {}),
    /** @param {Operations['notifications:set']['body']} options */
    setNotifications: (options) => feed.call('notifications:set', options),
    /** @param {Operations['notifications:add']['body']} channel */
    addChannel: (channel) => feed.call('notifications:add', channel),
    /**
     * @param {string} channelId
     * @param {Omit<Operations['notifications:change']['body'], 'channelId'>} fields
     */
    changeChannel: (channelId, fields) => feed.call('notifications:change', { ...fields, channelId }),
    /** @param {string} channelId */
    removeChannel: (channelId) => feed.call('notifications:remove', { channelId }),
    /** @param {string} channelId */
    testChannel: (channelId) => feed.call('notifications:test', { channelId }),
    /** @param {Operations['notifications:subscribe']['body']} subscription */
    subscribePush: (subscription) => feed.call('notifications:subscribe', subscription),
    /** @param {boolean} active somebody is at this page */
    active: (active) => feed.call('notifications:active', { active }),
  };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @param {import('./feed.js').Feed} feed */
function projectsApi(feed) {
  return {
    projects: () => feed.call('project:list', {}).then((answer) => answer.projects),
    /**
     * @param {string} path
     * @param {string | undefined} device
     */
    addProject: (path, device) => feed.call('project:add', { path, device }).then((answer) => answer.project),
    /**
     * @param {string} projectId
     * @param {string} name
     */
    renameProject: (projectId, name) => feed.call('project:change', { projectId, name }),
    /** @param {string} projectId */
    removeProject: (projectId) => feed.call('project:remove', { projectId }),
    /** @param {Where} where */
    trusted: (where) => feed.call('projects:trusted', where).then((answer) => answer.folders),
    /**
     * @param {string} path
     * @param {string | undefined} device
     */
    directory: (path, device) =>
      feed
        .call('directories:find', { path, device })
        .then((answer) => ({ path: answer.path ?? path, files: answer.files })),
  };
}

/**
 * @param {import('./feed.js').Feed} feed
 * @param {string} id
 * @param {string} format
 * @param {boolean} keep
 */
async function exported(feed, id, format, keep) {
  const answer = await got(
    feed,
    `/api/sessions/${encodeURIComponent(id)}/export?format=${format}${keep ? '&keepSecrets=true' : ''}`,
  );
  const name = /filename="([\w.-]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1];
  return { name: name ?? `session.${format}`, blob: await answer.blob() };
}

/**
 * @param {import('./feed.js').Feed} feed
 * @param {string} path
 * @param {object} [posted]
 */
async function got(feed, path, posted) {
  const answer = await fetch(path, {
    method: posted ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${feed.key() ?? ''}`,
      ...(posted ? { 'content-type': 'application/json' } : {}),
    },
    ...(posted ? { body: JSON.stringify(posted) } : {}),
    credentials: 'omit',
    cache: 'no-store',
  });
  if (answer.ok) return answer;
  /** @type {{error?: import('./types.d.ts').Fault}} */
  const body = await answer.json().catch(() => ({})); // a broken answer has no words of its own
  throw Object.assign(new Error(body.error?.message ?? 'That did not work. Try again.'), { code: body.error?.code });
}
