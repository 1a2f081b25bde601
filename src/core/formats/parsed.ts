import type { ByteRange, EntryKey, Timestamp } from '../base/index.js';
import type { Kind, Role } from '../contract/index.js';

/** The provider's token counts of a call; null if a count was not recorded. `input` excludes cached tokens. */
export interface TokenUsage {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** The part of `cacheWrite` that lives for an hour. */
  readonly cacheWrite1h?: number | null;
  /** The part of `output` that is thinking. */
  readonly reasoning?: number | null;
  /** Why a recorded count is ignored. */
  readonly countFlaw?: string;
  /** True if the reply was copied from another conversation, which has its counts, so that it is not a separate call. */
  readonly isCopy?: true;
}

/** An entry read from a delta: neutral, without a place in a chain. `media` holds decoded bytes; the store turns them into artifacts. */
export interface ParsedEntry {
  readonly key: EntryKey;
  readonly role: Role;
  readonly kind: Kind;
  readonly text?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly arguments?: unknown;
  readonly result?: unknown;
  readonly isError?: boolean;
  readonly media?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly at?: Timestamp;
  readonly author?: string;
  readonly tokens: number;
  /** The range of the entry's record in the delta. */
  readonly raw?: ByteRange;
  /**
   * `meta`: added by the agent, not typed. `hidden`: never sent to the model. `signed`: thinking with a signature. `redacted`: thinking that only the
   * provider can read. `beside`: a call that the agent made outside of the conversation, which does not contain its reply. `counts`: the counts of a
   * reply in another record. `total`: the agent's own sum of the calls of a model. `queued`, …
   */
  readonly marks?: readonly string[];
  /** The agent's id of the message to which the entry belongs. Entries with the same id were one message on the wire. */
  readonly messageId?: string;
  /** The usage of the call whose answer begins here, in formats that record it with the answer. */
  readonly usage?: TokenUsage;
}

/** Whether the entry was never sent to the model. */
export const isHidden = ({ marks }: Pick<ParsedEntry, 'marks'>): boolean => marks?.includes('hidden') === true;

/** An effect of a delta on earlier entries: a microcompaction blanks old tool results. */
export interface Elision {
  readonly toolCallIds: readonly string[];
  readonly text: string;
}

export interface Problem {
  /** The number of the line or record in the delta, from 1; 0 if the problem concerns no single record. */
  readonly line: number;
  readonly reason: string;
}

/** A writable copy of a type. Rare fields are assigned only if they exist, because conditional spreads would dominate the cost of parsing. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface ParsedDelta {
  /** The branch of git that was checked out last, if the agent recorded it. */
  readonly branch?: string;
  /** The time that the agent wrote as the duration of its turns in this delta, in milliseconds. */
  readonly durationMs?: number;
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
  readonly problems: readonly Problem[];
}
