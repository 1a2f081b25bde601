import type { ContextId, EntryKey, Json, JsonObject, Timestamp } from '../../base/index.js';
import type { ContextRow } from '../../chain/index.js';
import type { CallSource, CommitType, Proof, Provider, RequestTokens } from '../../contract/index.js';
import type { FileBytes, OutlineEntry, ParsedEntry } from '../../formats/index.js';

/**
 * The calls of a chain as one runtime recorded them. A call is recognized by its answer: the assistant entries that it returned. Nothing is
 * stored: listing counts in outlines and reads the deltas with answers once each, and a body is made on demand from the deltas before its
 * answer.
 */
export interface Runtime {
  /** The format of the commits whose answers are its calls. */
  readonly format: string;
  readonly source: CallSource;
  /**
   * `recorded` where everything that `missing` does not name was recorded as it was sent. Where part of a context is of another runtime,
   * its calls count as `rebuilt`.
   */
  readonly proof: Exclude<Proof, 'digest'>;
  /**
   * Whether an entry of the assistant begins the answer of another call. `last` is the assistant's previous entry, whatever is between:
   * blocks of one answer can have results between them.
   */
  startsAnswer(entry: OutlineEntry, last: OutlineEntry | undefined): boolean;
  /** Whether an entry is in the body's list of messages; Anthropic's system prompt, for example, is not. */
  isListed(entry: OutlineEntry): boolean;
  /**
   * Whether a listed entry begins a message of the body's list. `begun` is the entry that began the previous message, `last` the
   * assistant's previous entry. Counting by it gives `messageCount` without making a body.
   */
  startsMessage(entry: OutlineEntry, begun: OutlineEntry | undefined, last: OutlineEntry | undefined): boolean;
  /**
   * The number of first messages that are not entries, such as base instructions, from this delta on; undefined where the delta does not
   * say. A runtime without it has none.
   */
  readonly leading?: (delta: Delta, isRoot: boolean) => number | undefined;
  /**
   * The number of messages that the runtime adds after an answer with this many calls without and with a result, once the conversation
   * continues. A runtime without it adds none.
   */
  readonly unanswered?: (calls: number, answered: number) => number;
  /** A compaction's commit begins with the hidden answer of the call that made it, which was sent the context before it. */
  readonly recordsCompactions?: true;
  /** Facts of the call whose answer begins at entry number `at`; undefined where that was no call. */
  answer(delta: Delta, at: number): Answer | undefined;
  /** The body as the provider got it, as far as it was recorded. Never throws for the content of deltas. */
  body(call: CallPlace): CallBody;
  /** System prompt and tools that this delta states, for the library. Left out by runtimes that record neither. */
  readonly stated?: (delta: Delta) => Stated | undefined;
  /** What calls were sent from this delta on that no entry counts. `before` is what they were sent up to it. */
  readonly besides?: (delta: Delta, before: Stated | undefined) => Stated | undefined;
  /** Whether a file has records of whole calls beside its conversation. `takeRecords` stores them. */
  readonly hasRecords?: (file: FileBytes) => boolean;
}

/** In the provider's words, as in a body. */
export interface Stated {
  readonly system?: Json;
  readonly tools?: Json;
  /** The version of the runtime. */
  readonly version?: string;
}

/** A commit's content as its runtime wrote it, with the entries that its format reads. */
export interface Delta {
  readonly commit: ContextId;
  readonly type: CommitType;
  readonly format: string;
  readonly bytes: Uint8Array;
  /** All entries, hidden ones included; `raw` is the range of each one's record in `bytes`. */
  readonly entries: readonly ParsedEntry[];
  /** Bytes from here on were written with the call's answer or later. The length, except for the delta with the answer. */
  readonly end: number;
}

/** Tokens as the provider counted them; null where the runtime recorded none. */
export interface Usage {
  readonly input: number | null;
  readonly output: number | null;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  /** The part of `cacheWrite` that lives for an hour. */
  readonly cacheWrite1h?: number | null;
  /** The part of `output` that is thinking. */
  readonly reasoning?: number | null;
  /** Why a recorded count is not shown. */
  readonly countFlaw?: string;
}

/** The four counts that every list of calls shows. */
export const shownCounts = ({ input, output, cacheRead, cacheWrite }: Usage): RequestTokens => ({ input, output, cacheRead, cacheWrite });

/** The counts of a call whose provider or agent said none. */
export const unknownUsage: RequestTokens = { input: null, output: null, cacheRead: null, cacheWrite: null };

/** Everything that the model read, cached or not; null where the provider's count was not recorded. */
export const windowOf = ({ input, cacheRead, cacheWrite }: Usage): number | null =>
  input === null && cacheRead === null && cacheWrite === null ? null : (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);

/** The model that wrote an entry. Histories of several agents name the agent instead. */
export const modelOf = ({ author, marks }: ParsedEntry): string | null => (marks?.includes('agent') ? null : (author ?? null));

export interface Answer {
  /** Null where it was not recorded. */
  readonly model: string | null;
  readonly usage: Usage;
  /** When the call was made or its answer came; without it, the entry's own time. */
  readonly at?: Timestamp;
  /** The runtime did not record what was sent: the call is `rebuilt`, whatever the runtime's other calls are. */
  readonly isRebuilt?: true;
}

/** The position of a call in its chain. Deltas are read on demand. */
export interface CallPlace {
  readonly commit: ContextId;
  readonly replyKey: EntryKey;
  readonly at: Timestamp;
  readonly answer: Answer;
  /** Its answer became the summary of a compaction. */
  readonly makesCompaction: boolean;
  /** What the model was sent, by the chain's rules: visible entries before the answer, with the replacements of elided results. */
  entries(): readonly ParsedEntry[];
  /** The deltas of that context as they were written, oldest first: from the last compaction or snapshot to the answer's own. */
  deltas(): readonly Delta[];
  /** The deltas before those, newest first, for content that is written once at the beginning. */
  earlier(): Iterable<Delta>;
}

/** Whether a commit is a compaction that holds the answer of the call that made it. */
export const makesCompaction = ({ type, parent }: Pick<ContextRow, 'type' | 'parent'>, { recordsCompactions }: Runtime): boolean =>
  type === 'compaction' && parent !== null && recordsCompactions === true;

/** The record of which an entry is a block. */
export const recordOf = (key: EntryKey): string => key.replace(/\.\d+$/, '');

export interface CallBody {
  readonly provider: Provider;
  /** In the provider's own words, as it was sent. */
  readonly body: JsonObject;
  /** Parts of the request that are not recorded, by their names in the body, or in words. */
  readonly missing: readonly string[];
}
