/**
 * Editing an earlier message: what is sent goes to a new session, whose conversation is a copy of this one up to just
 * before that message; this one stays as it is.
 */

import { newKey } from '../../js/api.js';
import { h } from '../../js/dom.js';
import { pointBefore } from '../../js/forks.js';
import { icon } from '../../js/icons.js';
import { filled } from '../../js/reduce.js';
import { put, without } from '../../js/tables.js';
import { endFirst, offerOf, offerWords } from '../making_room.js';
import { agentOf } from '../machines.js';
import { mayStart } from '../state.js';
import { keepDraft } from '../storage.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').SentImage} Picture */
/** @typedef {import('../../js/forks.js').Point & {seq: number}} Edit the message, and what is copied before it */

const PAGE = 200;

/**
 * The name of the draft of an edited message, beside the session's own.
 * @param {string} id
 */
export const editDraft = (id) => `${id}.edit`;

/**
 * After which number of a session its messages can be edited; null: they can't.
 * @param {State} state
 * @param {string} id
 */
export function editsAfter(state, id) {
  const session = state.sessions[id];
  const agent = session && agentOf(state, session);
  return session && mayStart(state) && agent?.forks_at?.includes(session.driver) ? session.forks_after : null;
}

/**
 * Put an earlier message into the composer.
 * @param {App} app
 * @param {string} id
 * @param {number} seq of the message
 */
export async function editMessage(app, id, seq) {
  if (app.store.get().edits[id]) return app.note('Send the message that you are editing first, or cancel it.');
  const found = await lookUp(app, id, seq);
  if (!found) return app.note('The agent can’t go back to this message any more.', { tone: 'bad' });
  const { prompt, point } = found;
  keepDraft(editDraft(id), prompt.text);
  app.store.set((state) => ({ edits: put(state.edits, id, { seq, ...point }) }));
  const images = prompt.images.map((image) => ({ mediaType: image.media_type, data: image.data }));
  app.events.emit('edit', { id, images: /** @type {Picture[]} */ (images) });
}

/**
 * From the log alone: a frame only says which message is meant.
 * @param {App} app
 * @param {string} id
 * @param {number} seq
 */
async function lookUp(app, id, seq) {
  const after = editsAfter(app.store.get(), id);
  /** @type {import('../../js/types.d.ts').Entry[]} */
  let entries = [];
  for (let before = /** @type {number | null} */ (seq + 1); before !== null && after !== null;) {
    /** @type {import('../../js/types.d.ts').EntriesPage} */
    const page = await app.api.entries(id, { before, limit: PAGE });
    entries = [...page.entries.map(filled), ...entries];
    const place = entries.length - 1;
    const prompt = entries[place];
    if (prompt?.kind !== 'prompt' || prompt.first_seq !== seq) return null;
    const point = pointBefore(entries, place, after);
    if (point !== undefined) return point && { prompt, point };
    before = page.before ?? null;
  }
  return null;
}

/**
 * @param {App} app
 * @param {string} id
 */
export function endEdit(app, id) {
  keepDraft(editDraft(id), '');
  app.store.set((state) => ({ edits: without(state.edits, id) }));
}

let last = { sent: '', key: '' };

/**
 * Start the session that gets the edited message. The same again is done once, however often it is sent.
 * @param {App} app
 * @param {string} id
 * @param {Edit} edit
 * @param {string} prompt
 * @param {Picture[]} images
 * @param {() => void} again once there is room for it
 * @returns {Promise<string | null>} its id; null: it was refused, and the person saw why
 */
export async function resend(app, id, edit, prompt, images, again) {
  const command = { ...commandOf(app.store.get(), id, edit), prompt, images };
  const sent = JSON.stringify(command);
  if (last.sent !== sent) last = { sent, key: newKey() };
  try {
    const made = await app.api.create({ ...command, key: last.key });
    return made.sessionId ?? made.id;
  } catch (error) {
    const offer = offerOf(error);
    if (!offer) return (app.trouble(error), null);
    const run = () => void endFirst(app, offer.sessionId).then(again, app.trouble);
    const action = { label: offerWords(offer, 'send it'), run };
    return (app.note(/** @type {Error} */ (error).message, { tone: 'bad', action }), null);
  }
}

/**
 * A session like this one, with a copy of its conversation.
 * @param {State} state
 * @param {string} id
 * @param {Edit} edit
 */
function commandOf(state, id, { seq, of, at }) {
  const { agent, driver, device, cwd, model, mode, title, agent_session_id: own } = state.sessions[id];
  const modes = agentOf(state, state.sessions[id])?.modes ?? [];
  return {
    agent,
    device: device || undefined,
    driver: /** @type {import('../../js/types.d.ts').CreateBody['driver']} */ (driver),
    cwd,
    model: model ?? undefined,
    mode: mode && modes.includes(mode) ? mode : undefined,
    title: title ? `${title.replace(/, edited$/, '').slice(0, 190)}, edited` : undefined,
    ...(at ? { resume: of ?? own ?? undefined, fork: true, forkAt: at } : {}),
    copiedFrom: { session: id, seq },
  };
}

/**
 * Above what is written.
 * @param {() => void} cancel
 */
export const editBar = (cancel) =>
  h(
    'div',
    { class: 'composer__edit' },
    icon('edit', 14),
    h(
      'span',
      { role: 'status' },
      'Editing an earlier message. Sending it starts a new session; this one stays as it is, and so do the files.',
    ),
    h('button', { type: 'button', class: 'link', onclick: cancel }, 'Cancel'),
  );
