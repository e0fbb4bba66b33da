/** Another tool's permission lists, line by line: each becomes a rule only by its own click. */

import { where } from '../settings/machine_picker.js';
import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { count } from '../../js/format.js';
import { coded } from './format.js';

/** @typedef {import('../settings/parts.js').Context} Context */

/**
 * @param {Context} context
 * @param {import('../state.js').Device | undefined} refuses the machine that takes no rule that allows from here
 */
export function importCard(context, refuses) {
  const { app, loaded, again } = context;
  const { proposals = [], read = [], problems = [] } = loaded.proposals ?? {};
  const add = async (/** @type {import('../../js/types.d.ts').Proposal} */ proposal) => {
    if (!proposal.rule) return;
    try {
      await app.feed.call('rules:add', { rule: proposal.rule, ...where(context) });
      proposal.known = true;
      loaded.rules = await app.feed.call('rules:list', where(context));
    } catch (error) {
      app.trouble(error);
    }
    again();
  };
  const exact = proposals.filter((proposal) => proposal.rule).length;
  return h(
    'section',
    { class: 'card settings-card imports', 'data-key': 'imports', 'aria-label': 'Import' },
    h(
      'header',
      null,
      h('h3', null, 'From Claude Code’s settings'),
      h('span', { class: 'spacer' }),
      iconButton('x', 'Close the import', {
        onclick: () => {
          loaded.proposals = null;
          again();
        },
      }),
    ),
    h(
      'p',
      { class: 'hint' },
      read.length
        ? `${count(proposals.length, 'line')} in ${read.map(visible).join(', ')}. ${exact} can be expressed ` +
            'exactly; nothing becomes a rule until you add it.'
        : 'No list was found, neither in your home folder nor in the project.',
    ),
    problems.map((text) => h('p', { class: 'error-message' }, icon('alert', 14), visible(text))),
    proposals.length > 0 &&
      h(
        'ul',
        null,
        proposals.map((proposal, n) =>
          h(
            'li',
            { 'data-key': String(n) },
            h(
              'span',
              { class: 'ptext' },
              h('code', null, visible(proposal.text)),
              h('small', null, coded(proposal.rule ? proposal.words : (proposal.problem ?? ''))),
            ),
            proposal.known
              ? h('span', { class: 'verdict-mark' }, 'Added')
              : proposal.rule && !(refuses && proposal.rule.answer === 'allow')
                ? h('button', { type: 'button', class: 'button line', onclick: () => void add(proposal) }, 'Add')
                : h(
                    'span',
                    { class: 'verdict-mark is-asked' },
                    proposal.rule && refuses ? `Only on ${visible(refuses.name)}` : 'Left out',
                  ),
          ),
        ),
      ),
  );
}
