import { type ByteRange, decodeText, type EntryKey, type Json, type JsonObject, parseJson, type Timestamp } from '../../base/index.js';
import type { ContextRow } from '../../chain/index.js';
import type { CallSource, CommitType, Proof, Provider, RequestTokens } from '../../contract/index.js';
import type { CallCount, FileBytes, OutlineEntry, ParsedEntry, TokenUsage } from '../../formats/index.js';

export { recordOfKey as recordId, unknownUsage } from '../../formats/index.js';

/** How calls are found in a chain, by their answers. Listing counts in outlines and reads each delta once; bodies are built on demand. */
export interface CallReader {
  /** The format of the commits whose answers are its calls. */
  readonly format: string;
  readonly source: CallSource;
  /** `recorded` if all parts that `missing` does not name were. With parts of another runtime, calls count as `rebuilt`. */
  readonly proof: Exclude<Proof, 'digest'>;
  /** Whether an entry of the assistant begins another call's answer. `last` is the assistant's previous entry; results may lie between. */
  startsAnswer(entry: OutlineEntry, last: OutlineEntry | undefined): boolean;
  /** Whether an entry is in the body's list of messages; Anthropic's system prompt, for example, is not. */
  isListed(entry: OutlineEntry): boolean;
  /**
   * Whether a listed entry begins a message of the body's list. `begun` is the entry that began the previous message, `last` the
   * assistant's previous entry. With it, `messageCount` is computed without building a body.
   */
  startsMessage(entry: OutlineEntry, begun: OutlineEntry | undefined, last: OutlineEntry | undefined): boolean;
  /** The number of first messages that are no entries, such as base instructions; undefined if the delta does not say. Default: none. */
  readonly leading?: (delta: Delta, isRoot: boolean) => number | undefined;
  /** The number of messages added later for calls without a result, by the numbers of calls without and with one. Default: none. */
  readonly unanswered?: (calls: number, answered: number) => number;
  /** Set if a compaction's commit begins with the hidden answer of the call that made it. That call sent the context before the compaction. */
  readonly recordsCompactions?: true;
  /** The calls whose replies a delta contains, if counts do not stand with replies. By default, `answer` has the counts of each reply. */
  readonly counted?: (delta: Delta) => readonly CallCount[];
  /** Facts of the call whose answer begins at entry number `at`; undefined if no call gave it. */
  answer(delta: Delta, at: number): Answer | undefined;
  /** The body that the provider received, without parts that were not recorded. Never throws for the content of deltas. */
  body(call: CallPlace): CallBody;
  /** System prompt and tools that this delta states, for the library. Left out by runtimes that record neither. */
  readonly stated?: (delta: Delta) => Stated | undefined;
  /** The content that calls send from this delta on in addition to entries. `before` is the same for the deltas before it. */
  readonly besides?: (delta: Delta, before: Stated | undefined) => Stated | undefined;
  /** Whether a file has records of whole calls in addition to its conversation. `takeRecords` stores them. */
  readonly hasRecords?: (file: FileBytes) => boolean;
}

/** System prompt and tools in the provider's wire format. */
export interface Stated {
  readonly system?: Json;
  readonly tools?: Json;
  readonly version?: string;
}

/** A commit's content as its runtime wrote it, with the entries that its format reads. */
export interface Delta {
  readonly type: CommitType;
  readonly format: string;
  readonly bytes: Uint8Array;
  /** All entries, hidden ones included; `raw` is the range of each one's record in `bytes`. */
  readonly entries: readonly ParsedEntry[];
  /** The offset where the call's answer begins. The length of `bytes` for deltas without the answer. */
  readonly end: number;
  /** What the session wrote before this delta; absent if it is unknown. */
  readonly before?: EarlierDeltas | undefined;
}

/** The deltas of a session before another one, read on demand. */
export interface EarlierDeltas {
  /** What is found in the first delta of the session. It is kept as in `found`. */
  first<Value>(kind: string, find: (bytes: Uint8Array) => Value): Value | undefined;
  /** All earlier deltas, the newest first. */
  earlier(): Iterable<Uint8Array>;
  /** What is found in each of them, which is kept by `kind`: every later delta asks for it. */
  found<Value>(kind: string, find: (bytes: Uint8Array) => Value): Iterable<Value>;
  /** The delta whose turn this one goes on with, if the file was imported within the turn. */
  parent(): Pick<Delta, 'format' | 'bytes' | 'before'> | undefined;
}

/** Tokens as the provider counted them; null if the runtime recorded none. */
export interface Usage extends Omit<TokenUsage, 'isCopy'> {
  /** The input of the last step, where the provider counts several steps together. */
  readonly windowTokens?: number | null;
}

/** The four counts that every list of calls shows. */
export const shownCounts = ({ input, output, cacheRead, cacheWrite }: Usage): RequestTokens => ({ input, output, cacheRead, cacheWrite });

/** The counts of a reply as a part of a call has them. */
export const replyCounts = ({ cacheWrite1h = null, reasoning = null, countFlaw: flaw, ...counts }: Usage) => ({
  ...counts,
  cacheWrite1h,
  reasoning,
  flaw,
});

/** The tokens that the model read, cached or not; null if the provider's count was not recorded. */
export const sentSize = ({ input, cacheRead, cacheWrite, windowTokens }: Usage): number | null =>
  windowTokens !== undefined && windowTokens !== null
    ? windowTokens
    : input === null && cacheRead === null && cacheWrite === null
      ? null
      : (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0);

/** The model that wrote an entry. Histories of several agents name the agent instead. */
export const answeringModel = ({ author, marks }: ParsedEntry): string | null => (marks?.includes('agent') ? null : (author ?? null));

export interface Answer {
  /** Null if it was not recorded. */
  readonly model: string | null;
  readonly usage: Usage;
  /** When the call was made or its answer arrived; without it, the entry's own time. */
  readonly at?: Timestamp;
  /** The runtime did not record the sent content of this call. It is `rebuilt`, even if other calls of the runtime are `recorded`. */
  readonly isRebuilt?: true;
}

/** The position of a call in its chain. Deltas are read on demand. */
export interface CallPlace {
  readonly replyKey: EntryKey;
  readonly at: Timestamp;
  readonly answer: Answer;
  /** Its answer became the summary of a compaction. */
  readonly makesCompaction: boolean;
  /** The content sent to the model by the chain's rules: visible entries before the answer, with the replacements of elided results. */
  entries(): readonly ParsedEntry[];
  /** The deltas of that context as they were written, oldest first: from the last compaction or snapshot to the answer's own. */
  deltas(): readonly Delta[];
  /** The deltas before those, newest first, for content that is written once at the beginning. */
  earlier(): Iterable<Delta>;
}

/** Whether a commit is a compaction that holds the answer of the call that made it. */
export const makesCompaction = ({ type, parent }: Pick<ContextRow, 'type' | 'parent'>, { recordsCompactions }: CallReader): boolean =>
  type === 'compaction' && parent !== null && recordsCompactions === true;

/** The value of the line of an entry, as its runtime wrote it; undefined if the entry has none, or one that is no JSON. */
export const lineOf = (bytes: Uint8Array, raw: ByteRange | undefined): Json | undefined =>
  raw && parseJson(decodeText(bytes.subarray(raw.start, raw.end)));

export interface CallBody {
  readonly provider: Provider;
  /** In the provider's wire format, as it was sent. */
  readonly body: JsonObject;
  /** Parts of the request that are not recorded, by their names in the body, or in words. */
  readonly missing: readonly string[];
}
