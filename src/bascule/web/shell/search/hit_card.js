/** One session among the results of a search, with what was said in it. */

import { h } from '../../js/dom.js';
import { folderName, moment } from '../../js/format.js';
import { table } from '../../js/tables.js';
import { agentLetter, isolated } from '../parts.js';
import { machineTag } from '../machines.js';
import { statusOf, titleOf } from '../sessions.js';
import { recordOf } from './filters.js';
import { marked } from './hits.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {ReturnType<typeof import('./hits.js').bySession>[number]} Group */
/** @typedef {{goTo: (id: string, seq: number) => void, open: () => void}} Does */

/** What a hit is, where its words do not say it. @type {Record<string, string>} */
const KINDS = table({ prompt: 'Asked', plan: 'Plan', request: 'Question', event: 'Note' });

/**
 * @param {State} state
 * @param {Group} group
 * @param {boolean} opened whether all its hits are shown
 * @param {Does} does
 */
export function hitCard(state, group, opened, does) {
  const session = recordOf(state, group.sessionId);
  const titled = group.hits.find((hit) => hit.firstSeq === 0);
  const said = group.hits.filter((hit) => hit.firstSeq > 0);
  const shown = opened ? said : said.slice(0, 1);
  const goTo = (/** @type {number} */ seq) => () => does.goTo(group.sessionId, seq);
  return h(
    'article',
    { class: 'search-hit', 'data-key': group.sessionId },
    agentLetter(session.agent || group.title, true),
    h(
      'div',
      null,
      h(
        'button',
        { type: 'button', class: 'search-hit__title', onclick: goTo(shown[0]?.firstSeq ?? 0) },
        h(
          'b',
          { dir: 'auto' },
          titled ? marked(titled.snippet) : titleOf({ ...session, title: session.title || group.title }),
        ),
      ),
      h('small', null, isolated(factsOf(state, group))),
      shown.map((hit) =>
        h(
          'button',
          { type: 'button', class: 'search-hit__quote', 'data-key': String(hit.firstSeq), onclick: goTo(hit.firstSeq) },
          KINDS[hit.kind] && h('small', null, KINDS[hit.kind]),
          h('q', { dir: 'auto' }, marked(hit.snippet)),
        ),
      ),
      said.length > shown.length &&
        h(
          'button',
          { type: 'button', class: 'search-hit__more', onclick: does.open },
          `and ${said.length - shown.length} more in this session`,
        ),
    ),
  );
}

/**
 * @param {State} state
 * @param {Group} group
 */
function factsOf(state, group) {
  const session = recordOf(state, group.sessionId);
  return [
    session.cwd && folderName(session.cwd),
    machineTag(state, { device: group.hits[0].device || session.device }),
    moment(group.hits[0].at, Date.now()),
    group.archived ? 'archived' : state.sessions[group.sessionId] && statusOf(state, session).word.toLowerCase(),
  ]
    .filter(Boolean)
    .join(' · ');
}
