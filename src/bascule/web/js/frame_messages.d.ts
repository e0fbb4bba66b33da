// What the shell sends to its sandboxed frames. What a frame sends back is untrusted, and checked field by field.
import type { Delta, Logged, WireEntry } from './types.d.ts';

export interface Page {
  seq: number;
  entries: WireEntry[];
  before: number | null;
  after?: number | null;
}

export type ToTranscript =
  | ({ type: 'open'; cwd: string; files: boolean } & Page)
  | { type: 'events'; entries: Logged[] }
  | { type: 'page'; number: number; page: Page | null }
  | { type: 'theme'; theme: string }
  | { type: 'drawn'; number: number; result: string; problem: string }
  | { type: 'me'; names: string[] }
  | { type: 'lost'; text: string }
  | { type: 'may'; branch: boolean; keep: boolean; editsAfter: number | null; source: string }
  | { type: 'find'; text: string; step?: number }
  | { type: 'hits'; text: string; seqs: number[] | null }
  | { type: 'prompt'; step: number }
  | { type: 'goto'; seq: number };

export interface Begin {
  offset: number;
  end: number;
  base: number;
  prelude: string;
  cols: number;
  rows: number;
  readOnly: boolean;
  over: boolean;
  fresh: boolean;
  earlier: boolean;
  scrollback: number;
  keep: number | null;
}

export type ToTerminal =
  | ({ type: 'begin' } & Begin)
  | { type: 'bytes'; offset: number; data: ArrayBuffer }
  | { type: 'skipped'; prelude: string }
  | { type: 'size'; cols: number; rows: number }
  | { type: 'over' }
  | { type: 'theme'; theme: string }
  | { type: 'font'; size: number }
  | { type: 'press'; key: string }
  | { type: 'paste'; text: string }
  | { type: 'copy' }
  | { type: 'find'; text: string; step: number }
  | { type: 'focus' };

export type ToEditor =
  | { type: 'open'; number: number; delta: Delta; readOnly: boolean }
  | { type: 'theme'; theme: string }
  | { type: 'focus' };

export interface Drawing {
  number: number;
  text: string;
  dark: boolean;
  display: boolean;
}

export type ToDrawer = { type: 'draw' } & Drawing;

// What a frame sends, as the shell must take it: anything may be in it.
export interface FromFrame {
  type: string;
  [field: string]: unknown;
}

// How a frame takes its messages: a function for each type.
export type Handlers<Message extends { type: string }> = {
  [Type in Message['type']]: (message: Extract<Message, { type: Type }>) => void;
};
