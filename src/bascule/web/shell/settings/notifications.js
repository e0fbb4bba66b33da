/** Notifications: this browser, channels to other services with their health, quiet hours. */

import { h } from '../../js/dom.js';
import { moment } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { table } from '../../js/tables.js';
import { visible } from '../../js/visible.js';
import { channelForm } from './channel_form.js';
import { partHead, problem } from './parts.js';
import { pushObstacle, turnOff, turnOn } from './push.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../../js/types.d.ts').ChannelView} Channel */
/** @typedef {import('../../js/types.d.ts').NotificationsView} View */

export const KINDS = /** @type {const} */ ([
  ['approval', 'Needs approval'],
  ['question', 'Question'],
  ['ended', 'Failed or ended'],
  ['limit', 'Limit near or reached'],
  ['machine', 'Machine away'],
  ['finished', 'Long turn finished'],
]);
const TYPES = table({
  push: 'Browser',
  command: 'Command on the server',
  desktop: 'The server’s desktop',
  webhook: 'Webhook',
  ntfy: 'ntfy',
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  gotify: 'Gotify',
});

/** @param {Context} context */
export async function loadNotifications({ app, loaded }) {
  loaded.notifications = await app.api.notifications();
}

/**
 * Do something to the settings, and show what they are now.
 * @param {Context} context
 * @param {() => Promise<View>} work
 */
export async function change({ app, loaded, again }, work) {
  try {
    loaded.notifications = await work();
  } catch (error) {
    app.trouble(error);
  }
  again();
}

/**
 * @param {Context} context
 * @param {import('../state.js').State} state
 */
export function notificationsPart(context, state) {
  const { loaded } = context;
  /** @type {View | undefined} */
  const view = loaded.notifications;
  const owner = state.me?.role === 'owner';
  return [
    partHead(
      'Notifications',
      'Sent once when something needs you and nobody is at the page, and withdrawn once it is answered.',
    ),
    problem(loaded.problem),
    view && thisBrowser(context, view),
    view && owner && channelList(context, view),
    view && owner && channelForm(context),
    view && owner && quietCard(context, view),
  ];
}

/**
 * @param {Context} context
 * @param {View} view
 */
function thisBrowser(context, view) {
  const own = view.channels.find((channel) => channel.id === view.ownChannel);
  const obstacle = view.pushProblem || pushObstacle();
  return h(
    'section',
    { class: 'card settings-card', 'aria-label': 'This browser' },
    h('h3', null, 'This browser'),
    obstacle && !own
      ? h('p', { class: 'note' }, icon('info', 14), h('span', null, obstacle))
      : h('p', null, 'Encrypted for this browser alone. You can deny from a notification; to allow, open the session.'),
    own && channelRow(context, own),
    !own &&
      h(
        'div',
        null,
        h(
          'button',
          {
            type: 'button',
            class: 'button is-primary',
            disabled: Boolean(obstacle),
            onclick: () => void change(context, () => turnOn(context, view.pushKey)),
          },
          icon('bell', 14),
          'Turn on',
        ),
      ),
  );
}

/**
 * @param {Context} context
 * @param {View} view
 */
const channelList = (context, view) =>
  h(
    'section',
    { class: 'card settings-card', 'aria-label': 'Channels' },
    h('h3', null, 'Channels'),
    view.channels.filter((channel) => channel.id !== view.ownChannel).map((channel) => channelRow(context, channel)),
  );

/**
 * @param {Context} context
 * @param {Channel} channel
 */
function channelRow(context, channel) {
  const { app, loaded, again } = context;
  const tested = loaded.tested?.[channel.id];
  const patch = (/** @type {object} */ fields) => void change(context, () => app.api.changeChannel(channel.id, fields));
  const test = async () => {
    loaded.tested = { ...loaded.tested, [channel.id]: { message: 'Sending…' } };
    again();
    const said = await app.api.testChannel(channel.id).catch((error) => ({ ok: false, message: error.message }));
    loaded.tested = { ...loaded.tested, [channel.id]: said };
    await loadNotifications(context).catch(app.trouble);
    again();
  };
  const off = () =>
    void change(context, () => (channel.mine ? turnOff(context, channel.id) : app.api.removeChannel(channel.id)));
  const fixed = channel.type === 'command' || channel.type === 'desktop';
  return h(
    'div',
    { class: 'channel', 'data-key': channel.id },
    h(
      'div',
      { class: 'channel__head' },
      h('b', null, visible(channel.name)),
      h('small', null, [TYPES[channel.type], channel.host].filter(Boolean).map(visible).join(' · ')),
      h('span', { class: 'spacer' }),
      h('button', { type: 'button', class: 'button is-small line', onclick: () => void test() }, 'Send a test'),
      fixed
        ? h(
            'button',
            { type: 'button', class: 'button is-small quiet', onclick: () => patch({ enabled: !channel.enabled }) },
            channel.enabled ? 'Turn off' : 'Turn on',
          )
        : h(
            'button',
            { type: 'button', class: 'button is-small quiet is-dangerous', onclick: off },
            channel.mine ? 'Turn off' : 'Remove',
          ),
    ),
    h('p', { class: `channel__health ${channel.problem ? 'is-bad' : ''}` }, healthWords(channel, Date.now())),
    tested &&
      h(
        'p',
        { class: `channel__tested ${tested.ok === false ? 'is-bad' : ''}`, role: 'status' },
        tested.ok === undefined ? '' : icon(tested.ok ? 'okc' : 'alert', 14),
        visible(tested.message),
      ),
    channel.enabled && kindBoxes(channel.kinds, channel.showCommands, patch, channel.name),
    channel.projects.length > 0 && h('p', { class: 'hint' }, `Only in ${channel.projects.map(visible).join(', ')}`),
  );
}

/**
 * "last delivered 12:05 · 2 wait, next try 12:07"
 * @param {Channel} channel
 * @param {number} now
 */
export const healthWords = (channel, now) =>
  [
    channel.enabled ? '' : 'off',
    channel.problem
      ? `${visible(channel.problem)}${channel.failedAt ? ` (${moment(channel.failedAt, now)})` : ''}`
      : '',
    channel.deliveredAt
      ? `last delivered ${moment(channel.deliveredAt, now)}`
      : channel.problem
        ? ''
        : 'nothing sent yet',
    channel.nextTryAt ? `next try ${moment(channel.nextTryAt, now)}` : '',
    channel.waiting > 0 ? `${channel.waiting} waiting` : '',
    channel.givenUp > 0 ? `${channel.givenUp} given up` : '',
  ]
    .filter(Boolean)
    .join(' · ');

/**
 * Which notices a channel gets, and whether they show commands.
 * @param {readonly string[]} kinds
 * @param {boolean} commands
 * @param {(fields: {kinds?: string[], showCommands?: boolean}) => void} patch
 * @param {string} name
 */
export const kindBoxes = (kinds, commands, patch, name) =>
  h(
    'fieldset',
    { class: 'channel__kinds' },
    h('legend', { class: 'spoken' }, `What ${name || 'the channel'} is told`),
    KINDS.map(([kind, label]) =>
      checkbox(label, kinds.includes(kind), (on) =>
        patch({ kinds: on ? [...kinds, kind] : kinds.filter((otherKind) => otherKind !== kind) }),
      ),
    ),
    checkbox('Show commands', commands, (on) => patch({ showCommands: on })),
  );

/**
 * @param {string} label
 * @param {boolean} checked
 * @param {(on: boolean) => void} set
 */
const checkbox = (label, checked, set) =>
  h(
    'label',
    { class: 'check' },
    h('input', {
      type: 'checkbox',
      checked,
      onchange: (/** @type {On<HTMLInputElement>} */ event) => set(event.currentTarget.checked),
    }),
    h('span', null, label),
  );

/**
 * @param {Context} context
 * @param {View} view
 */
const quietCard = (context, view) =>
  h(
    'form',
    {
      class: 'card settings-card',
      'aria-label': 'Quiet hours',
      'data-key': `quiet ${view.quietStart} ${view.quietEnd} ${view.finishedMinutes}`,
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        const options = {
          quietStart: String(given.get('start') ?? ''),
          quietEnd: String(given.get('end') ?? ''),
          finishedMinutes: Number(given.get('minutes')),
        };
        void change(context, () => context.app.api.setNotifications(options));
      },
    },
    h('h3', null, 'Quiet hours'),
    h('p', null, `Nothing is sent in these hours (${view.timeZone}). Requests still open then are sent afterwards.`),
    h(
      'div',
      { class: 'form-row' },
      field('From', { type: 'time', name: 'start', value: view.quietStart }),
      field('To', { type: 'time', name: 'end', value: view.quietEnd }),
      field('A turn counts as long after (minutes)', {
        type: 'number',
        name: 'minutes',
        min: 0,
        max: 1440,
        value: String(view.finishedMinutes),
      }),
      h('button', { type: 'submit', class: 'button line' }, 'Save'),
    ),
  );

/**
 * @param {string} label
 * @param {Record<string, unknown>} attributes
 */
export const field = (label, attributes) =>
  h('label', { class: 'grow' }, h('span', null, label), h('input', { class: 'input', ...attributes }));
