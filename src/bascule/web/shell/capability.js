/** Capability levels in words: how much of its machine a session's agent may reach. */

/** @type {Record<string, {name: string, note: string}>} */
export const LEVELS = {
  read_only: { name: 'Read only', note: 'Reads the project. Writes nothing, runs no programs.' },
  sandboxed: { name: 'Sandboxed', note: 'Reads the project; writes only its own temporary folder.' },
  project_scoped: { name: 'Project only', note: 'Reads and writes the project, and nothing else of yours.' },
  full: { name: 'Whole machine', note: 'Can reach everything you can on this machine.' },
};

/**
 * In lists: nothing of a session that may reach everything.
 * @param {{capability?: string}} session
 */
export const limitOf = ({ capability }) => (capability && capability !== 'full' ? levelName(capability) : '');

/** @param {string | undefined} level */
export const levelName = (level) => LEVELS[level ?? 'full']?.name ?? level ?? '';
