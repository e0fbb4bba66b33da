/** One prompt, several agents: their transcripts side by side, what each changed, and keeping one. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { plusMinus } from '../../js/lines.js';
import { visible } from '../../js/visible.js';
import { age, clockTime, count, duration, folderName, money } from '../../js/format.js';
import { changesView, sumOf } from './changes.js';
import { columnFrame } from './column_frame.js';
import { agentLetter, control, dot } from '../parts.js';
import { agentTitle, deviceName, mayStart, modelName, statusOf } from '../state.js';
import { textBox } from '../composer/text_box.js';
import { put, table } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/**
 * @typedef {{
 *   sessionId: string,
 *   agent: string,
 *   model?: string,
 *   tree: string,
 *   branch: string,
 *   state?: string,
 *   problem?: string,
 * }} Contestant
 */
/**
 * @typedef {{
 *   id: string,
 *   title: string,
 *   prompt: string,
 *   folder: string,
 *   top: string,
 *   baseBranch?: string,
 *   dirty?: number,
 *   createdAt: string,
 *   createdBy: string,
 *   contestants: Contestant[],
 *   kept?: string,
 * }} Comparison
 */

/**
 * @typedef {{
 *   element: HTMLElement,
 *   head: HTMLElement,
 *   well: HTMLElement,
 *   diff: HTMLElement,
 *   foot: HTMLElement,
 *   frames: ReturnType<typeof columnFrame>,
 * }} Slot
 */

const MOST = 4;
const BUSY = ['starting', 'running', 'interrupted'];

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountCompare(root, app) {
  /** @type {Comparison | null} */
  let shown = null;
  /** @type {Comparison[] | null} */
  let all = null;
  let problem = '';
  /** What each session changed, by its id. @type {Record<string, any>} */
  let changes = table();
  /** How often each was looked at. @type {Record<string, number>} */
  const looks = table();
  /** Which sessions show their diff instead of the transcript. @type {Record<string, boolean>} */
  let diffs = table();
  /**
   * A question about one column, or about the trees that are left.
   * @type {{keep?: string, remove?: string[], busy?: boolean, problem?: string} | null}
   */
  let asking = null;
  let asked = '';

  const head = h('header', { class: 'tbar' });
  const above = h('div', { class: 'cabove' });
  const slots = Array.from({ length: MOST }, () => {
    const well = h('div', { class: 'well cwell' });
    const parts = { head: h('header'), diff: h('div', { class: 'well cdiff', hidden: true }), foot: h('footer'), well };
    const element = h('section', { class: 'ccol', hidden: true }, parts.head, well, parts.diff, parts.foot);
    return {
      ...parts,
      element,
      frames: columnFrame(app, well, (id) => {
        const one = shown?.contestants.find((each) => each.sessionId === id);
        if (one) void look(one);
      }),
    };
  });
  const columns = h(
    'div',
    { class: 'ccols', tabindex: -1 },
    slots.map((slot) => slot.element),
  );
  const { area, set } = textBox(
    { class: 'ta', 'aria-label': 'Message' },
    { change: () => again(), sends: (event) => control(event) || !event.shiftKey, send: () => void send() },
  );
  const row = h('div', { class: 'crow' });
  const box = h('div', { class: 'comp' }, area, row);
  const dock = h('div', { class: 'cdock' }, box);
  const list = h('div', { class: 'clist' });
  root.append(head, above, list, columns, dock);
  const again = () => draw(app.store.get());

  /** @param {string | undefined} id */
  async function load(id) {
    try {
      if (id) {
        const fresh = /** @type {Comparison} */ (await app.feed.call('compare:show', { comparisonId: id }));
        if (app.store.get().route.id !== id) return;
        if (shown?.id !== id) {
          changes = table();
          diffs = table();
          asking = null;
        }
        shown = fresh;
        // The first look is when its transcript is open.
        for (const one of fresh.contestants) if (changes[one.sessionId]) void look(one);
      } else {
        shown = null;
        all = (await app.feed.call('compare:list')).comparisons;
      }
      problem = '';
    } catch (error) {
      shown = null;
      problem = /** @type {Error} */ (error).message;
    }
    again();
  }

  /** @param {Contestant} one */
  async function look(one) {
    if (!shown) return;
    const id = shown.id;
    const mine = (looks[one.sessionId] = (looks[one.sessionId] ?? 0) + 1);
    const found = await app.feed
      .call('compare:changes', { comparisonId: id, sessionId: one.sessionId })
      .catch(() => null); // asked again after the next turn
    // A later look may have answered first.
    if (found && shown?.id === id && looks[one.sessionId] === mine) {
      changes = put(changes, one.sessionId, found);
      again();
    }
  }

  async function send() {
    const text = area.value.trim();
    const live = liveOnes(app.store.get());
    if (!text || !live.length) return;
    set('');
    for (const one of live) await app.api.send(one.sessionId, { text, key: crypto.randomUUID() }).catch(app.trouble);
    again();
  }

  /** @param {State} state */
  const liveOnes = (state) =>
    (shown?.contestants ?? []).filter(
      (one) =>
        state.sessions[one.sessionId] && !['ended', 'failed', 'ending'].includes(state.sessions[one.sessionId].phase),
    );

  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'compare';
    if (root.hidden) {
      asked = '';
      for (const slot of slots) slot.frames.show(null);
      return;
    }
    const wanted = `${state.route.id ?? ''} ${state.line.phase}`;
    if (asked !== wanted && state.line.phase === 'live') {
      asked = wanted;
      void load(state.route.id);
    }
    const one = shown && shown.id === state.route.id ? shown : null;
    update(head, [
      h('h1', null, one ? visible(one.title) : 'Compare'),
      one &&
        h(
          'span',
          { class: 'cwhere' },
          icon('folder', 14),
          h('span', { title: visible(one.folder) }, visible(folderName(one.top))),
          h('span', { class: 'ctrees' }, ' · one work tree each'),
          h(
            'span',
            { class: 'cdev' },
            ' · ',
            icon('device', 14),
            state.sessions[one.contestants[0]?.sessionId]
              ? deviceName(state, state.sessions[one.contestants[0].sessionId])
              : (state.devices[0]?.name ?? 'this machine'),
          ),
        ),
    ]);
    update(
      above,
      [
        problem && h('div', { class: 'note bad', role: 'alert' }, icon('alert'), h('span', null, visible(problem))),
        one && promptLine(one),
        one && dirtyNote(one),
        one && trees(state, one),
      ].flat(),
    );
    update(list, one || state.route.id ? [] : [overview(state)]);
    list.hidden = Boolean(state.route.id);
    columns.hidden = !one;
    columns.dataset.n = String(one?.contestants.length ?? 0);
    slots.forEach((slot, n) => column(state, slot, one, one?.contestants[n]));
    dock.hidden = !one || !mayStart(state) || liveOnes(state).length === 0;
    if (!dock.hidden) composer(state);
  }

  /** @param {Comparison} one */
  const promptLine = (one) =>
    h(
      'p',
      { class: 'cprompt' },
      icon('user', 14),
      h('span', null, visible(one.prompt)),
      h('small', null, `${visible(one.createdBy)} · ${clockTime(one.createdAt)}`),
    );

  /** @param {Comparison} one */
  const dirtyNote = (one) =>
    one.dirty
      ? h(
          'p',
          { class: 'hint' },
          icon('info', 14),
          ` ${count(one.dirty, 'file')} in ${visible(folderName(one.top))} ${one.dirty === 1 ? 'was' : 'were'} ` +
            `not committed, so nobody here has ${one.dirty === 1 ? 'it' : 'them'}. ` +
            `Everybody began from the last commit${one.baseBranch ? ` of ${visible(one.baseBranch)}` : ''}.`,
        )
      : null;

  /**
   * After one was kept: the rest can go.
   * @param {State} state
   * @param {Comparison} one
   */
  function trees(state, one) {
    const left = one.contestants.filter((each) => each.state === 'there');
    const kept = one.contestants.find((each) => each.sessionId === one.kept);
    if (!mayStart(state) || !left.length || (!kept && !asking?.remove)) return null;
    const going = asking?.remove ?? null;
    const words = kept
      ? `${agentTitle(state, kept.agent)}’s changes are in ${visible(folderName(one.top))}, not committed yet.`
      : '';
    if (!going)
      return h(
        'div',
        { class: 'note', role: 'status' },
        icon('okc'),
        h('span', null, words),
        h('span', { class: 'sp' }),
        h(
          'button',
          {
            type: 'button',
            class: 'btn line',
            onclick: () => {
              asking = { remove: left.map((each) => each.sessionId) };
              again();
            },
          },
          'Remove the work trees',
        ),
      );
    const alone = going.length === 1;
    const branches = left.filter((each) => going.includes(each.sessionId)).map((each) => visible(each.branch));
    const ignored = going.reduce((sum, id) => sum + (changes[id]?.ignored ?? 0), 0);
    return h(
      'div',
      { class: 'note sure', role: 'alertdialog', 'aria-label': 'Remove the work trees' },
      icon('trash'),
      h(
        'span',
        null,
        `Remove ${count(going.length, 'work tree')} and end ${alone ? 'its session' : 'their sessions'}? ` +
          `What was changed stays on the branch${alone ? '' : 'es'} ${branches.join(', ')}.`,
        ignored
          ? ` ${count(ignored, 'ignored file or folder', 'ignored files or folders')} go with ` +
              `${alone ? 'it' : 'them'}.`
          : '',
        asking?.problem && h('b', { class: 'bad' }, ` ${visible(asking.problem)}`),
      ),
      h('span', { class: 'sp' }),
      h(
        'button',
        {
          type: 'button',
          class: 'btn danger',
          disabled: Boolean(asking?.busy),
          onclick: () => void removeTrees(one, going),
        },
        'Remove',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'btn quiet',
          onclick: () => {
            asking = null;
            again();
          },
        },
        'Later',
      ),
    );
  }

  /**
   * @param {Comparison} one
   * @param {string[]} sessionIds
   */
  async function removeTrees(one, sessionIds) {
    asking = { ...asking, busy: true };
    again();
    try {
      const answer = await app.feed.call('compare:remove', { comparisonId: one.id, sessionIds, confirm: true });
      shown = answer.comparison;
      const stay = answer.trees.filter((/** @type {any} */ tree) => !tree.removed);
      asking = null;
      app.note(
        stay.length
          ? stay.map((/** @type {any} */ tree) => visible(tree.words)).join(' ')
          : `${count(answer.trees.length, 'work tree')} removed. The work is on the branches.`,
        stay.length ? { tone: 'bad', stay: true } : {},
      );
    } catch (error) {
      asking = { ...asking, busy: false, problem: /** @type {Error} */ (error).message };
    }
    again();
  }

  /**
   * @param {Comparison} one
   * @param {Contestant} each
   */
  async function keep(one, each) {
    asking = { keep: each.sessionId, busy: true };
    again();
    try {
      const answer = await app.feed.call('compare:keep', { comparisonId: one.id, sessionId: each.sessionId });
      asking = null;
      app.note(visible(answer.words));
      await load(one.id);
    } catch (error) {
      asking = { keep: each.sessionId, problem: /** @type {Error} */ (error).message };
      again();
    }
  }

  /**
   * @param {State} state
   * @param {Slot} slot
   * @param {Comparison | null} one
   * @param {Contestant | undefined} each
   */
  function column(state, slot, one, each) {
    slot.element.hidden = !one || !each;
    if (!one || !each) {
      slot.frames.show(null);
      return;
    }
    const session = state.sessions[each.sessionId];
    const status = each.problem
      ? { dot: 'failed', word: 'Not started' }
      : session
        ? statusOf(state, session)
        : { dot: 'ended', word: 'Gone' };
    const found = changes[each.sessionId];
    const sum = sumOf(found);
    slot.element.setAttribute('aria-label', agentTitle(state, each.agent));
    update(slot.head, [
      h(
        'div',
        { class: 'chead' },
        agentLetter(each.agent, true),
        h(
          'span',
          { class: 'cname' },
          h('b', null, agentTitle(state, each.agent)),
          h('small', null, visible((session && modelName(state, session)) || each.model || 'default model')),
        ),
        h('span', { class: 'sp' }),
        one.kept === each.sessionId && h('span', { class: 'rv ok' }, 'Kept'),
        h('span', { class: `pill pill-${status.dot}` }, dot(status.dot, ''), status.word),
      ),
      h(
        'dl',
        { class: 'cfacts' },
        fact('Time', timeOf(session)),
        fact('Cost', typeof session?.cost_usd === 'number' ? money(session.cost_usd) : '–'),
        fact('Changed', found ? plusMinus(sum.added, sum.removed) : '–'),
        fact('Files', found ? String(found.files.length) : '–'),
      ),
    ]);
    const diff = Boolean(diffs[each.sessionId]);
    slot.well.hidden = diff;
    slot.diff.hidden = !diff;
    slot.frames.show(each.problem ? null : each.sessionId);
    update(slot.diff, diff ? [changesView(found)] : []);
    update(slot.foot, footer(state, one, each, session, status, diff));
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  const fact = (name, value) => h('div', null, h('dt', null, name), h('dd', null, value));

  /** @param {any} session */
  function timeOf(session) {
    if (!session?.created_at) return '–';
    const busy = BUSY.includes(session.phase);
    const ms = (busy ? Date.now() : Date.parse(session.updated_at)) - Date.parse(session.created_at);
    return `${duration(Math.max(0, ms))}${busy ? ' so far' : ''}`;
  }

  /**
   * @param {State} state
   * @param {Comparison} one
   * @param {Contestant} each
   * @param {any} session
   * @param {{dot: string}} status
   * @param {boolean} diff
   */
  function footer(state, one, each, session, status, diff) {
    if (each.problem) return [h('p', { class: 'emsg' }, icon('alert', 14), visible(each.problem))];
    const working = BUSY.includes(session?.phase);
    const gone = each.state === 'removed';
    if (asking?.keep === each.sessionId) {
      return [
        h(
          'div',
          { class: 'csure', role: 'alertdialog', 'aria-label': 'Keep this one' },
          h(
            'p',
            null,
            asking.problem
              ? visible(asking.problem)
              : `Take these changes over into ${visible(folderName(one.top))}? They are not committed; ` +
                  'you look at them first.',
          ),
          h(
            'span',
            { class: 'cbtns' },
            !asking.problem &&
              h(
                'button',
                {
                  type: 'button',
                  class: 'btn pri',
                  disabled: Boolean(asking.busy),
                  onclick: () => void keep(one, each),
                },
                'Keep these changes',
              ),
            h(
              'button',
              {
                type: 'button',
                class: 'btn quiet',
                onclick: () => {
                  asking = null;
                  again();
                },
              },
              asking.problem ? 'Close' : 'Cancel',
            ),
          ),
        ),
      ];
    }
    const nothing = changes[each.sessionId] && !changes[each.sessionId].files.length;
    const why = gone
      ? `Removed. The work is on ${visible(each.branch)}.`
      : working
        ? 'It is still working'
        : nothing
          ? 'It changed no file'
          : null;
    return [
      h(
        'button',
        {
          type: 'button',
          class: 'btn line',
          'aria-pressed': String(diff),
          onclick: () => {
            diffs = put(diffs, each.sessionId, !diff);
            if (!diff) void look(each);
            again();
          },
        },
        icon(diff ? 'chat' : 'diff', 14),
        diff ? 'Transcript' : 'Diff',
      ),
      session &&
        h(
          'button',
          {
            type: 'button',
            class: `btn ${status.dot === 'blocked' ? 'line' : 'quiet calone'}`,
            onclick: () => app.go({ name: 'session', id: each.sessionId }),
          },
          status.dot === 'blocked' ? 'Answer' : 'Continue alone',
        ),
      h('span', { class: 'sp' }),
      mayStart(state) &&
        !one.kept &&
        h(
          'button',
          {
            type: 'button',
            class: 'btn line keep',
            disabled: Boolean(why),
            title: why,
            onclick: () => {
              asking = { keep: each.sessionId };
              again();
            },
          },
          icon('check', 14),
          'Keep this one',
        ),
      gone && h('span', { class: 'hint' }, why),
    ];
  }

  /** @param {State} state */
  function composer(state) {
    const live = liveOnes(state);
    const names =
      live.length === 2
        ? 'both agents'
        : live.length === 1
          ? agentTitle(state, live[0].agent)
          : `all ${live.length} agents`;
    area.placeholder = `Message ${names}`;
    update(row, [
      h(
        'span',
        { class: 'chip' },
        live.map((one) => agentLetter(one.agent)),
        names[0].toUpperCase() + names.slice(1),
      ),
      h('span', { class: 'sp' }),
      h(
        'button',
        {
          type: 'button',
          class: 'send',
          'aria-label': `Send to ${names}`,
          title: `Send to ${names}`,
          disabled: !area.value.trim(),
          onclick: () => void send(),
        },
        icon('send'),
      ),
    ]);
  }

  /** @param {State} state */
  function overview(state) {
    const outcome = (/** @type {Comparison} */ one) => {
      const kept = one.contestants.find((each) => each.sessionId === one.kept);
      return one.kept ? `kept ${agentTitle(state, kept?.agent ?? '')}` : count(one.contestants.length, 'agent');
    };
    if (!all) return null;
    if (!all.length)
      return h(
        'div',
        { class: 'center' },
        h(
          'div',
          { class: 'emptyt' },
          icon('columns', 24),
          h('h2', null, 'Nothing to compare yet'),
          h('p', null, 'Start one task with several agents, and their work will be side by side here.'),
          h('button', { type: 'button', class: 'btn line', onclick: () => app.go({ name: 'start' }) }, 'New session'),
        ),
      );
    return h(
      'ul',
      { class: 'cover' },
      all.map((one) =>
        h(
          'li',
          { 'data-key': one.id },
          h(
            'button',
            { type: 'button', onclick: () => app.go({ name: 'compare', id: one.id }) },
            h(
              'span',
              { class: 'cletters' },
              one.contestants.map((each) => agentLetter(each.agent)),
            ),
            h('span', { class: 'ctitle' }, visible(one.title)),
            h('small', null, `${visible(folderName(one.top))} · ${outcome(one)} · ${age(one.createdAt, Date.now())}`),
          ),
        ),
      ),
    );
  }

  app.events.on('compare:changed', () => {
    if (app.store.get().route.name === 'compare') void load(app.store.get().route.id);
  });
  // A turn is over: what it changed is there to be looked at. Its phase may be back before anybody drew it.
  app.events.on('session:events', ({ sessionId, entries }) => {
    const one = shown?.contestants.find((each) => each.sessionId === sessionId);
    if (one && entries.some((/** @type {any} */ entry) => entry.event.type === 'turn_ended')) void look(one);
  });
  app.store.subscribe((now, before) => {
    if (now.route.name === 'compare' || before.route.name === 'compare') draw(now);
  });
  draw(app.store.get());
}
