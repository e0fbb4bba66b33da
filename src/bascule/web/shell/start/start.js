/** A new session: a composer with chips, the steps of the start, and what to do when it fails. */

import { h, update } from '../../js/dom.js';
import { folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { severalAgents } from '../compare/start_comparison.js';
import { startModeChip } from '../composer/chips.js';
import { startMode } from '../owner_only.js';
import { keyCap } from '../parts.js';
import { agentCard } from './agents.js';
import { agentChip, choices, deviceChip, folderChip, hasPlan, modelField } from './chips.js';
import { levelChip } from './level_chip.js';
import { driverChip, driverOf } from './driver.js';
import { startFailed } from './failed.js';
import { fillSlot, folderField, slot } from './folder.js';
import { taskHints } from './hints.js';
import { startSteps, welcome } from './progress.js';
import { recentSessions } from './recent.js';
import { Starting } from './starting.js';
import { TaskBox } from './task_box.js';
import { terminalChips } from './terminal.js';
import { trustedDevices } from './trusted_keys.js';
import { unaskedLines, unaskedOf } from './unasked.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./chips.js').Choices} Choices */
/** @typedef {ReturnType<typeof import('../library/prompts.js').knownPrompts>} Prompts */

const FOLDER = 'bascule.cwd'; // where the chosen folder is kept
const PLAN = 'bascule.plan'; // and whether the next task begins with a plan
const MACHINE = 'bascule.device'; // and the machine that has it

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {Prompts} prompts of the library
 */
export function mountStart(root, app, prompts) {
  const screen = new StartScreen(app, prompts);
  root.append(h('div', { class: 'center' }, h('div', { class: 'start' }, screen.head, screen.task.box, screen.below)));
  /** @param {State} state */
  const draw = (state) => {
    screen.starting.look(state);
    // On a wide window the list is the sidebar, so this stands beside it; on a phone the list covers it.
    root.hidden = state.route.name !== 'start' && state.route.name !== 'list';
    if (!root.hidden) screen.draw(state);
  };
  screen.again = () => draw(app.store.get());
  app.events.on('startFolder', ({ path, device }) => screen.useFolder(path, device));
  app.events.on('startPrompt', (offer) => screen.useOffer(offer));
  app.store.subscribe((now, before) => {
    draw(now);
    // Whoever goes here, also from here, goes on by typing: before the next key, once all is drawn. A touch would
    // bring the keyboard up over everything.
    if (now.route !== before.route && now.route.name === 'start') queueMicrotask(() => screen.begin());
  });
  draw(app.store.get());
  if (app.store.get().route.name === 'start') queueMicrotask(() => screen.begin());
}

class StartScreen {
  /**
   * @param {App} app
   * @param {Prompts} prompts
   */
  constructor(app, prompts) {
    this.app = app;
    this.again = () => {};
    const cwd = sessionStorage.getItem(FOLDER) ?? '';
    const plan = sessionStorage.getItem(PLAN) !== null;
    /** @type {import('./chips.js').Wanted} */
    this.command = {
      device: sessionStorage.getItem(MACHINE) ?? '',
      agent: '',
      driver: '',
      level: '',
      model: '',
      mode: 'relay',
      plan,
      cwd,
    };
    this.typesPath = false;
    this.task = new TaskBox(app, prompts, {
      changed: () => this.again(),
      send: () => void this.starting.start(),
    });
    this.area = this.task.area;
    this.head = h('div', { class: 'start__head' });
    this.row = h('fieldset', { class: 'composer__row', 'aria-label': 'How it starts' });
    this.task.box.append(this.row);
    this.below = h('div', { class: 'start__block' });
    this.folder = this.#folderField();
    this.firstProject = this.#projectField();
    this.several = severalAgents(app, () => this.again());
    this.starting = new Starting(app, this.command, this.several, {
      task: () => ({ prompt: this.task.whole, images: this.task.pictures }),
      problem: () => this.#problem(choices(app.store.get(), this.command)),
      changed: () => this.again(),
      made: (ids) => this.task.noteUse(ids),
      begun: () => this.#empty(),
    });
    void this.#loadSigns();
  }

  #folderField() {
    return folderField(this.app, {
      label: 'Folder',
      button: 'Use',
      device: () => this.#device(),
      take: (path) => this.useFolder(path),
      cancel: () => {
        this.typesPath = false;
        this.again();
        this.area.focus();
      },
    });
  }

  #projectField() {
    return folderField(this.app, {
      label: 'Add your first project',
      button: 'Add project',
      device: () => this.#device(),
      take: async (path) => {
        await this.app.api.addProject(path, this.#device());
        this.useFolder(path);
      },
    });
  }

  /** @param {Choices} chosen */
  #problem(chosen) {
    if (this.command.plan && hasPlan(chosen.agent) && this.several.chosen(chosen.usable, chosen.agent).length)
      return 'Several agents can’t start with a plan: choose one agent, or another mode.';
    return this.task.problem;
  }

  begin() {
    void this.#loadSigns();
    if (matchMedia('(pointer: fine)').matches) this.area.focus();
  }

  /** A start that this browser signs may be of any mode. */
  async #loadSigns() {
    this.command.signs = await trustedDevices().catch(() => []); // a private window keeps nothing
    this.again();
  }

  #device() {
    return choices(this.app.store.get(), this.command).device?.device;
  }

  /**
   * @param {string} path
   * @param {string} [device] the one that is chosen, unless said
   */
  useFolder(path, device) {
    this.#setFolder(path, device);
    this.area.focus();
  }

  /**
   * Whatever was chosen here before, a web page's prompt begins as its window said: with a plan unless the page asked
   * for another mode, and asking before it acts.
   * @param {import('../../js/types.d.ts').OfferedPrompt} offer
   */
  useOffer(offer) {
    if (offer.cwd) sessionStorage.setItem(FOLDER, offer.cwd);
    this.#choose({
      ...(offer.cwd ? { cwd: offer.cwd } : {}),
      ...(offer.agent ? { agent: offer.agent, driver: '', model: '' } : {}),
      mode: 'relay',
    });
    this.#setPlan(offer.mode === null || offer.mode === 'plan');
    this.task.take(offer);
  }

  /** @param {boolean} plan */
  #setPlan(plan) {
    if (plan) sessionStorage.setItem(PLAN, '');
    else sessionStorage.removeItem(PLAN);
    this.#choose({ plan });
  }

  /**
   * A path means a folder only together with its machine.
   * @param {string} path
   * @param {string} [device]
   */
  #setFolder(path, device = this.#device() ?? '') {
    this.typesPath = false;
    sessionStorage.setItem(FOLDER, path);
    sessionStorage.setItem(MACHINE, device);
    this.#choose({ cwd: path, device });
  }

  /**
   * Its agents and folders are others.
   * @param {string} device
   */
  #setDevice(device) {
    sessionStorage.removeItem(FOLDER);
    sessionStorage.setItem(MACHINE, device);
    this.typesPath = false;
    this.#choose({ device, cwd: '', driver: '', model: '' });
  }

  #typePath() {
    this.typesPath = true;
    this.again();
    this.folder.focus();
  }

  /** @param {Partial<import('./chips.js').Wanted>} some */
  #choose(some) {
    Object.assign(this.command, some);
    this.again();
  }

  /** The task is in somebody's hands. */
  #empty() {
    this.task.empty();
    this.#setPlan(false);
  }

  #giveUp() {
    this.starting.giveUp();
    this.area.focus();
  }

  /** @param {State} state */
  draw(state) {
    const chosen = choices(state, this.command);
    const fresh = state.loaded && !Object.keys(state.sessions).length && !this.starting.going;
    update(this.head, [this.#heading(state, fresh, chosen)]);
    this.#drawBox(state, chosen);
    this.#drawBelow(state, fresh, chosen);
  }

  /**
   * @param {State} state
   * @param {Choices} chosen
   */
  #drawBox(state, chosen) {
    const { row, starting, task } = this;
    const problem = this.#problem(chosen);
    const refuses = this.several.refuses(chosen);
    const now = { mode: startMode(this.command.mode, refuses), plan: this.command.plan };
    task.draw(problem, starting.isBusy);
    row.disabled = starting.isBusy;
    update(row, [
      h('span', { 'data-island': '', 'data-key': 'clip' }),
      agentChip(state, chosen, (agent) => this.#choose({ agent, driver: '', model: '' })),
      driverChip(chosen.agent, this.command.driver, (driver) => this.#choose({ driver })),
      modelField(chosen, this.command.model, (model) => this.#choose({ model })),
      startModeChip(now, hasPlan(chosen.agent), refuses, ({ plan, ...mode }) => {
        this.#choose(mode);
        this.#setPlan(plan);
      }),
      h('span', { class: 'spacer' }),
      this.several.chip(chosen.usable, chosen.agent),
      startButton(starting, problem || chosen.problem, Boolean(chosen.agent)),
    ]);
    const place = row.querySelector('[data-key=clip]');
    if (place && !place.contains(task.attach[0])) place.append(...task.attach);
  }

  /**
   * @param {State} state
   * @param {boolean} fresh
   * @param {Choices} chosen
   */
  #drawBelow(state, fresh, chosen) {
    const { app, below, typesPath } = this;
    const idle = !this.starting.going;
    const addFirst = fresh && !state.projects.length;
    const does = { choose: (/** @type {string} */ path) => this.#setFolder(path), type: () => this.#typePath() };
    update(below, [
      h(
        'div',
        { class: 'chip-row' },
        deviceChip(state, chosen, (device) => this.#setDevice(device)),
        folderChip(app, state, chosen, does),
        chosen.agent && chosen.cwd && this.several.treeChip(folderName(chosen.cwd)),
        levelChip(chosen.device, this.command.level, (level) => this.#choose({ level })),
        h('span', { class: 'spacer', 'data-key': 'spacer' }),
        idle ? terminalChips(app, state, chosen) : [],
      ),
      ...(idle ? taskHints(state, chosen, this.command, this.task.offeredBy) : []),
      chosen.problem &&
        h(
          'p',
          { class: 'error-message', role: 'status', 'data-key': 'machine' },
          icon('alert', 14),
          `${chosen.device?.name}: ${chosen.problem}. Choose another machine, or wait.`,
        ),
      idle && unaskedLines(unaskedOf(chosen.agent, driverOf(chosen.agent, this.command.driver) || undefined)),
      typesPath && slot('folder'),
      fresh && agentCard(app, state, chosen.device, { use: (agent) => this.#use(agent) }),
      addFirst && h('p', { class: 'caption first', 'data-key': 'cap' }, 'Add your first project'),
      addFirst && slot('first'),
      idle && !fresh && recentSessions(app, state),
    ]);
    if (typesPath) fillSlot(below, 'folder', this.folder.form);
    if (addFirst) fillSlot(below, 'first', this.firstProject.form);
  }

  /**
   * @param {State} state
   * @param {boolean} fresh
   * @param {Choices} chosen
   */
  #heading(state, fresh, chosen) {
    const { app, starting } = this;
    const giveUp = () => this.#giveUp();
    if (starting.going?.error)
      return startFailed(app, state, starting.going, chosen, {
        retry: () => starting.retry(),
        wait: () => starting.keepWaiting(),
        endAndStart: (id) => void starting.endAndStart(id),
        giveUp,
        typePath: () => this.#typePath(),
        use: (agent) => {
          Object.assign(this.command, { agent, driver: '', model: '' });
          void starting.start();
        },
      });
    if (starting.going) return startSteps(state, starting.going, chosen, giveUp);
    if (!fresh) return h('h1', { class: 'hero' }, 'What should we work on?');
    return welcome();
  }

  /**
   * The demo begins at once, with whatever was written already; an agent of one's own waits for its task.
   * @param {import('../state.js').AgentInfo} agent
   */
  #use(agent) {
    this.#choose({ agent: agent.name, driver: '', model: '' });
    if (!agent.demo) return void this.area.focus();
    this.task.suggest();
    void this.starting.start();
  }
}

/**
 * @param {Starting} starting
 * @param {string} problem of the task, or of the machine
 * @param {boolean} ready whether there is an agent
 */
const startButton = (starting, problem, ready) =>
  h(
    'button',
    {
      type: 'button',
      class: `button ${starting.going?.error ? 'line' : 'is-primary'} start__go`,
      'data-key': 'start',
      disabled: starting.isBusy || Boolean(problem) || !ready,
      title: starting.isBusy ? 'It is starting' : problem || (ready ? null : 'No agent is ready'),
      onclick: () => void starting.start(),
    },
    starting.isBusy ? (starting.going?.waiting ? 'Waiting' : 'Starting') : 'Start',
    keyCap('⏎'),
  );
