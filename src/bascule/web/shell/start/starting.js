/** The start that is under way: asks for the session, waits for its first word, and gives it up. */

import { newKey } from '../../js/api.js';
import { choices, hasPlan } from './chips.js';
import { driverOf } from './driver.js';
import { levelOf } from './level_chip.js';
import { endFirst } from '../making_room.js';

// As long as a start may take before a person is asked what to do; the server gives the process the same time.
export const START_SECONDS = 30;

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {{id: string, began: number, error: any}} Going */
/** @typedef {{prompt: string, images: import('../composer/text_box.js').Picture[]}} Task */

/**
 * The start after the session's record changed, or time went on.
 * @param {Going} going
 * @param {import('../state.js').SessionRecord | undefined} session
 * @param {number} now
 * @returns {Going | null} null when the agent said its first word
 */
export function goingAfter(going, session, now) {
  if (session?.phase === 'failed') {
    if (going.error && going.error.code !== 'START_TIMEOUT') return going;
    return { ...going, error: { code: 'FAILED', message: session.end_message ?? '' } };
  }
  if (session && session.phase !== 'starting') return null;
  if (going.error || now - going.began <= START_SECONDS * 1000) return going;
  return { ...going, error: { code: 'START_TIMEOUT', message: '' } };
}

export class Starting {
  /**
   * @param {App} app
   * @param {import('./chips.js').Wanted} command
   * @param {ReturnType<typeof import('../compare/start.js').severalAgents>} several
   * @param {{task: () => Task, problem: () => string, changed: () => void, made: (ids: string[]) => void,
   *   begun: () => void}} on `made`: its sessions are there; `begun`: the agent said its first word
   */
  constructor(app, command, several, on) {
    this.app = app;
    this.command = command;
    this.several = several;
    this.on = on;
    /** @type {Going | null} */
    this.going = null;
  }

  get isBusy() {
    return Boolean(this.going && !this.going.error);
  }

  async start() {
    const { app, command, several, on } = this;
    const { agent, cwd, device, usable, problem } = choices(app.store.get(), command);
    const task = on.task();
    if (on.problem() || problem || !agent || this.isBusy) return;
    const mine = this.#set({ id: '', began: Date.now(), error: null });
    const also = several.chosen(usable, agent);
    const options = { ...task, cwd: cwd || null, permissionMode: command.mode };
    try {
      if (also.length) {
        const made = await several.start(agent, also, { ...options, model: command.model, device: device?.device });
        on.made(made.contestants.map((one) => one.sessionId));
        this.#begun();
      } else await this.#startOne(mine, { ...options, agent: agent.name }, device);
    } catch (error) {
      if (this.going === mine) this.#set({ ...mine, error });
    }
  }

  /**
   * @param {Going} mine
   * @param {Record<string, any>} options
   * @param {import('../state.js').Device | undefined} device
   */
  async #startOne(mine, options, device) {
    const { app, command } = this;
    const { agent } = choices(app.store.get(), command);
    const driver = driverOf(agent, command.driver);
    const made = await app.api.create({
      ...options,
      ...(this.several.alone() ? { worktree: true } : {}),
      ...(command.model ? { model: command.model } : {}),
      ...(command.plan && hasPlan(agent) ? { mode: 'plan' } : {}),
      ...(driver ? { driver } : {}),
      ...(command.level && device ? { capability: levelOf(device, command.level) } : {}),
      ...(device ? { device: device.device } : {}),
      key: newKey(),
    });
    if (this.going !== mine) return void app.api.end(made.sessionId).catch(app.trouble); // cancelled meanwhile
    this.going.id = made.sessionId;
    this.on.made([made.sessionId]);
    app.live.ensure(made.sessionId);
    this.on.changed();
  }

  /** @param {Going} going */
  #set(going) {
    this.going = going;
    this.on.changed();
    return going;
  }

  #begun() {
    this.going = null;
    this.on.begun();
  }

  /** What hangs is ended first. */
  retry() {
    if (this.going?.id && this.going.error?.code === 'START_TIMEOUT') this.#end(this.going.id);
    void this.start();
  }

  /**
   * As many agents work as may: one is ended to make room, and its end is waited for.
   * @param {string} id
   */
  async endAndStart(id) {
    const { app } = this;
    if (this.isBusy) return;
    const mine = this.#set({ id: '', began: Date.now(), error: null });
    try {
      await endFirst(app, id);
    } catch (error) {
      if (this.going === mine) this.#set({ ...mine, error });
      return;
    }
    if (this.going !== mine) return;
    this.going = null;
    await this.start();
  }

  keepWaiting() {
    if (this.going) this.#set({ ...this.going, began: Date.now(), error: null });
  }

  /** Nothing goes on behind a person's back: what was begun is ended. */
  giveUp() {
    const { going } = this;
    const over = going?.error && going.error.code !== 'START_TIMEOUT';
    this.going = null;
    if (going?.id && !over) this.#end(going.id);
    this.on.changed();
  }

  /** @param {string} id */
  #end(id) {
    this.app.api.end(id).catch(this.app.trouble);
  }

  /**
   * The agent said its first word: the session takes over. Or it never will.
   * @param {State} state
   */
  look(state) {
    if (!this.going) return;
    const { id } = this.going;
    this.going = goingAfter(this.going, id ? state.sessions[id] : undefined, Date.now());
    if (this.going) return;
    this.#begun();
    if (state.route.name !== 'start') return;
    this.app.go({ name: 'session', id });
    setTimeout(() => this.app.events.emit('write', null)); // once the composer is drawn
  }
}
