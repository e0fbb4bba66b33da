/** A new session: a composer with chips, the steps of the start, and what to do when it fails. */

import { newKey } from '../js/api.js';
import { h, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { age, folderName } from '../js/words.js';
import { permissionChip } from './chips.js';
import { agentLetter, control, dot, keyName, menu } from './parts.js';
import { draftOf, keepDraft } from './places.js';
import { foundAgents, startFailed, startSteps } from './starting.js';
import { agentTitle, sessionsInOrder, statusOf, titleOf } from './state.js';
import { attachButton, grow, pictureRow, takePictures } from './typing.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/** @param {HTMLElement} root @param {App} app */
export function mountStart(root, app) {
  const wish = { agent: '', model: '', mode: 'relay', cwd: sessionStorage.getItem('bascule.cwd') ?? '' };
  /** @type {import('./typing.js').Picture[]} */
  let pictures = [];
  let cwdProblem = '';
  /** @type {{id: string, began: number, error: any} | null} */
  let going = null;

  const head = h('div', { class: 'hd' });
  const area = /** @type {HTMLTextAreaElement} */ (h('textarea', { id: 'task', class: 'ta tall', rows: 3, 'aria-label': 'Task', placeholder: 'Describe the task. Paste an image if it helps' }));
  const shots = h('div');
  const row = h('div', { class: 'crow' });
  const box = h('div', { class: 'comp big' }, shots, area, row);
  const below = h('div', { class: 'bl' });
  root.append(h('div', { class: 'center' }, h('div', { class: 'startbox' }, head, box, below)));
  area.value = draftOf('start');
  const take = takePictures(box, area, (one) => { pictures = [...pictures, one]; again(); }, (problem) => app.note(problem, { tone: 'bad' }));
  const [clip, file] = attachButton(take);
  const again = () => draw(app.store.get());
  area.oninput = () => { keepDraft('start', area.value); grow(area); again(); };
  area.onkeydown = (event) => { if (event.key === 'Enter' && control(event)) { event.preventDefault(); void start(); } };
  addEventListener('bascule:start', () => { wish.cwd = sessionStorage.getItem('bascule.cwd') ?? wish.cwd; again(); area.focus(); });

  /** @param {State} state */
  function choices(state) {
    const usable = state.agents.filter((one) => one.available);
    const agent = usable.find((one) => one.name === wish.agent) ?? usable.find((one) => !one.demo) ?? usable[0];
    const recent = [...new Set(sessionsInOrder(state).map((one) => one.cwd).filter(Boolean))];
    return { usable, agent, recent, cwd: wish.cwd || recent[0] || '' };
  }

  async function start() {
    const state = app.store.get();
    const { agent, cwd } = choices(state);
    const prompt = area.value.trim();
    if (!prompt || !agent || (going && !going.error)) return;
    going = { id: '', began: Date.now(), error: null };
    again();
    try {
      const made = await app.api.create({
        agent: agent.name, cwd: cwd || null, prompt, images: pictures, permissionMode: wish.mode, ...(wish.model ? { model: wish.model } : {}), key: newKey(),
      });
      going.id = made.sessionId;
      app.live.ensure(made.sessionId);
      again();
    } catch (error) {
      going = { ...going, error };
      again();
    }
  }

  /** The agent said its first word: the session takes over. @param {State} state */
  function arrived(state) {
    if (!going?.id) return;
    const session = state.sessions[going.id];
    if (!session || session.phase === 'starting') return;
    if (session.phase === 'failed') {
      if (!going.error) { going = { ...going, error: { code: 'FAILED', message: session.end_message ?? '', session } }; }
      return;
    }
    const id = going.id;
    going = null;
    area.value = '';
    keepDraft('start', '');
    pictures = [];
    if (state.route.name === 'start') app.go({ name: 'session', id });
  }

  /** @param {State} state */
  function draw(state) {
    arrived(state);
    root.hidden = state.route.name !== 'start';
    if (root.hidden) return;
    const { agent, cwd } = choices(state);
    const first = state.loaded && !Object.keys(state.sessions).length && !going;
    update(head, heading(state, first, agent));
    const busy = Boolean(going && !going.error);
    box.classList.toggle('dis', busy);
    area.disabled = busy;
    update(shots, [pictureRow(pictures, (n) => { pictures = pictures.filter((_, at) => at !== n); again(); })]);
    update(row, [
      h('span', { 'data-island': '', 'data-key': 'clip' }),
      agentChip(state), modelChip(agent), permissionChip(wish.mode, (mode) => { wish.mode = mode; again(); }),
      h('span', { class: 'sp' }),
      h('button', { type: 'button', class: `btn ${going?.error ? 'line' : 'pri'} go`, disabled: busy || !area.value.trim() || !agent, onclick: () => void start() }, busy ? 'Starting' : 'Start', h('kbd', null, keyName('Ctrl ⏎'))),
    ]);
    const slot = row.querySelector('[data-key=clip]');
    if (slot && !slot.contains(clip)) slot.append(clip, file);
    update(below, [folderRow(state, cwd), cwdProblem && h('p', { class: 'emsg' }, icon('alert', 14), cwdProblem), !going && !first && pickUp(state)]);
  }

  /** @param {State} state @param {boolean} first @param {any} agent */
  function heading(state, first, agent) {
    if (going?.error) return [startFailed(app, state, going, agent, () => void start())];
    if (going) return [startSteps(app, state, going, agent, () => { const id = going?.id; going = null; if (id) app.api.end(id).catch(app.trouble); again(); })];
    if (!first) return [h('h1', { class: 'hero' }, 'What should we work on?')];
    return foundAgents(app, state, (name) => { wish.agent = name; if (!area.value) area.value = 'Show me around'; again(); area.focus(); });
  }

  /** @param {State} state */
  function agentChip(state) {
    const { usable, agent } = choices(state);
    if (!agent) return h('span', { class: 'chip' }, state.agents.length ? 'No agent is ready' : 'Looking for agents');
    return h('button', {
      type: 'button', class: 'chip k-agent', 'aria-haspopup': 'menu',
      onclick: (/** @type {any} */ event) => menu(event.currentTarget, usable.map((one) => ({ label: one.title, note: one.demo ? 'comes with Bascule, no account' : one.version ?? '', on: one === agent, run: () => { wish.agent = one.name; wish.model = ''; again(); } }))),
    }, agentLetter(agent.name), agentTitle(state, agent.name), h('span', { class: 'dd' }, icon('down', 12)));
  }

  /** @param {any} agent */
  function modelChip(agent) {
    const models = agent?.models ?? [];
    if (!models.length) return null;
    return h('button', {
      type: 'button', class: 'chip k-model', 'aria-haspopup': 'menu',
      onclick: (/** @type {any} */ event) => menu(event.currentTarget, ['', ...models].map((value) => ({ label: value || 'Default model', on: value === wish.model, run: () => { wish.model = value; again(); } }))),
    }, wish.model || 'Default model', h('span', { class: 'dd' }, icon('down', 12)));
  }

  /** @param {State} state @param {string} cwd */
  function folderRow(state, cwd) {
    const device = state.devices[0];
    return h('div', { class: 'schips' },
      h('span', { class: 'chip' }, icon('device', 14), device?.name ?? 'this machine'),
      h('button', { type: 'button', class: 'chip', title: cwd, 'aria-haspopup': 'menu', onclick: (/** @type {any} */ event) => folderMenu(event.currentTarget, state) }, icon('folder', 14), cwd ? folderName(cwd) : 'Home folder', h('span', { class: 'dd' }, icon('down', 12))));
  }

  /** @param {HTMLElement} anchor @param {State} state */
  function folderMenu(anchor, state) {
    const { recent, cwd } = choices(state);
    const set = (/** @type {string} */ path) => { wish.cwd = path; cwdProblem = ''; sessionStorage.setItem('bascule.cwd', path); again(); };
    const form = h('form', { onsubmit: async (/** @type {any} */ event) => {
      event.preventDefault();
      const typed = event.currentTarget.querySelector('input').value.trim();
      close();
      if (!typed) return;
      try {
        set((await app.api.directory(typed)).path);
      } catch (error) {
        cwdProblem = /** @type {Error} */ (error).message;
        again();
      }
    } }, h('input', { class: 'inp mono grow', placeholder: '~/code/project', 'aria-label': 'Folder', spellcheck: 'false' }), h('button', { class: 'btn line', type: 'submit' }, 'Use'));
    const close = menu(anchor, [{ title: 'Recent folders' }, ...recent.slice(0, 8).map((path) => ({ label: folderName(path), note: path, on: path === cwd, run: () => set(path) }))], form);
  }

  /** @param {State} state */
  function pickUp(state) {
    const some = sessionsInOrder(state).slice(0, 4);
    if (!some.length) return null;
    return h('section', { class: 'recent' }, h('p', { class: 'cap' }, 'Pick up again'), some.map((session) => {
      const status = statusOf(state, session);
      return h('button', { type: 'button', 'data-key': session.session_id, onclick: () => app.go({ name: 'session', id: session.session_id }) },
        dot(status.dot, status.word), h('span', null, titleOf(session)), h('small', null, `${folderName(session.cwd)} · ${agentTitle(state, session.agent)} · ${status.word.toLowerCase()} · ${age(session.updated_at, Date.now())}`));
    }));
  }

  app.store.subscribe((now, before) => {
    draw(now);
    if (now.route.name === 'start' && before.route.name !== 'start' && matchMedia('(pointer: fine)').matches) area.focus();
  });
  draw(app.store.get());
}
