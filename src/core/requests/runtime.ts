import type { ContextId, EntryKey, Json, JsonObject, Timestamp } from '../base/index.js';
import type { ContextRow } from '../chain/index.js';
import type { CallSource, CommitType, Proof, Provider } from '../contract/index.js';
import type { FileBytes, OutlineEntry, ParsedEntry } from '../formats/index.js';

/**
 * The calls of a chain as one runtime wrote them down. A call is known by its answer: the assistant's entries that it
 * brought. Nothing of it is stored: listing counts in outlines and reads the deltas that hold answers, once each; a body
 * is made when it is asked for, from the bytes of the deltas before its answer.
 */
export interface Runtime {
  /** The format of the commits whose answers are its calls. */
  readonly format: string;
  readonly source: CallSource;
  /**
   * `recorded` where all that `missing` does not name was written down as it was sent. Where part of a context is of another
   * runtime, its calls count as `rebuilt` in any case.
   */
  readonly proof: Exclude<Proof, 'digest'>;
  /**
   * Whether an entry of the assistant is the first of another call's answer. `last` is the assistant's entry before it,
   * whatever stands between: blocks of one answer may have results between them.
   */
  startsAnswer(entry: OutlineEntry, last: OutlineEntry | undefined): boolean;
  /** Whether an entry stands in the body's list of messages at all; Anthropic's system prompt, say, does not. */
  isListed(entry: OutlineEntry): boolean;
  /**
   * Whether a listed entry begins a message of the body's list; `begun` is the entry that began the message before, `last`
   * the assistant's entry before. Counting by it gives `messageCount` without making a body.
   */
  startsMessage(entry: OutlineEntry, begun: OutlineEntry | undefined, last: OutlineEntry | undefined): boolean;
  /**
   * How many messages that are no entries, such as base instructions, the bodies begin with from this delta on; undefined where
   * it does not say. A runtime without it has none.
   */
  readonly leading?: (delta: Delta, isRoot: boolean) => number | undefined;
  /**
   * How many messages the runtime adds for an answer of which so many calls got no result and so many did, once the conversation
   * goes on. A runtime without it adds none.
   */
  readonly unanswered?: (calls: number, answered: number) => number;
  /** A compaction's commit begins with the answer of the call that made it, hidden: that was sent the context before it. */
  readonly recordsCompactions?: true;
  /** What the delta says of the call whose answer begins at its entry number `at`; undefined where that was no call. */
  answer(delta: Delta, at: number): Answer | undefined;
  /** The body as its provider got it, as far as it was written down. Never throws for what the deltas hold. */
  body(call: CallPlace): CallBody;
  /** System prompt and tools as this delta states them, for the library of them; left out by runtimes that write neither down. */
  readonly stated?: (delta: Delta) => Stated | undefined;
  /** What calls were sent from this delta on that no entry weighs; `before` is what they were sent up to it. */
  readonly besides?: (delta: Delta, before: Stated | undefined) => Stated | undefined;
  /** Whether a file has records of whole calls beside its conversation; they are taken in by `takeRecords`. */
  readonly hasRecords?: (file: FileBytes) => boolean;
}

/** In the provider's words, as a body has them. */
export interface Stated {
  readonly system?: Json;
  readonly tools?: Json;
  /** Of the runtime. */
  readonly version?: string;
}

/** A commit's content as its runtime wrote it, with what its format reads in it. */
export interface Delta {
  readonly commit: ContextId;
  readonly type: CommitType;
  readonly format: string;
  readonly bytes: Uint8Array;
  /** Hidden ones included; `raw` says where in `bytes` each one's record stands. */
  readonly entries: readonly ParsedEntry[];
  /** Bytes from here on were written with the call's answer or after it: the length, but for the delta that holds the answer. */
  readonly end: number;
}

/** Tokens as the provider counted them; null where the runtime did not write it down. */
export interface Usage {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
}

export const unknownUsage: Usage = { input: null, output: null, cacheRead: null, cacheWrite: null };

/** All that the model read, cached or not; null where the provider's count was not recorded. */
export const windowOf = ({ input, cacheRead, cacheWrite }: Usage): number | null =>
  input === null && cacheRead === null && cacheWrite === null ? null : (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);

export interface Answer {
  /** Null where it was not written down. */
  readonly model: string | null;
  readonly usage: Usage;
  /** When the call was made or its answer came; the entry's own time where it is not given. */
  readonly at?: Timestamp;
  /** The runtime did not write down what was sent: it is `rebuilt`, whatever the runtime's other calls are. */
  readonly isRebuilt?: true;
}

/** Where a call stands in its chain. Deltas are read as they are asked for. */
export interface CallPlace {
  readonly commit: ContextId;
  readonly replyKey: EntryKey;
  readonly at: Timestamp;
  readonly answer: Answer;
  /** Its answer became the summary of a compaction. */
  readonly makesCompaction: boolean;
  /** What the model was sent, by the chain's rules: visible entries before the answer, elided results as what took their place. */
  entries(): readonly ParsedEntry[];
  /** The deltas of that context as they were written, oldest first: from the last compaction or snapshot to the answer's own. */
  deltas(): readonly Delta[];
  /** The deltas before those, newest first: for what is written once at the beginning. */
  earlier(): Iterable<Delta>;
}

/** Whether a commit is a compaction that holds the answer of the call that made it. */
export const makesCompaction = ({ type, parent }: Pick<ContextRow, 'type' | 'parent'>, { recordsCompactions }: Runtime): boolean =>
  type === 'compaction' && parent !== null && recordsCompactions === true;

/** The record that an entry is a block of. */
export const recordOf = (key: EntryKey): string => key.replace(/\.\d+$/, '');

export interface CallBody {
  readonly provider: Provider;
  /** In the provider's own words, as it was sent. */
  readonly body: JsonObject;
  /** Parts of the request that stand nowhere, by their names in the body, or in words. */
  readonly missing: readonly string[];
}
