/**
 * Events become what a person reads. Pure, imports nothing; the twin of `model/entries.py`, held to the same
 * fixtures (`tests/fixtures/fold`).
 *
 * @typedef {import('./types.d.ts').Logged} Logged
 * @typedef {import('./types.d.ts').Entry} Entry
 * @typedef {import('./types.d.ts').WireEntry} WireEntry
 * @typedef {(name: string, logged: Logged) => Entry | null | undefined} Touch
 */

export const MAX_OUTPUT = 256 * 1024;

/**
 * A window of the transcript, true as of `seq`. `before` and `after` are where to ask for what lies above and below
 * it; `after` is null at the live end, and only there do events begin new entries. `open` names what later events may
 * still change; `changed` holds the first_seq of every entry the last batch touched.
 * @typedef {{
 *   seq: number,
 *   before: number | null,
 *   after: number | null,
 *   entries: Entry[],
 *   open: Record<string, number>,
 *   changed: number[],
 * }} Transcript
 */

/**
 * The wire leaves defaults out; everything else here counts on them.
 * @param {WireEntry} entry
 * @returns {Entry}
 */
export function filled(entry) {
  const open = entry.open ?? false;
  switch (entry.kind) {
    case 'prompt':
      return { ...entry, open, client_message_id: entry.client_message_id ?? null, images: entry.images ?? [] };
    case 'text':
      return { ...entry, open, text: entry.text ?? '', parent: entry.parent ?? null };
    case 'tool':
      return {
        ...entry,
        open,
        tool_kind: entry.tool_kind ?? 'other',
        input: entry.input ?? {},
        status: entry.status ?? 'running',
        output: entry.output ?? '',
        diffs: entry.diffs ?? [],
        locations: entry.locations ?? [],
        images: entry.images ?? [],
        parent: entry.parent ?? null,
        finished_at: entry.finished_at ?? null,
      };
    case 'request':
      return { answer: null, reason: null, settled_at: null, ...entry, open };
    case 'event':
      return { ...entry, open, attempt: entry.attempt ?? 0, attempts: entry.attempts ?? 0, back: entry.back ?? false };
    default:
      return { ...entry, open };
  }
}

/**
 * @param {number} seq
 * @param {WireEntry[]} entries as a page of the wire holds them, oldest first
 * @param {number | null} before
 * @param {number | null} [after]
 * @returns {Transcript}
 */
export function transcript(seq, entries, before, after = null) {
  const all = entries.map(filled);
  return { seq, before, after, entries: all, open: openIn(all), changed: [] };
}

/** @param {Entry[]} entries */
export function openIn(entries) {
  /** @type {Record<string, number>} */
  const open = {};
  for (const entry of entries) if (entry.open) open[nameOf(entry)] = entry.first_seq;
  return open;
}

/**
 * An entry that came with a page already holds some events: its `last_seq` says which, and they are passed over.
 * @param {Transcript} state
 * @param {Logged[]} batch events in order; those the state already holds are passed over
 * @returns {Transcript}
 */
export function fold(state, batch) {
  const next = {
    ...state,
    entries: state.entries.slice(),
    open: { ...state.open },
    changed: /** @type {number[]} */ ([]),
  };
  /** @type {Map<number, Entry>} entries copied in this batch, so that the old state stays as it was */
  const fresh = new Map();
  const places = placesOf(next.entries);

  /**
   * Gives undefined for an entry that is not here, and null for one that knows already.
   * @type {Touch}
   */
  const touch = (name, logged) => {
    const first = next.open[name];
    const place = first === undefined ? undefined : places(first);
    if (place === undefined) return undefined;
    if (next.entries[place].last_seq >= logged.seq) return null;
    let entry = fresh.get(first);
    if (entry === undefined) {
      entry = { ...next.entries[place] };
      next.entries[place] = entry;
      fresh.set(first, entry);
    }
    entry.last_seq = logged.seq;
    return entry;
  };
  /** @type {Touch} */
  const close = (name, logged) => {
    const entry = touch(name, logged);
    if (entry) entry.open = false;
    if (entry !== null) delete next.open[name];
    return entry;
  };
  /** @param {Entry | null} entry */
  const begin = (entry) => {
    if (!entry || next.after !== null || places(entry.first_seq) !== undefined || toldInside(next.entries, entry))
      return;
    next.entries.push(entry);
    fresh.set(entry.first_seq, entry);
    if (entry.open) next.open[nameOf(entry)] = entry.first_seq;
  };

  for (const logged of batch) {
    if (logged.seq <= next.seq) continue;
    next.seq = logged.seq;
    apply(logged, { touch, close, begin, open: next.open });
  }
  next.changed = [...fresh.keys()];
  return next;
}

/**
 * Whether a beginning, an end or a failure is part of an entry about a lost agent.
 * @param {Entry[]} entries
 * @param {Entry} entry
 */
function toldInside(entries, entry) {
  if (entry.kind !== 'event') return false;
  const { first_seq: seq, event } = entry;
  if (!event.type.startsWith('session_') || (event.type === 'session_ended' && event.reason !== 'disconnected'))
    return false;
  return entries.some(
    (candidate) => candidate.kind === 'event' && candidate.first_seq < seq && candidate.last_seq >= seq,
  );
}

/**
 * @param {Entry[]} entries sorted by first_seq
 * @returns {(first: number) => number | undefined}
 */
function placesOf(entries) {
  return (first) => {
    let low = 0;
    let high = entries.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const at = entries[middle].first_seq;
      if (at === first) return middle;
      if (at < first) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  };
}

/**
 * @param {Logged} logged
 * @param {{
 *   touch: Touch,
 *   close: Touch,
 *   begin: (entry: Entry | null) => void,
 *   open: Record<string, number>,
 * }} hands
 */
function apply(logged, { touch, close, begin, open }) {
  const { event } = logged;
  switch (event.type) {
    case 'text_appended': {
      const entry = touch(`text ${event.entry_id}`, logged);
      if (entry?.kind === 'text') entry.text += event.text;
      break;
    }
    case 'entry_closed':
      close(`text ${event.entry_id}`, logged);
      break;
    case 'text_said':
      close(`text ${event.entry_id}`, logged); // a name said twice: the older one is over
      begin(begun(logged));
      break;
    case 'tool_changed':
      changeTool(touch(`tool ${event.tool_id}`, logged), logged, open);
      break;
    case 'plan_changed': {
      const entry = touch('plan', logged);
      if (entry?.kind === 'plan') entry.items = event.items;
      else if (entry === undefined) begin(begun(logged));
      break;
    }
    case 'permission_answered':
    case 'question_answered':
    case 'permission_withdrawn':
    case 'question_withdrawn':
      settleEntry(close(`request ${event.request_id}`, logged), logged);
      break;
    default:
      if (open.reconnect === undefined || !followReconnect(logged, touch, close)) begin(begun(logged));
  }
  if (event.type === 'turn_ended' || event.type === 'session_ended' || event.type === 'session_failed') {
    for (const name of Object.keys(open)) if (name !== 'reconnect') close(name, logged);
  }
}

/**
 * @param {Entry | null | undefined} entry
 * @param {Logged} logged
 * @param {Record<string, number>} open
 */
function changeTool(entry, logged, open) {
  const { event } = logged;
  if (entry?.kind !== 'tool' || event.type !== 'tool_changed') return;
  entry.status = event.status;
  entry.output = firstCharacters(event.output || entry.output, MAX_OUTPUT);
  if (event.diffs?.length) entry.diffs = event.diffs;
  if (event.locations?.length) entry.locations = event.locations;
  if (event.images?.length) entry.images = event.images;
  if (event.status !== 'running') {
    entry.finished_at = logged.at;
    entry.open = false;
    delete open[`tool ${event.tool_id}`];
  }
}

/**
 * Characters, not UTF-16 units: Python counts so.
 * @param {string} text
 * @param {number} most
 */
function firstCharacters(text, most) {
  return text.length <= most ? text : Array.from(text).slice(0, most).join('');
}

/**
 * A lost agent is one entry, until it is back or was given up. Gives whether the event is shown there.
 * @param {Logged} logged
 * @param {Touch} touch
 * @param {Touch} close
 */
function followReconnect(logged, touch, close) {
  const { event } = logged;
  switch (event.type) {
    case 'reconnect_scheduled': {
      const entry = touch('reconnect', logged);
      if (entry?.kind === 'event') Object.assign(entry, { attempt: event.attempt, attempts: event.attempts });
      return true;
    }
    case 'session_started':
      touch('reconnect', logged);
      return true;
    case 'session_ready': {
      const entry = close('reconnect', logged);
      if (entry?.kind === 'event') entry.back = true;
      return true;
    }
    case 'session_failed': {
      const entry = close('reconnect', logged);
      if (entry?.kind === 'event') entry.event = event;
      return true;
    }
    case 'session_ended': {
      const again = event.reason === 'disconnected';
      const entry = again ? touch('reconnect', logged) : close('reconnect', logged);
      if (entry?.kind === 'event' && again) entry.event = event;
      return again;
    }
    default:
      return false;
  }
}

/**
 * @param {Entry | null | undefined} entry
 * @param {Logged} logged
 */
function settleEntry(entry, { event, at }) {
  if (entry?.kind !== 'request') return;
  entry.settled_at = at;
  if (event.type === 'permission_answered' || event.type === 'question_answered')
    Object.assign(entry, { state: 'answered', answer: event });
  else if (event.type === 'permission_withdrawn' || event.type === 'question_withdrawn')
    Object.assign(entry, { state: 'withdrawn', reason: event.reason });
}

/** @param {Entry} entry */
export function nameOf(entry) {
  switch (entry.kind) {
    case 'text':
      return `text ${entry.entry_id}`;
    case 'tool':
      return `tool ${entry.tool_id}`;
    case 'request':
      return `request ${entry.request_id}`;
    case 'plan':
      return 'plan';
    case 'event':
      return entry.open ? 'reconnect' : `closed ${entry.first_seq}`;
    default:
      return `closed ${entry.first_seq}`;
  }
}

/**
 * The entry an event begins, if it begins one.
 * @param {Logged} logged
 */
function begun({ seq, at, event }) {
  const base = { first_seq: seq, last_seq: seq, at };
  switch (event.type) {
    case 'prompt_sent': {
      const { prompt_id, text, by, client_message_id, images } = event;
      return filled({ ...base, kind: 'prompt', prompt_id, text, by, client_message_id, images });
    }
    case 'entry_opened': {
      const { entry_id, kind, parent } = event;
      return filled({ ...base, kind: 'text', open: true, entry_id, voice: kind, parent });
    }
    case 'text_said': {
      const { entry_id, kind, text, parent } = event;
      return filled({ ...base, kind: 'text', entry_id, voice: kind, text, parent });
    }
    case 'tool_started': {
      const { tool_id, name, title, kind, input, parent } = event;
      return filled({ ...base, kind: 'tool', open: true, tool_id, name, title, tool_kind: kind, input, parent });
    }
    case 'plan_changed':
      return filled({ ...base, kind: 'plan', open: true, items: event.items });
    case 'permission_requested':
    case 'question_asked':
      return filled({
        ...base,
        kind: 'request',
        open: true,
        request_id: event.request_id,
        state: 'open',
        asked: event,
      });
    case 'turn_ended':
      return filled({ ...base, kind: 'turn', ended: event });
    case 'session_ended':
      return filled({ ...base, kind: 'event', open: event.reason === 'disconnected', event });
    case 'note':
    case 'stderr_written':
    case 'session_started':
    case 'session_failed':
    case 'interrupted':
    case 'unrecognised':
      return filled({ ...base, kind: 'event', event });
    default:
      return noEntry(event.type);
  }
}

/**
 * For events that begin no entry. To tsc these are all; a new type has to be named here, or above.
 * @param {'agent_spawned' | 'session_ready' | 'end_scheduled' | 'end_cancelled' | 'session_ending'
 *   | 'reconnect_scheduled' | 'prompt_queued' | 'prompt_edited' | 'prompts_reordered' | 'prompt_withdrawn'
 *   | 'queue_held' | 'queue_released' | 'guard_asked' | 'guard_answered' | 'text_appended' | 'entry_closed'
 *   | 'tool_changed' | 'permission_answered' | 'permission_withdrawn' | 'question_answered' | 'question_withdrawn'
 *   | 'answer_delivered' | 'rule_added' | 'title_changed' | 'archived_changed' | 'mode_changed'
 *   | 'permission_mode_changed' | 'model_changed' | 'commands_changed' | 'models_changed' | 'usage_changed'
 *   | 'terminal_resized' | 'bell'} _type
 */
function noEntry(_type) {
  return null;
}
