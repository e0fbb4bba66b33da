/**
 * The docked request: exactly what an agent wants, and the buttons that answer it. Drawn by the shell, outside
 * every frame. Inert for its first half second, focus never on Allow, gone because of the event, not the click.
 */

import { counts, editsIn } from '../../js/diff.js';
import { h, iconButton } from '../../js/dom.js';
import { highlighted, languageOf } from '../../js/highlight.js';
import { icon } from '../../js/icons.js';
import { diffView, plusMinus } from '../../js/lines.js';
import { hasHidden, tame, visible } from '../../js/visible.js';
import { folderName, nearPath, waited } from '../../js/format.js';
import { keyCap, menu } from '../parts.js';
import { alwaysHere } from '../rules/always.js';
import { planView, shown } from './plan.js';
import { scopeOf, requestTitle } from './rule_scope.js';
import { agentTitle, requestKey, deviceName, titleOf } from '../state.js';
import { own, put } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */

export const GUARD = 500;

const BUTTONS = { a: '.btn.pri', s: '.btn.scope', d: '.btn.danger' };
/**
 * In colour when nothing in it hides; otherwise what hides is all that counts.
 * @param {string} text
 * @param {string} language
 */
const coloured = (text, language) => h('span', null, hasHidden(text) ? shown(text) : highlighted(text, language));

/** @param {unknown} value */
function textOf(value) {
  if (typeof value === 'string') return value;
  const short = JSON.stringify(value) ?? '';
  return short.length < 80 ? short : JSON.stringify(value, null, 1);
}

/**
 * The exact thing that would happen, whole.
 * @param {any} asked
 * @param {string} cwd
 * @returns {any[]}
 */
export function exactly(asked, cwd) {
  const input = asked.input && typeof asked.input === 'object' ? asked.input : {};
  if (asked.kind === 'execute' && typeof input.command === 'string') {
    return [h('pre', { class: 'cmd' }, h('span', { class: 'pr' }, '$ '), coloured(input.command, 'bash'))];
  }
  if (asked.kind === 'plan' && typeof input.plan === 'string')
    return [h('div', { class: 'cmd md' }, planView(input.plan))];
  const edits = asked.kind === 'edit' ? editsIn(input) : [];
  if (edits.length) {
    return edits.flatMap(({ path, lines }) => {
      const { added, removed } = counts(lines);
      return [
        h(
          'p',
          { class: 'meta2 top' },
          h('span', { title: visible(path) }, icon('edit', 14), shown(nearPath(path, cwd))),
          plusMinus(added, removed),
        ),
        h(
          'div',
          { class: 'inask' },
          diffView(lines, (text) => coloured(text, languageOf(path))),
        ),
      ];
    });
  }
  if (asked.kind === 'read' || (asked.kind === 'fetch' && typeof input.url === 'string')) {
    return [h('pre', { class: 'cmd' }, shown(String(input.file_path ?? input.path ?? input.url ?? textOf(input))))];
  }
  return [
    h('p', { class: 'meta2 top' }, h('span', null, icon('code', 14), shown(String(asked.tool)))),
    h(
      'dl',
      { class: 'params cmd' },
      Object.entries(input).flatMap(([name, value]) => [
        h('dt', null, shown(name)),
        h('dd', null, shown(textOf(value))),
      ]),
    ),
  ];
}

/**
 * Every field a person judges by.
 * @param {any} asked
 */
function hides(asked) {
  const parts = [asked.tool, asked.title, asked.note ?? '', asked.blocked_path ?? ''];
  const walk = (/** @type {unknown} */ value) => {
    if (typeof value === 'string') parts.push(value);
    else if (value && typeof value === 'object')
      Object.entries(value).forEach(([name, one]) => {
        parts.push(name);
        walk(one);
      });
  };
  walk(asked.input);
  return parts.some((part) => hasHidden(part));
}

/** @param {any} asked */
function reasonWords(asked) {
  if (asked.blocked_path)
    return ['You are asked because ', h('code', null, shown(asked.blocked_path)), ' is outside what it may touch.'];
  const input = asked.input ?? {};
  if (asked.kind === 'execute')
    return [
      'You are asked because no rule covers ',
      h(
        'code',
        null,
        visible(
          String(input.command ?? asked.tool)
            .trim()
            .split(/\s+/)[0],
        ).slice(0, 60),
      ),
      '.',
    ];
  if (asked.kind === 'edit') return ['You are asked because edits need a person.'];
  if (asked.kind === 'plan') return ['It will begin once you agree. Each action is still asked about.'];
  return ['You are asked because no rule covers ', h('code', null, visible(asked.tool)), '.'];
}

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenRequest} ask
 * @param {{
 *   at: number,
 *   all: OpenRequest[],
 *   built: boolean,
 *   modal: boolean,
 *   inert: boolean,
 *   seen: boolean,
 *   reason: boolean,
 *   onPick: (step: number) => void,
 *   onReason: (on: boolean) => void,
 *   onScroll: () => void,
 *   answer: (ask: OpenRequest, command: Record<string, any>) => void,
 * }} turn
 */
export function permissionCard(app, state, ask, turn) {
  const session = state.sessions[ask.session_id];
  const asked = ask.asked;
  const agent = agentTitle(state, session?.agent ?? '');
  const title = requestTitle(agent, asked);
  const blocked = turn.inert || !turn.seen || Boolean(ask.sending);
  return h(
    'section',
    {
      class: `ask ${turn.inert ? 'inert' : ''}`,
      role: 'dialog',
      'aria-modal': turn.modal ? 'true' : null,
      'aria-labelledby': 'ask-title',
      tabindex: -1,
      'data-key': `${ask.session_id}/${ask.request_id}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => keys(event, turn),
    },
    header(app, state, ask, title, turn),
    h('div', { class: 'guard', 'data-key': 'guard' }),
    h(
      'div',
      { class: 'askb', 'data-key': 'body', onscroll: () => turn.onScroll() },
      h(
        'p',
        { class: 'actx' },
        session ? `${titleOf(session)} · ${folderName(session.cwd)} · ${deviceName(state, session)}` : '',
      ),
      // Drawn once: a request never changes, and a long one is costly to draw each second.
      h(
        'div',
        {
          class: `body ${asked.kind === 'plan' ? 'tall' : ''}`,
          tabindex: 0,
          role: 'group',
          'aria-label': 'What it wants to do',
          'data-key': 'what',
          'data-island': '',
          onscroll: () => turn.onScroll(),
        },
        turn.built ? [] : exactly(asked, session?.cwd ?? ''),
      ),
      hides(asked) &&
        h(
          'p',
          { class: 'warn' },
          icon('alert', 14),
          'It holds characters that do not show. They are written out and marked.',
        ),
      h(
        'div',
        { class: 'meta2' },
        h(
          'span',
          { title: session?.cwd ?? '' },
          icon('folder', 14),
          h('span', { class: 'path' }, shown(session?.cwd ?? '')),
        ),
        asked.note && h('span', { class: 'says' }, 'Agent’s note: “', shown(tame(asked.note)), '”'),
      ),
      h('p', { class: 'why' }, icon('info', 14), h('span', null, reasonWords(asked))),
    ),
    !turn.seen && h('p', { class: 'seeall', 'data-key': 'seeall' }, icon('down', 14), 'Scroll to the end to allow it.'),
    turn.reason && reasonField(ask, turn),
    alwaysHere(app, state, ask, turn, blocked),
    buttons(ask, asked, turn, blocked),
  );
}

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenRequest} ask
 * @param {string} title
 * @param {any} turn
 */
export function header(app, state, ask, title, turn) {
  const key = requestKey(ask);
  const setAside = (/** @type {boolean} */ away) => app.store.set((now) => ({ later: put(now.later, key, away) }));
  return h(
    'header',
    { 'data-key': 'head', onclick: state.later[key] ? () => setAside(false) : null },
    h('span', { class: 'seal' }, icon('logo', 18)),
    h('h2', { id: 'ask-title' }, title),
    h('span', { class: 'wait' }, `waiting ${waited(Date.now() - Date.parse(ask.opened_at))}`),
    h('span', { class: 'sp' }),
    h(
      'button',
      {
        type: 'button',
        class: 'btn quiet later',
        onclick: (/** @type {Event} */ event) => {
          event.stopPropagation();
          setAside(true);
        },
      },
      'Later',
    ),
    turn.all.length > 1 &&
      h(
        'span',
        { class: 'pager' },
        iconButton('left', 'The one before', { onclick: () => turn.onPick(-1) }),
        `${turn.at + 1} of ${turn.all.length}`,
        iconButton('right', 'The next one', { onclick: () => turn.onPick(1) }),
      ),
  );
}

/**
 * Was the end of everything that scrolls in sight? What is not on the screen at all was not.
 * @param {Element} root
 */
export function endInSight(root) {
  const parts = [...root.querySelectorAll('.askb, .body')];
  return (
    parts.length > 0 &&
    parts.every((one) => one.clientHeight > 0 && one.scrollTop + one.clientHeight >= one.scrollHeight - 4)
  );
}

/**
 * @param {OpenRequest} ask
 * @param {any} turn
 */
function reasonField(ask, turn) {
  return h(
    'form',
    {
      class: 'reason',
      'data-key': 'reason',
      onsubmit: (/** @type {any} */ event) => {
        event.preventDefault();
        turn.answer(ask, {
          decision: 'deny',
          message: event.currentTarget.querySelector('input').value.trim() || null,
        });
      },
    },
    h('input', {
      class: 'inp grow',
      'aria-label': 'Reason',
      placeholder:
        ask.asked.kind === 'plan' ? 'Say what the plan should do instead' : 'Say why, so that it can do better',
      maxlength: 4000,
    }),
    ask.asked.reason_follows ? h('span', { class: 'hint' }, 'Sent as your next message.') : null,
    h('button', { class: 'btn danger', type: 'submit' }, ask.asked.kind === 'plan' ? 'Send' : 'Deny'),
    h('button', { class: 'btn quiet', type: 'button', onclick: () => turn.onReason(false) }, 'Cancel'),
  );
}

/**
 * @param {OpenRequest} ask
 * @param {any} asked
 * @param {any} turn
 * @param {boolean} blocked
 */
function buttons(ask, asked, turn, blocked) {
  const options = asked.options ?? [];
  const deny = options.find((/** @type {any} */ one) => one.kind === 'deny');
  const once = options.find((/** @type {any} */ one) => one.kind === 'allow_once');
  const always = options.filter((/** @type {any} */ one) => one.kind === 'allow_always');
  const why = blocked ? (turn.inert ? 'In a moment' : ask.sending ? 'Sent' : 'Scroll to the end first') : null;
  const plan = asked.kind === 'plan';
  const scope = scopeOf(asked);
  const wide = () =>
    scope
      ? turn.answer(ask, { decision: 'allow', remember: true })
      : turn.answer(ask, { decision: 'allow', option: always[0].option_id });
  return h(
    'footer',
    { 'data-key': 'foot' },
    h(
      'button',
      {
        type: 'button',
        class: 'btn danger',
        disabled: Boolean(ask.sending),
        onclick: () => turn.answer(ask, { decision: 'deny', option: deny?.option_id ?? null }),
      },
      plan ? (deny?.name ?? 'Keep planning') : 'Deny',
      keyCap('D'),
    ),
    h(
      'button',
      { type: 'button', class: 'btn quiet', disabled: Boolean(ask.sending), onclick: () => turn.onReason(true) },
      plan ? 'Say what to change' : 'Deny with a reason',
      keyCap('⇧ D'),
    ),
    ask.sending ? h('span', { class: 'hint sent' }, h('span', { class: 'spin' }), ask.sending) : null,
    h(
      'span',
      { class: 'allows' },
      (scope || always.length > 0) &&
        h(
          'button',
          {
            type: 'button',
            class: 'btn line scope allow',
            disabled: blocked,
            title: why ?? (scope ? `${scope.verb} ${scope.what} ${scope.rest}` : always[0].scope),
            onclick: wide,
          },
          scope
            ? h('span', null, `${scope.verb} `, h('code', null, visible(scope.what).slice(0, 60)), ` ${scope.rest}`)
            : h('span', null, always[0].name),
          keyCap('S'),
        ),
      scope &&
        always.length > 0 &&
        iconButton('more', 'The agent’s own rules', {
          disabled: blocked,
          'aria-haspopup': 'menu',
          onclick: (/** @type {any} */ event) =>
            menu(event.currentTarget, [
              { title: 'The agent’s own rules' },
              ...always.map((/** @type {any} */ one) => ({
                label: visible(one.name),
                note: visible(one.scope ?? ''),
                run: () => turn.answer(ask, { decision: 'allow', option: one.option_id }),
              })),
            ]),
        }),
      h(
        'button',
        {
          type: 'button',
          class: 'btn pri allow',
          disabled: blocked,
          title: why,
          onclick: () => turn.answer(ask, { decision: 'allow', option: once?.option_id ?? null }),
        },
        plan ? (once?.name ?? 'Approve the plan') : 'Allow once',
        keyCap('A'),
      ),
    ),
  );
}

/**
 * Single letters, only while the request itself holds the focus.
 * @param {KeyboardEvent} event
 * @param {any} turn
 */
function keys(event, turn) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.matches('input, textarea') || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (pressLetter(/** @type {HTMLElement} */ (event.currentTarget), event.key, turn)) event.preventDefault();
}

/**
 * Press the button a letter stands for. One that is inert stays so: a disabled button takes no click.
 * @param {HTMLElement} card
 * @param {string} letter
 * @param {{onReason: (on: boolean) => void}} turn
 * @returns {boolean} whether it stands for one
 */
export function pressLetter(card, letter, turn) {
  const selector = own(BUTTONS, letter);
  if (letter === 'D') turn.onReason(true);
  else if (selector) /** @type {HTMLButtonElement | null} */ (card.querySelector(selector))?.click();
  return letter === 'D' || Boolean(selector);
}
