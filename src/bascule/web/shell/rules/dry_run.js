/** What a rule would have answered among the requests of the past. */

import { h } from '../../js/dom.js';
import { count, moment } from '../../js/format.js';
import { own } from '../../js/tables.js';
import { visible } from '../../js/visible.js';
import { agentTitle } from '../sessions.js';
import { answerBadge } from './format.js';

/** @typedef {import('../state.js').State} State */

const MAX_SHOWN = 12;
const THEN = { allow: 'allowed', deny: 'denied', withdrawn: 'taken back', open: 'still open' };

/**
 * @param {State} state
 * @param {import('../../js/types.d.ts').DryRun} run
 */
export function dryRun(state, run) {
  const now = Date.now();
  return h(
    'div',
    { class: 'dryrun', role: 'status', 'data-key': 'dryrun' },
    h(
      'p',
      null,
      h('b', null, `It would have answered ${run.fits || 'none'} of ${count(run.looked, 'past request')}.`),
      run.differs
        ? h(
            'span',
            { class: 'differs' },
            ` ${run.differs === 1 ? 'One was' : `${run.differs} were`} answered differently then.`,
          )
        : '',
    ),
    run.requests.length > 0 &&
      h(
        'ul',
        null,
        run.requests
          .slice(0, MAX_SHOWN)
          .map((request) =>
            h(
              'li',
              { class: ['allow', 'deny'].includes(request.then) && request.then !== request.now ? 'differs' : '' },
              answerBadge(request.now),
              h('code', { title: visible(request.text) }, visible(request.text)),
              h(
                'small',
                null,
                `${agentTitle(state, request.agent)} · ${own(THEN, request.then) ?? ''}` +
                  `${request.by ? ` by ${visible(request.by)}` : ''} · ${moment(request.at, now)}`,
              ),
            ),
          ),
      ),
    run.requests.length > MAX_SHOWN && h('p', { class: 'hint' }, `and ${run.fits - MAX_SHOWN} more`),
  );
}
