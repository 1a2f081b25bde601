import { availableParallelism } from 'node:os';
import type { Refusal, Settled } from '../../core/base/index.js';
import type { AgentRoot, CacheSize, DerivedKind, Offer, ReadPlace } from '../../core/project/index.js';
import type { ProcedureKind } from '../../core/router/index.js';
import type { Frame, FromEngine, ToEngine } from '../launch/index.js';

/** At most this many threads read a project: two to four, by the number of processors. */
export const mostReaders = Math.min(4, Math.max(2, availableParallelism()));

/** What a thread that reads asks of the writer: to store something, or to fetch or allow what only the engine can. */
export type AidQuestion =
  | { readonly what: 'keep'; readonly offers: readonly Offer[] }
  | { readonly what: 'prepare'; readonly derived: DerivedKind }
  | { readonly what: 'fetch'; readonly refusal: Refusal }
  | { readonly what: 'checkOutput'; readonly path: string };

/** A question of a thread that reads, for one of its connections. */
export interface Aid {
  readonly reader: number;
  readonly number: number;
  readonly connection: number;
  readonly question: AidQuestion;
}

/** Messages from the thread that answers to the writer. */
export type ToWriter =
  | ToEngine
  | { readonly kind: 'aid'; readonly dir: string; readonly aid: Aid }
  /** The threads that read a project have closed it. */
  | { readonly kind: 'left'; readonly number: number }
  /** What the threads that read keep in memory. */
  | { readonly kind: 'caches'; readonly number: number; readonly sizes: readonly CacheSize[] };

/** Messages from the writer to the thread that answers. */
export type FromWriter =
  | Exclude<FromEngine, { kind: 'ready' }>
  | { readonly kind: 'ready'; readonly kinds: Readonly<Record<string, ProcedureKind>> }
  /** A connection works in this project from now on. */
  | { readonly kind: 'using'; readonly connection: number; readonly dir: string }
  /** Where a project is read; undefined if only the writer can read it. Sent before the first `using`, and after each change. */
  | { readonly kind: 'place'; readonly dir: string; readonly place: ReadPlace | undefined }
  | { readonly kind: 'live'; readonly dir: string; readonly tips: readonly string[] }
  | { readonly kind: 'aided'; readonly dir: string; readonly reader: number; readonly number: number; readonly answer: Settled }
  /** Asks the threads that read a project to close it, because its file is about to be replaced. */
  | { readonly kind: 'leave'; readonly dir: string; readonly number: number }
  /** Asks what the threads that read keep in memory. */
  | { readonly kind: 'caches'; readonly number: number };

export interface ReaderOrder {
  readonly kind: 'reader';
  readonly dataDir: string;
  readonly agentRoots: readonly AgentRoot[];
  readonly place: ReadPlace | undefined;
  /** The number of projects that have threads for reading: they share the memory for caches. */
  readonly projects: number;
}

export type ToReader =
  /** `call`: the number of the call that the frame begins; undefined if it belongs to an earlier one. */
  | { readonly kind: 'frame'; readonly connection: number; readonly frame: Frame; readonly call?: string | undefined }
  | { readonly kind: 'end'; readonly connection: number }
  | { readonly kind: 'place'; readonly place: ReadPlace | undefined }
  | { readonly kind: 'live'; readonly tips: readonly string[] }
  | { readonly kind: 'aided'; readonly number: number; readonly answer: Settled }
  | { readonly kind: 'share'; readonly projects: number }
  | { readonly kind: 'leave' };

export type FromReader =
  | { readonly kind: 'ready' }
  | { readonly kind: 'frame'; readonly connection: number; readonly frame: Frame }
  | { readonly kind: 'ask'; readonly number: number; readonly connection: number; readonly question: AidQuestion }
  /** The work for a frame is over, with or without an answer. */
  | { readonly kind: 'ended'; readonly connection: number; readonly call: string | undefined; readonly size: CacheSize }
  | { readonly kind: 'left' };
