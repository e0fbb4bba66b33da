/** Remarks on lines of a diff: kept with the draft of their session, sent with the next message. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { fieldsOf } from '../../js/json.js';
import { visible } from '../../js/visible.js';
import { put } from '../../js/tables.js';

/** @typedef {{path: string, line: number | null, side: 'old' | 'new', code: string, text: string}} Comment */
/** @typedef {import('../app.js').App} App */

const MAX_COMMENTS = 50;

/** @param {string} id */
const place = (id) => `bascule.comments.${id}`;

/**
 * @param {unknown} kept
 * @returns {kept is Comment}
 */
function isComment(kept) {
  const { text, path } = fieldsOf(kept);
  return typeof text === 'string' && typeof path === 'string';
}

/**
 * What this browser kept for a session.
 * @param {string} id
 * @returns {Comment[]}
 */
export function keptComments(id) {
  try {
    /** @type {unknown} */
    const kept = JSON.parse(localStorage.getItem(place(id)) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isComment) : [];
  } catch {
    return []; // an unreadable note of ours is worth nothing
  }
}

/**
 * @param {App} app
 * @param {string} id
 * @param {Comment[]} comments
 */
export function setComments(app, id, comments) {
  if (comments.length) localStorage.setItem(place(id), JSON.stringify(comments));
  else localStorage.removeItem(place(id));
  app.store.set((state) => ({ comments: put(state.comments, id, comments) }));
}

/**
 * @param {App} app
 * @param {string} id
 * @param {Comment} comment
 */
export function addComment(app, id, comment) {
  const now = app.store.get().comments[id] ?? keptComments(id);
  if (now.length >= MAX_COMMENTS) app.note('One message can’t hold more comments. Send these first.', { tone: 'bad' });
  else setComments(app, id, [...now, comment]);
}

/** @param {Comment} comment */
const placeWords = (comment) =>
  comment.line === null ? comment.path : `${comment.path}:${comment.line}${comment.side === 'old' ? ' (before)' : ''}`;

/**
 * The message as the agent gets it: a person's words, then each remark with its place and its line. Pure.
 * @param {string} text
 * @param {Comment[]} comments
 */
export function withComments(text, comments) {
  if (!comments.length) return text;
  const remarks = comments.map(
    (comment) => `- ${placeWords(comment)}\n  > ${comment.code.trim()}\n  ${comment.text.replaceAll('\n', '\n  ')}`,
  );
  return `${text ? `${text}\n\n` : ''}Comments on the changes:\n\n${remarks.join('\n')}`;
}

/**
 * @param {Comment[]} comments
 * @param {(n: number) => void} drop
 */
export const commentChips = (comments, drop) =>
  comments.length > 0 &&
  h(
    'ul',
    { class: 'remarks', 'aria-label': 'Comments that go with this message' },
    comments.map((comment, n) =>
      h(
        'li',
        { title: visible(`${placeWords(comment)}\n${comment.text}`) },
        icon('chat', 14),
        h('b', null, visible(comment.path.split('/').pop() ?? '') + (comment.line === null ? '' : `:${comment.line}`)),
        h('span', null, visible(comment.text)),
        iconButton('x', `Remove the comment on ${visible(placeWords(comment))}`, {
          class: 'is-small',
          onclick: () => drop(n),
        }),
      ),
    ),
  );
