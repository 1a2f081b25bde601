import type { ByteRange, EntryKey, Timestamp } from '../base/index.js';
import type { Checkpoint, CommitType, EntryDraft, Kind, Role, Tier } from '../contract/index.js';
import type { Scan } from './jsonl.js';
import type { Outlined } from './outline.js';

/**
 * An entry as a format reads it from one delta: neutral, but with no place in a chain yet. `media` holds the decoded
 * bytes; whoever stores entries turns them into artifacts.
 */
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
  /** Where in the delta the entry's record stands. */
  readonly raw?: ByteRange;
  /**
   * `meta`: put in by the runtime, not typed. `hidden`: never sent to the model; it is not part of what the model saw.
   * `signed`: thinking with a signature. `redacted`: thinking that only the provider can read. `queued`, `command`, …
   */
  readonly marks?: readonly string[];
  /** The runtime's message that the entry is a part of: entries with one id were one message on the wire. */
  readonly messageId?: string;
}

/** What a delta does to entries before it in the chain: a microcompaction blanks old tool results. */
export interface Elision {
  readonly toolCallIds: readonly string[];
  readonly text: string;
}

export interface Problem {
  /** The number of the line or record in the delta, from 1; 0 where it is not one record's. */
  readonly line: number;
  readonly reason: string;
}

/** While it is made: what only some have is set where they have it, because a spread of a condition costs more than all the rest. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface ParsedDelta {
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
  readonly problems: readonly Problem[];
}

/** An entry that a writer puts into a delta; `key` is kept where the format can carry it. */
export type WritableEntry = EntryDraft & {
  readonly key?: EntryKey;
  readonly at?: Timestamp;
  readonly media?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly author?: string;
  readonly marks?: readonly string[];
  readonly messageId?: string;
};

/**
 * What an entry may say beside its text, its call and its result. A format that has no place for one of these loses it, and each loss is
 * reported (losses.ts). Most telling first: reports begin with what is missed most.
 */
export const facts = [
  'thinking',
  'unsignedThinking',
  'sealedThinking',
  'signature',
  'image',
  'resultImage',
  'linkedImage',
  'block',
  'error',
  'blank',
  'summary',
  'system',
  'event',
  'serverTool',
  'injected',
  'resultData',
  'model',
  'author',
  'time',
] as const;
export type Fact = (typeof facts)[number];

/** An older version of a format: stored deltas keep their bytes, and are mapped field by field when they are read or materialized. */
export interface OlderVersion {
  readonly id: string;
  /** The delta in the newer version; one that is in the newer version already comes back as it is. */
  upgrade(delta: Uint8Array): Uint8Array;
  concat(deltas: readonly Uint8Array[]): Uint8Array;
}

/** By the seal's name: which member, beside it or around it, is sealed, and what stands for a seal that is broken. */
export type Seals = Readonly<Record<string, { readonly of: readonly string[]; readonly broken: string | null }>>;

/** What a person who chooses among formats is told of one. */
export interface AboutFormat {
  readonly name: string;
  /** What it is good for, as a sentence. */
  readonly what: string;
  /** How names of its files end, without the dot. */
  readonly extension: string;
}

/** One stored form of a conversation: pure, values in and values out. The registry lists them all. */
export interface Format {
  readonly id: string;
  readonly contentType: string;
  readonly about: AboutFormat;
  /** What a conversation of another format becomes when it is written in this one: turns again, or an account of them. */
  readonly tier: 'translated' | 'rendered';
  /** What it has a place for; texts, calls and results all formats have. Tests hold it to its word (test/core/formats/losses.test.ts). */
  readonly holds: readonly Fact[];
  /** What it was before, and how that becomes this. */
  readonly older?: readonly OlderVersion[];
  /** 0 (not mine) to 1 (certain), from the beginning of a file and its name. */
  recognize(head: Uint8Array, path: string): number;
  /** Entries of one delta. Never throws for what the bytes hold: what it cannot read stands in `problems`. */
  parse(delta: Uint8Array): ParsedDelta;
  /** A delta of this format that holds the entries. */
  write(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array;
  /** Members of its lines that a provider made of others beside them, by name: a signature fits one thinking and no other. */
  readonly seals?: Seals;
  /** The same text a part at a time, for documents: a long conversation is never held whole. */
  writeParts?(entries: Iterable<WritableEntry>): Iterable<string>;
  /** One delta out of several, in order, by the format's own rule. */
  concat(deltas: readonly Uint8Array[]): Uint8Array;
  /**
   * The same bytes a part at a time, for formats in which one delta is appended to the other: a long conversation is never held whole.
   * Each delta comes as its parts.
   */
  concatParts?(deltas: Iterable<Iterable<Uint8Array>>): Iterable<Uint8Array>;
  /** The part of a delta up to and including the entry, as a delta: for a fork in its middle. */
  cut(delta: Uint8Array, lastKept: EntryKey): Uint8Array;
  /** A file that the format's agent resumes, out of the deltas of one context set one after the other. Absent where no agent does. */
  session?(delta: Uint8Array, options: SessionOptions): Uint8Array;
  /** The same for a runtime whose sessions are databases: the content of one of its own. */
  sessionTables?(delta: Uint8Array, options: SessionOptions): DatabaseContent;
}

/** A small database to be made: its tables, and what stands in them. */
export interface DatabaseContent {
  /** In SQL, one statement each. */
  readonly tables: readonly string[];
  readonly rows: readonly { readonly table: string; readonly values: Readonly<Record<string, string | Uint8Array | null>> }[];
}

/** What a session file says of itself. */
export interface SessionOptions {
  /** The id of the new session. */
  readonly sessionId: string;
  readonly newId: () => string;
  readonly now: Timestamp;
  /** The folder in which it will be resumed. */
  readonly cwd?: string;
  /** A name for the session, where the records bring none. */
  readonly title?: string;
  /** The deltas are a file that was imported, byte for byte: a format whose agent takes it as it is leaves it so. */
  readonly isUnchanged?: boolean;
}

/** What a list of sessions shows, read from both ends of a file. */
export interface Peek {
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly title?: string;
  readonly firstPrompt?: string;
  readonly startedAt?: Timestamp;
}

/** What a writer cannot take from the entries themselves. */
export interface WriteOptions {
  /** New unique ids, as UUIDs: the caller's source of randomness, or of none. */
  readonly newId: () => string;
  readonly now: Timestamp;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly model?: string;
  /** The record that the first written one goes on from, in formats that link records. */
  readonly parentRecord?: string;
  /** The most that an account may take, in tokens; formats that hold turns hold them all. */
  readonly maxTokens?: number;
}

/** One commit that an import wants: `ranges` of the file, in file order, and then `kept` are its delta. */
export interface PlannedCommit {
  /** The commit before it: one of the plan by number, one of the store by a record that it holds, or none. */
  readonly parent: { readonly plan: number } | { readonly record: string } | null;
  readonly type: CommitType;
  readonly checkpoint: Checkpoint;
  readonly ranges: readonly ByteRange[];
  /**
   * Ranges that the delta repeats after its own, in this order: what a compaction keeps beside its summary. These bytes belong to
   * the commits before it, and stand here for what the model saw.
   */
  readonly kept?: readonly ByteRange[];
  readonly template: string;
  readonly principal?: string;
  readonly sessionId?: string;
  readonly summary?: string;
  readonly createdAt?: Timestamp;
  /** Records (uuids) that stand in the delta, in order: by these, later files find the commit. */
  readonly records: readonly string[];
  /** The tool call that started this chain, for a subagent's first commit; or its own session, which the call will be found to have started. */
  readonly startedBy?: { readonly toolCallId: string } | { readonly sessionId: string };
  /**
   * What the delta holds. A planner may read it from the file only when it is asked for (a getter): who stores commits asks for one
   * commit at a time, and keeps none.
   */
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
  /** What is kept of these beside the bytes, from a planner that has made it in its one reading of the file. */
  readonly outline?: Outlined;
}

/** How one file becomes commits and side data: every byte of it is in exactly one of them. */
export interface ImportPlan {
  readonly format: string;
  readonly sessionId?: string;
  readonly title?: string;
  readonly cwd?: string;
  /** Parents before children. */
  readonly commits: readonly PlannedCommit[];
  /** Ranges of the file that are in no delta: request records, repeated prefixes, torn lines. */
  readonly side: readonly ByteRange[];
  /** What could not be read, and why. */
  readonly skipped: readonly Problem[];
  /** What was read in a way that a person should know of. */
  readonly notes: readonly Problem[];
  /** The commits at which branches end, by number in the plan; the last is the one that the agent would resume. */
  readonly tips: readonly ({ readonly plan: number } | { readonly record: string })[];
  /**
   * Where the import of a longer state of this file resumes: bytes from here on (half a last line) stand in `side` only
   * until then.
   */
  readonly end: number;
  /** A part of the name of a file that this one goes on from, where the project does not have it yet. */
  readonly awaits?: string;
}

/** What a planner may ask of the store: is this record known, and as what. Keeps the planner pure. */
export interface KnownRecords {
  /** True where a commit of the project already holds the record, from this file or another. */
  has(record: string): boolean;
}

/** The bytes of a file, a part at a time: a file need not fit into memory. A Uint8Array is one. */
export interface FileBytes {
  readonly length: number;
  /** Good until it is called again, and not to be changed: what is kept of it is copied. */
  subarray(start: number, end: number): Uint8Array;
}

export type ColumnValue = string | number | bigint | Uint8Array | null;

/** Another program's database, as its rows: only whole tables and named columns, in no promised order (store/foreign.ts). */
export interface DatabaseRows {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** Rows in which each column of `where` has that value. */
  each(table: string, columns: readonly string[], where?: Readonly<Record<string, string>>): Iterable<Readonly<Record<string, ColumnValue>>>;
}

/**
 * One conversation out of a file that holds several, or holds one in a form that no part of the file could be a delta of. It is imported
 * as a file of its own, `FILE#id`, in the form of lines that the format plans: so a grown conversation adds what is new, and each is a
 * source that comes back byte for byte.
 */
export interface Member {
  readonly id: string;
  /** The conversation in the format's lines. */
  readonly lines: () => Lines;
  /** Of one that may be written to while it is read: another whenever something came, and cheap to say. */
  readonly stamp?: string;
  /** How far its turns are over, without reading all of it. */
  readonly over?: (granularity: PlanContext['granularity']) => Over;
  readonly title?: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt?: number;
}

/** Lines of a format, and what stands in them where that is known already: then nobody needs to read them again. */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly scan?: Scan;
}

/** A conversation as far as its turns are over. */
export interface Over {
  /** What the last of them ends with; undefined where none is over. */
  readonly last: string | undefined;
  /** A turn goes on behind it. */
  readonly open: boolean;
  readonly lines: () => Lines;
}

export interface ContainerReader {
  /** Whether the file itself is a source beside its conversations; if not, why its bytes may not be kept. */
  readonly keeps: true | { readonly not: string };
}

export interface DatabaseReader extends ContainerReader {
  /** Whether a file of a folder is worth a look, by its name and its first bytes: other programs' databases lie there too. */
  mayBe(name: string, head: Uint8Array): boolean;
  recognize(tables: DatabaseRows['tables']): boolean;
  /** Whether a database of that name is followed while its agent writes to it. */
  isFollowed?(name: string): boolean;
  /** Members by id, without reading them. Never throws for what the rows hold: what cannot be read stands in the lines as it is. */
  members(rows: DatabaseRows): Iterable<Member>;
}

export interface DocumentReader extends ContainerReader {
  /** How files of its kind end, where a folder is walked that has others, too; the usual endings of transcripts need not be named. */
  readonly endings?: readonly string[];
  /** Whether a file that begins so may be such a document. */
  recognize(head: Uint8Array): boolean;
  /** The conversations in a document; undefined where it is none of this format. */
  members(document: Uint8Array): readonly Member[] | undefined;
}

/** A format whose files Stemma can import. */
export interface ImportableFormat extends Format {
  /**
   * Plans the import of one whole file. `known` tells which records the project already holds; their lines are side
   * data (a repeated prefix) or belong to `earlier`, the ranges of this very file that an earlier import stored.
   */
  plan(file: Uint8Array, context: PlanContext): ImportPlan;
  /** Looks at the first and the last bytes of a file (they may overlap); what is cut in two is passed over. */
  peek(head: Uint8Array, tail: Uint8Array): Peek;
  /**
   * The same plan of a file that is read a part at a time and never held whole, for formats whose files grow large: it keeps of each
   * record what the plan is made of, and reads `entries` when they are asked for. Files of a format without it are read whole.
   */
  planParts?(file: FileBytes, context: PlanContext): ImportPlan;
  /** How conversations are read out of the runtime's database. */
  readonly database?: DatabaseReader;
  /** How they are read out of a document that the runtime writes for others. */
  readonly exports?: DocumentReader;
  /**
   * How far a file has come whose agent is still at work, from the bytes behind what was taken in before. Absent: whatever is there
   * is taken in as soon as the file has been quiet for a moment.
   */
  progress?(fresh: Uint8Array, granularity: PlanContext['granularity']): Progress;
}

/** Places in the bytes behind what was taken in before: 0 is their beginning. */
export interface Progress {
  /** Where the last turn ends that is over. */
  readonly settled: number;
  /** Where a turn ends that looks over, though its agent does not say so: it is, where nothing follows for a moment. */
  readonly resting: number;
  /** A turn goes on behind `settled`, or looks over; what stands there otherwise is bookkeeping. */
  readonly open: boolean;
  /** The agent has left the session. */
  readonly ended: boolean;
}

export interface PlanContext {
  readonly path: string;
  /** What stands in the file, where whoever wrote its lines knows it. */
  readonly scan?: Scan;
  readonly known: KnownRecords;
  /** Ends of what an earlier import of a shorter state of this file took in: bytes before it are stored already. */
  readonly resumeAt: number;
  readonly granularity: 'turn_boundary' | 'tool_call';
  /** What an earlier import of a shorter state found: where the session works, and how many branches the file has. */
  readonly before?: { readonly cwd?: string; readonly tips: number };
  /** The text beside a subagent's file that names its call, where there is one. */
  readonly meta?: unknown;
}

export type { Tier };
