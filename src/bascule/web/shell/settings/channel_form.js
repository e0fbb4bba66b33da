/** The form that adds a channel: each service says what it needs. What was typed stays when it is refused. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { errorOf } from '../../js/json.js';
import { field, kindBoxes } from './notifications.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../../js/types.d.ts').ChannelAdd} ChannelAdd */
/** @typedef {Required<Omit<ChannelAdd, 'projects'>> & {projects: string, problem?: string}} NewChannel */

/** @type {NewChannel['kinds']} */
const USUAL = ['approval', 'question', 'ended', 'limit', 'machine'];
/** @type {Record<string, {label: string, url: string, secret?: string, chat?: boolean}>} */
const SERVICES = {
  ntfy: { label: 'ntfy', url: 'https://ntfy.sh/my-topic', secret: 'Access token, if the topic needs one' },
  slack: { label: 'Slack', url: 'https://hooks.slack.com/services/…' },
  discord: { label: 'Discord', url: 'https://discord.com/api/webhooks/…' },
  telegram: { label: 'Telegram', url: 'https://api.telegram.org', secret: 'Bot token', chat: true },
  gotify: { label: 'Gotify', url: 'https://gotify.example', secret: 'Application token' },
  webhook: { label: 'Webhook (JSON)', url: 'https://example.org/hook', secret: 'Secret that signs each message' },
};

const EMPTY = /** @type {const} */ ({
  service: 'ntfy',
  name: '',
  url: '',
  secret: '',
  chat: '',
  projects: '',
  showCommands: false,
});

/** @param {Context} context */
const addButton = ({ loaded, again }) =>
  h(
    'div',
    { 'data-key': 'add' },
    h(
      'button',
      {
        type: 'button',
        class: 'button line',
        onclick: () => {
          loaded.newChannel = { ...EMPTY, kinds: USUAL };
          again();
        },
      },
      icon('plus', 14),
      'Add a channel',
    ),
  );

/** @param {Context} context */
export function channelForm(context) {
  const { loaded, again } = context;
  if (!loaded.newChannel) return addButton(context);
  const draft = loaded.newChannel;
  const service = SERVICES[draft.service];
  const patch = (/** @type {object} */ fields) => {
    Object.assign(draft, fields);
    again();
  };
  const typed = (/** @type {'name' | 'url' | 'secret' | 'chat' | 'projects'} */ name) => ({
    value: draft[name],
    autocomplete: 'off',
    oninput: (/** @type {On<HTMLInputElement>} */ event) => (draft[name] = event.currentTarget.value),
  });
  return h(
    'form',
    {
      class: 'card settings-card',
      'aria-label': 'Add a channel',
      'data-key': 'new',
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        void add(context);
      },
    },
    h('h3', null, 'Add a channel'),
    draft.problem && h('p', { class: 'error-message', role: 'alert' }, draft.problem),
    h(
      'div',
      { class: 'form-row' },
      h(
        'label',
        { class: 'grow' },
        h('span', null, 'Service'),
        h(
          'select',
          {
            class: 'input',
            onchange: (/** @type {On<HTMLInputElement>} */ event) => patch({ service: event.currentTarget.value }),
          },
          Object.entries(SERVICES).map(([name, { label }]) =>
            h('option', { value: name, selected: name === draft.service }, label),
          ),
        ),
      ),
      field('Name', { ...typed('name'), required: true, maxlength: 100, placeholder: 'My phone' }),
    ),
    field('Address', { ...typed('url'), required: true, placeholder: service.url }),
    h(
      'div',
      { class: 'form-row' },
      service.secret && field(service.secret, { ...typed('secret'), type: 'password' }),
      service.chat && field('Chat', { ...typed('chat'), placeholder: '@name or number' }),
      field('Only in these folders', {
        ...typed('projects'),
        placeholder: '/srv/shop, laptop:/srv/ana; empty: everywhere',
      }),
    ),
    kindBoxes(draft.kinds, Boolean(draft.showCommands), patch, 'the new channel'),
    h(
      'div',
      { class: 'form-row' },
      h('button', { type: 'submit', class: 'button is-primary' }, 'Add'),
      h(
        'button',
        {
          type: 'button',
          class: 'button quiet',
          onclick: () => {
            loaded.newChannel = null;
            again();
          },
        },
        'Cancel',
      ),
    ),
  );
}

/** @param {Context} context */
async function add({ app, loaded, again }) {
  const draft = loaded.newChannel;
  if (!draft) return;
  const { problem, projects, ...fields } = draft;
  const folders = projects
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  try {
    loaded.notifications = await app.api.addChannel({ ...fields, projects: folders });
    loaded.newChannel = null;
  } catch (error) {
    draft.problem = errorOf(error).message;
  }
  again();
}
