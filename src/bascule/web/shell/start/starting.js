/** The start that is under way: asks for the session, waits for its first word, and gives it up. */

import { newKey } from '../../js/api.js';
import { errorOf } from '../../js/json.js';
import { choices, hasPlan } from './chips.js';
import { driverOf } from './driver.js';
import { levelOf } from './level_chip.js';
import { endFirst } from '../making_room.js';
import { startMode } from '../owner_only.js';
import { startOf } from './waiting_starts.js';

// As long as a start may take before a person is asked what to do; the server gives the process the same time.
export const START_SECONDS = 30;
const FORGOTTEN = 10_000; // milliseconds after which a start that its machine does not name is gone

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.js').WaitingStart} WaitingStart */
/**
 * `waiting` while it must be approved on its machine; `seen` is when the machine last said so.
 * @typedef {object} Going
 * @property {string} id
 * @property {number} began
 * @property {{code?: string, message: string} | null} error
 * @property {WaitingStart | null} [waiting]
 * @property {number} [seen]
 */
/** @typedef {{prompt: string, images: import('../composer/text_box.js').Picture[]}} Task */

/**
 * The start after the session's record changed, or time went on.
 * @param {Going} going
 * @param {import('../state.js').SessionRecord | undefined} session
 * @param {number} now
 * @param {WaitingStart} [start] what its machine says of the approval
 * @returns {Going | null} null when the agent said its first word
 */
export function goingAfter(going, session, now, start) {
  if (going.waiting && !session) return approvalAfter(going, now, start);
  if (going.waiting) going = { ...going, waiting: null, began: now, error: null };
  if (session?.phase === 'failed') {
    if (going.error && going.error.code !== 'START_TIMEOUT') return going;
    return { ...going, error: { code: 'FAILED', message: session.end_message ?? '' } };
  }
  if (session && session.phase !== 'starting') return null;
  if (going.error || now - going.began <= START_SECONDS * 1000) return going;
  return { ...going, error: { code: 'START_TIMEOUT', message: '' } };
}

/**
 * @param {Going} going
 * @param {number} now
 * @param {WaitingStart | undefined} start
 * @returns {Going}
 */
function approvalAfter(going, now, start) {
  if (going.error) return going;
  if (start?.state === 'starting') return { ...going, waiting: null, began: now };
  if (start && start.state && start.state !== 'waiting') return refused(going, start.message ?? '');
  if (start || now - (going.seen ?? going.began) <= FORGOTTEN)
    return start ? { ...going, waiting: start, seen: now } : going;
  return refused(going, 'It is no longer waiting there: Bascule was restarted on that machine. Start it again.');
}

/**
 * @param {Going} going
 * @param {string} message
 */
const refused = (going, message) => ({ ...going, error: { code: 'START_REFUSED', message } });

export class Starting {
  /**
   * @param {App} app
   * @param {import('./chips.js').Wanted} command
   * @param {ReturnType<typeof import('../compare/start_comparison.js').severalAgents>} several
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
    const chosen = choices(app.store.get(), command);
    const { agent, cwd, device, usable, problem } = chosen;
    const task = on.task();
    if (on.problem() || problem || !agent || this.isBusy) return;
    const mine = this.#set({ id: '', began: Date.now(), error: null });
    const also = several.chosen(usable, agent);
    const permissionMode = startMode(command.mode, several.refuses(chosen));
    const options = { ...task, cwd: cwd || null, permissionMode };
    try {
      if (also.length) {
        const made = await several.start(agent, also, { ...options, model: command.model, device: device?.device });
        on.made(made.contestants.map((contestant) => contestant.sessionId));
        this.#begun();
      } else await this.#startOne(mine, { ...options, agent: agent.name }, device);
    } catch (error) {
      if (this.going === mine) this.#set({ ...mine, error: errorOf(error) });
    }
  }

  /**
   * @param {Going} mine
   * @param {import('../../js/types.d.ts').Operations['session:create']['body']} options
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
    if (made.waiting) Object.assign(this.going, { waiting: made.waiting, seen: Date.now() });
    this.on.made([made.sessionId]);
    if (!made.waiting) app.live.ensure(made.sessionId);
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
      if (this.going === mine) this.#set({ ...mine, error: errorOf(error) });
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
    if (going?.waiting && !over) this.#withdraw(going.waiting);
    else if (going?.id && !over) this.#end(going.id);
    this.on.changed();
  }

  /** @param {WaitingStart} start */
  #withdraw(start) {
    const { device } = choices(this.app.store.get(), this.command);
    if (device) this.app.api.withdrawStart(start.id, device.device).catch(this.app.trouble);
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
    const { id, waiting } = this.going;
    this.going = goingAfter(this.going, id ? state.sessions[id] : undefined, Date.now(), startOf(state, id));
    if (waiting && !this.going?.waiting && !this.going?.error) this.app.live.ensure(id);
    if (this.going) return;
    this.#begun();
    if (state.route.name !== 'start') return;
    this.app.go({ name: 'session', id });
    queueMicrotask(() => this.app.events.emit('write', null)); // once the composer is drawn
  }
}
