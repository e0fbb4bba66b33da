/** What the inbox lists, in order, and what each row says. Pure but for the code of a command. */

import { fieldsOf } from '../../js/json.js';
import { h } from '../../js/dom.js';
import { folderName, nearPath, waited } from '../../js/format.js';
import { visible } from '../../js/visible.js';
import { limitOf } from '../capability.js';
import { machineTag } from '../machines.js';
import { isOver, sessionsInOrder, titleOf } from '../sessions.js';
import { answerKey, openRequests, requestKey } from '../state.js';
import { guarded, guardTitle } from './guard.js';
import { requestWords } from './rule_scope.js';
import { decisionWord, listedAnswers, outcomeWords, waitWords } from './waiting.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */
/** @typedef {import('../../js/dom.js').Child} Child */
/**
 * @typedef {{
 *   key: string,
 *   tone: string,
 *   agent: string,
 *   first: string,
 *   at: string,
 *   second: Child,
 *   third: string,
 * }} Row
 */

/** @param {State} state */
export function inboxItems(state) {
  const open = openRequests(state);
  const asked = new Set(open.map(requestKey));
  const rest = sessionsInOrder(state).filter(
    (session) => session.open_requests === 0 && !session.guard && session.seq > (state.seen[session.session_id] ?? 0),
  );
  return {
    open,
    given: listedAnswers(state, Date.now()).filter((answer) => !asked.has(answerKey(answer))),
    guards: guarded(state),
    stopped: rest.filter(
      (session) => isOver(session) && (session.phase === 'failed' || session.end_reason !== 'closed'),
    ),
    finished: rest.filter((session) => session.phase === 'waiting' && session.turns > 0),
  };
}

/** @param {ReturnType<typeof inboxItems>} items */
export const keysOf = ({ open, guards, given, stopped, finished }) => [
  ...new Set([
    ...open.map(requestKey),
    ...given.map(answerKey),
    ...[...guards, ...stopped, ...finished].map((guard) => guard.session_id),
  ]),
];

/**
 * An answer that was given while its machine was away.
 * @param {State} state
 * @param {import('../state.js').WaitedAnswer} answer
 * @returns {Row}
 */
export function answerRow(state, answer) {
  const session = state.sessions[answer.sessionId];
  const waits = answer.state === 'waiting';
  return {
    key: answerKey(answer),
    tone: waits || answer.state === 'applied' ? '' : 'failed',
    agent: session?.agent ?? '',
    first: waits ? waitWords(state, answer) : outcomeWords(answer),
    at: answer.settledAt ?? answer.at,
    second: waits ? `${decisionWord(answer)}. Open it to take it back.` : '',
    third: session ? placeWords(state, session, titleOf(session)) : visible(answer.sessionTitle),
  };
}

/**
 * @param {State} state
 * @param {OpenRequest} ask
 * @returns {Row}
 */
export function requestRow(state, ask) {
  const session = state.sessions[ask.session_id];
  const [first, second] = wordsOf(ask, session?.cwd ?? '');
  return {
    key: requestKey(ask),
    tone: 'blocked',
    agent: session?.agent ?? '',
    first,
    at: ask.opened_at,
    second,
    third: session ? placeWords(state, session, titleOf(session)) : '',
  };
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {Row}
 */
export const guardRow = (state, session) => ({
  key: session.session_id,
  tone: 'blocked',
  agent: session.agent,
  first: session.guard ? guardTitle(session.guard) : '',
  at: session.updated_at,
  second: session.guard?.text ?? '',
  third: placeWords(state, session, titleOf(session)),
});

/**
 * @param {State} state
 * @param {SessionRecord} session
 * @param {string} more
 */
const placeWords = (state, session, more) =>
  [folderName(session.cwd), machineTag(state, session), limitOf(session), more].filter(Boolean).join(' · ');

/**
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {Row}
 */
export const stoppedRow = (state, session) => ({
  key: session.session_id,
  tone: 'failed',
  agent: session.agent,
  first: session.phase !== 'failed' ? 'Exited on its own' : session.turns > 0 ? 'Did not come back' : 'Did not start',
  at: session.updated_at,
  second: visible(session.end_message ?? session.end_reason ?? ''),
  third: placeWords(state, session, titleOf(session)),
});

/**
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {Row}
 */
export const finishedRow = (state, session) => ({
  key: session.session_id,
  tone: '',
  agent: session.agent,
  first: titleOf(session),
  at: session.updated_at,
  second: '',
  third: placeWords(state, session, session.cost_usd ? `$${session.cost_usd.toFixed(2)}` : ''),
});

/**
 * @param {Row} row
 * @param {number} now
 */
export const ageOf = (row, now) => waited(now - Date.parse(row.at));

/**
 * What a row says of a request; one without words keeps its row.
 * @param {OpenRequest} ask
 * @param {string} cwd
 * @returns {[string, Child]}
 */
function wordsOf(ask, cwd) {
  try {
    return [whatOf(ask), subject(ask, cwd)];
  } catch (error) {
    console.error(error);
    return ['A request that can’t be shown', ''];
  }
}

/** @param {OpenRequest} ask */
function whatOf(ask) {
  if (ask.kind !== 'question') return requestWords(ask.asked);
  const { length } = ask.asked.questions;
  return length === 1 ? 'A question' : `${length} questions`;
}

/**
 * @param {OpenRequest} ask
 * @param {string} cwd
 */
function subject(ask, cwd) {
  if (ask.kind === 'question') return visible(ask.asked.questions[0]?.question ?? '');
  const input = fieldsOf(ask.asked.input);
  if (typeof input.command === 'string') return h('code', null, visible(input.command));
  const path = input.file_path ?? input.path;
  return typeof path === 'string' ? pathCode(nearPath(path, cwd)) : h('code', null, visible(ask.asked.title));
}

/**
 * Where there is too little room, the folder is cut and never the file's name.
 * @param {string} path
 */
function pathCode(path) {
  const cut = path.lastIndexOf('/') + 1;
  return h(
    'code',
    { class: 'is-path', title: visible(path) },
    h('span', null, visible(path.slice(0, cut))),
    h('b', null, visible(path.slice(cut))),
  );
}
