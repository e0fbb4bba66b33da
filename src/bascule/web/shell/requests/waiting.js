/** Answers given while a machine was away: which wait for it, how one is taken back, and what became of the others. */

import { h } from '../../js/dom.js';
import { clockTime } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { nameOf } from '../sessions.js';
import { answerKey, waitingAnswers } from '../state.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').WaitedAnswer} WaitedAnswer */
/** @typedef {import('../../js/store.js').Store<State>} Store */

const LISTED_FOR = 12 * 3600 * 1000; // milliseconds after an answer was settled

/**
 * Read them again, and say what became of those that waited until now.
 * @param {Store} store
 * @param {import('../../js/api.js').Api} api
 * @param {(text: string, more?: {tone?: string}) => void} note
 */
export async function loadAnswers(store, api, note) {
  if (store.get().me?.sessionId) return; // a link to one session lists none
  const answers = await api.answers().catch(() => null); // the line is down: asked again with the next connect
  if (!answers) return;
  const waited = new Set(waitingAnswers(store.get()).map((answer) => answer.id));
  store.set({ answers });
  for (const answer of answers)
    if (waited.has(answer.id) && answer.state !== 'waiting' && answer.state !== 'taken_back')
      note(`${outcomeWords(answer)}.`, answer.state === 'applied' ? {} : { tone: 'bad' });
}

/**
 * Of each request its newest answer: those that wait, and what lately became of others.
 * @param {State} state
 * @param {number} now
 */
export function listedAnswers(state, now) {
  const newest = new Map([...state.answers].reverse().map((answer) => [answerKey(answer), answer]));
  return [...newest.values()]
    .filter((answer) => answer.state === 'waiting' || isRecent(answer, now))
    .sort((a, b) => (a.at < b.at ? 1 : -1));
}

/**
 * @param {WaitedAnswer} answer
 * @param {number} now
 */
const isRecent = (answer, now) =>
  answer.state !== 'taken_back' && Boolean(answer.settledAt) && now - Date.parse(answer.settledAt ?? '') < LISTED_FOR;

/** @param {WaitedAnswer} answer */
export const decisionWord = ({ decision }) =>
  decision === 'allow' ? 'Allowed' : decision === 'deny' ? 'Denied' : 'Answered';

/**
 * "Your answer waits for laptop"
 * @param {State} state
 * @param {WaitedAnswer} answer
 */
export function waitWords(state, answer) {
  const mine = nameOf(state, answer.by) !== answer.by;
  return `${mine ? 'Your answer' : `The answer of ${visible(answer.by)}`} is waiting for ${visible(answer.deviceName)}`;
}

/**
 * "Denied, delivered 14:03"; or why it was not.
 * @param {WaitedAnswer} answer
 */
export function outcomeWords(answer) {
  const [done, name] = [decisionWord(answer), visible(answer.deviceName)];
  if (answer.state === 'applied') return `${done}, delivered to ${name} ${clockTime(answer.settledAt ?? '')}`;
  return `${done} for ${name}. ${visible(answer.outcome).replace(/\.$/, '')}`;
}

/** @param {WaitedAnswer} answer */
function untilWords(answer) {
  const given = `${decisionWord(answer)} at ${clockTime(answer.at)}.`;
  if (answer.sentAt) return `${given} Sent at ${clockTime(answer.sentAt)}; no reply has come yet.`;
  if (!answer.expiresAt) return `${given} It is delivered as soon as the machine is back.`;
  return `${given} It is delivered only if the machine is back before ${clockTime(answer.expiresAt)}.`;
}

/**
 * In the place of the request that was answered; or above it, when the answer did not arrive.
 * @param {import('../app.js').App} app
 * @param {State} state
 * @param {WaitedAnswer} answer
 */
export function answerCard(app, state, answer) {
  if (answer.state !== 'waiting')
    return h(
      'div',
      { class: 'note bad', role: 'status', 'data-key': `waits ${answer.id}` },
      icon('alert'),
      h('span', null, `${outcomeWords(answer)}.`),
    );
  const takeBack = () =>
    void app.api
      .takeBack(answer.sessionId, answer.id)
      .then(() => loadAnswers(app.store, app.api, app.note), app.trouble);
  return h(
    'div',
    { class: 'note warm', role: 'status', 'data-key': `waits ${answer.id}` },
    icon('clock'),
    h('span', null, `${waitWords(state, answer)}.`, ' ', h('small', null, untilWords(answer))),
    answer.mayTakeBack && h('button', { type: 'button', class: 'button line', onclick: takeBack }, 'Take back'),
  );
}
