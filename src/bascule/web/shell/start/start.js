/** A new session: a composer with chips, the steps of the start, and what to do when it fails. */

import { newKey } from '../../js/api.js';
import { h, update } from '../../js/dom.js';
import { age, folderName } from '../../js/format.js';
import { permissionChip } from '../composer/chips.js';
import { fillSlot, folderField, slot } from './folder.js';
import { control, dot, keyName } from '../parts.js';
import { severalAgents } from '../compare/start.js';
import { draftOf, keepDraft } from '../storage.js';
import { workOf } from '../sidebar/rows.js';
import { agentChip, choices, deviceChip, folderChip, modelField } from './chips.js';
import { START_SECONDS, foundAgents, startFailed, startSteps } from './progress.js';
import { terminalRow } from './terminal.js';
import { agentTitle, marksOf, sessionsInOrder, statusOf, titleOf } from '../state.js';
import { unaskedLines, unaskedOf } from './unasked.js';
import { attachButton, pictureRow, takePictures, textBox } from '../composer/text_box.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

const SHORTEST = 10;
const LONGEST = 10_000;

/**
 * What keeps a task from being sent, in words; empty when nothing does.
 * @param {string} text
 */
export function taskProblem(text) {
  const length = Array.from(text.trim()).length;
  if (!length) return 'Describe the task first.';
  if (length < SHORTEST) return `Say a little more: at least ${SHORTEST} characters.`;
  return length > LONGEST
    ? `${length.toLocaleString()} of ${LONGEST.toLocaleString()} characters. Put the rest into a file, and name it.`
    : '';
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountStart(root, app) {
  /** @type {import('./chips.js').DeviceCommand} */
  const command = { device: '', agent: '', model: '', mode: 'relay', cwd: sessionStorage.getItem('bascule.cwd') ?? '' };
  /** @type {import('../composer/text_box.js').Picture[]} */
  let pictures = [];
  let typing = false;
  /** @type {import('./progress.js').Going | null} */
  let going = null;

  const head = h('div', { class: 'hd' });
  const { area } = textBox(
    {
      id: 'task',
      class: 'ta tall',
      rows: 3,
      'aria-label': 'Task',
      'aria-describedby': 'task-limit',
      placeholder: 'Describe the task. Paste an image if it helps',
    },
    {
      change: () => {
        keepDraft('start', area.value);
        again();
      },
      sends: control,
      send: () => void start(),
    },
  );
  const shots = h('div');
  const row = /** @type {HTMLFieldSetElement} */ (h('fieldset', { class: 'crow', 'aria-label': 'How it starts' }));
  const limit = h('p', { id: 'task-limit', class: 'emsg', hidden: true });
  const box = h('div', { class: 'comp big' }, shots, area, limit, row);
  const below = h('div', { class: 'bl' });
  root.append(h('div', { class: 'center' }, h('div', { class: 'startbox' }, head, box, below)));
  area.value = draftOf('start');
  const take = takePictures(
    box,
    area,
    (one) => {
      pictures = [...pictures, one];
      again();
    },
    (problem) => app.note(problem, { tone: 'bad' }),
  );
  const [clip, file] = attachButton(take);
  const again = () => draw(app.store.get());
  const useFolder = (/** @type {string} */ path) => {
    command.cwd = path;
    typing = false;
    sessionStorage.setItem('bascule.cwd', path);
    again();
  };
  const folder = folderField(app, {
    label: 'Folder',
    button: 'Use',
    take: (path) => {
      useFolder(path);
      area.focus();
    },
    cancel: () => {
      typing = false;
      again();
      area.focus();
    },
  });
  const first = folderField(app, {
    label: 'Add your first project',
    button: 'Add project',
    take: async (path) => {
      await app.api.addProject(path);
      useFolder(path);
      area.focus();
    },
  });
  const typePath = () => {
    typing = true;
    again();
    folder.focus();
  };
  app.events.on('startFolder', (path) => {
    useFolder(path);
    area.focus();
  });

  const several = severalAgents(app, again);

  async function start() {
    const { agent, cwd, device, usable } = choices(app.store.get(), command);
    const prompt = area.value.trim();
    if (taskProblem(prompt) || !agent || (going && !going.error)) return;
    const mine = (going = { id: '', began: Date.now(), error: null });
    again();
    const also = several.chosen(usable, agent);
    try {
      if (also.length) {
        await several.start(agent, also, {
          cwd: cwd || null,
          prompt,
          images: pictures,
          permissionMode: command.mode,
          model: command.model,
        });
        return void begun();
      }
      const made = await app.api.create({
        agent: agent.name,
        cwd: cwd || null,
        prompt,
        images: pictures,
        permissionMode: command.mode,
        ...(several.alone() ? { worktree: true } : {}),
        ...(command.model ? { model: command.model } : {}),
        ...(command.device && device ? { device: device.device } : {}),
        key: newKey(),
      });
      if (going !== mine) return void app.api.end(made.sessionId).catch(app.trouble); // cancelled meanwhile
      going.id = made.sessionId;
      app.live.ensure(made.sessionId);
      again();
    } catch (error) {
      if (going !== mine) return;
      going = { ...mine, error };
      again();
    }
  }

  /** Nothing goes on behind a person's back: what was begun is ended. */
  function giveUp() {
    const id = going?.id;
    const over = going?.error && going.error.code !== 'START_TIMEOUT';
    going = null;
    if (id && !over) app.api.end(id).catch(app.trouble);
    again();
    area.focus();
  }

  /**
   * The agent said its first word: the session takes over. Or it never will.
   * @param {State} state
   */
  function arrived(state) {
    const session = going?.id ? state.sessions[going.id] : undefined;
    if (!going) return;
    if (session?.phase === 'failed') {
      if (!going.error || going.error.code === 'START_TIMEOUT')
        going = { ...going, error: { code: 'FAILED', message: session.end_message ?? '' } };
      return;
    }
    if (!session || session.phase === 'starting') {
      if (!going.error && Date.now() - going.began > START_SECONDS * 1000)
        going = { ...going, error: { code: 'START_TIMEOUT', message: '' } };
      return;
    }
    const id = session.session_id;
    begun();
    if (state.route.name === 'start') app.go({ name: 'session', id });
  }

  /** The task is in somebody's hands. */
  function begun() {
    going = null;
    area.value = '';
    keepDraft('start', '');
    pictures = [];
  }

  /** @param {State} state */
  function draw(state) {
    arrived(state);
    // On a wide window the list is the sidebar, so this stands beside it; on a phone the list covers it.
    root.hidden = state.route.name !== 'start' && state.route.name !== 'list';
    if (root.hidden) return;
    const chosen = choices(state, command);
    const fresh = state.loaded && !Object.keys(state.sessions).length && !going;
    update(head, [heading(state, fresh, chosen)].flat());
    const busy = Boolean(going && !going.error);
    const problem = taskProblem(area.value);
    box.classList.toggle('dis', busy);
    area.disabled = row.disabled = busy;
    limit.hidden = !problem || area.value.trim().length <= LONGEST;
    limit.textContent = limit.hidden ? '' : problem;
    update(shots, [
      pictureRow(pictures, (n) => {
        pictures = pictures.filter((_, at) => at !== n);
        again();
      }),
    ]);
    update(row, [
      h('span', { 'data-island': '', 'data-key': 'clip' }),
      agentChip(state, chosen, (name) => {
        command.agent = name;
        command.model = '';
        again();
      }),
      modelField(chosen, command.model, (model) => {
        command.model = model;
        again();
      }),
      permissionChip(command.mode, (mode) => {
        command.mode = mode;
        again();
      }),
      h('span', { class: 'sp' }),
      several.chip(chosen.usable, chosen.agent),
      h(
        'button',
        {
          type: 'button',
          class: `btn ${going?.error ? 'line' : 'pri'} go`,
          disabled: busy || Boolean(problem) || !chosen.agent,
          title: busy ? 'It is starting' : problem || (chosen.agent ? null : 'No agent is ready'),
          onclick: () => void start(),
        },
        busy ? 'Starting' : 'Start',
        h('kbd', null, keyName('Ctrl ⏎')),
      ),
    ]);
    const place = row.querySelector('[data-key=clip]');
    if (place && !place.contains(clip)) place.append(clip, file);
    const addFirst = fresh && !state.projects.length;
    update(below, [
      h(
        'div',
        { class: 'schips' },
        deviceChip(state, chosen, (device) => {
          command.device = device;
          again();
        }),
        folderChip(app, state, chosen, { choose: useFolder, type: typePath }),
      ),
      !going && unaskedLines(unaskedOf(chosen.agent)),
      !going && terminalRow(app, state, chosen.cwd),
      typing && slot('folder'),
      addFirst && h('p', { class: 'cap first', 'data-key': 'cap' }, 'Add your first project'),
      addFirst && slot('first'),
      !going && !fresh && pickUp(state),
    ]);
    if (typing) fillSlot(below, 'folder', folder.form);
    if (addFirst) fillSlot(below, 'first', first.form);
  }

  /**
   * @param {State} state
   * @param {boolean} fresh
   * @param {import('./chips.js').Choices} chosen
   */
  function heading(state, fresh, chosen) {
    if (going?.error) {
      const retry = () => {
        const stuck = going?.error?.code === 'START_TIMEOUT' ? going.id : '';
        if (stuck) app.api.end(stuck).catch(app.trouble);
        void start();
      };
      const wait = () => {
        if (going) going = { ...going, began: Date.now(), error: null };
        again();
      };
      return startFailed(app, state, going, chosen, {
        retry,
        wait,
        giveUp,
        typePath,
        use: (name) => {
          command.agent = name;
          command.model = '';
          void start();
        },
      });
    }
    if (going) return startSteps(state, going, chosen, giveUp);
    if (!fresh) return h('h1', { class: 'hero' }, 'What should we work on?');
    return foundAgents(app, state, (name) => {
      command.agent = name;
      if (!area.value) area.value = 'Show me around';
      again();
      area.focus();
    });
  }

  /** @param {State} state */
  function pickUp(state) {
    const some = sessionsInOrder(state).slice(0, 4);
    if (!some.length) return null;
    return h(
      'section',
      { class: 'recent' },
      h('p', { class: 'cap' }, 'Pick up again'),
      some.map((session) => {
        const status = statusOf(state, session);
        return h(
          'button',
          {
            type: 'button',
            'data-key': session.session_id,
            onclick: () => app.go({ name: 'session', id: session.session_id }),
          },
          dot(status.dot, status.word),
          h('span', { class: 'rt' }, titleOf(session)),
          h(
            'span',
            { class: 'marks' },
            marksOf(session).map((one) => h('span', { class: 'mk', title: one.title }, one.word)),
          ),
          h(
            'small',
            null,
            `${folderName(session.cwd)} · ${agentTitle(state, session.agent)} · ` +
              `${status.word.toLowerCase()} · ${age(session.updated_at, Date.now())}`,
            session.added + session.removed > 0 && [' ', workOf(session)[0]],
          ),
        );
      }),
    );
  }

  app.store.subscribe((now, before) => {
    draw(now);
    if (now.route.name === 'start' && before.route.name !== 'start' && matchMedia('(pointer: fine)').matches)
      area.focus();
  });
  draw(app.store.get());
}
