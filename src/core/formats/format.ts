import type { ByteRange, EntryKey, Json, Timestamp } from '../base/index.js';
import type { Checkpoint, CommitType, EntryDraft, Tier, ToolClass } from '../contract/index.js';
import type { FileBytes, Lines, Scan } from './lines.js';
import type { Elision, ParsedDelta, ParsedEntry, Problem, TokenUsage } from './parsed.js';
import type { CallCount } from './shared/calls.js';
import type { StoredOutline } from './shared/outline.js';

export type { FileBytes, Lines, Scan } from './lines.js';
export type { Elision, Mutable, ParsedDelta, ParsedEntry, Problem, TokenUsage } from './parsed.js';
export type { CallCount, CallTokens as CallCounts } from './shared/calls.js';

/** An entry to write into a delta. The writer keeps `key` if the format has a field for it. */
export type WritableEntry = EntryDraft & {
  readonly key?: EntryKey;
  readonly at?: Timestamp;
  readonly media?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly author?: string;
  readonly marks?: readonly string[];
  readonly messageId?: string;
  readonly usage?: TokenUsage;
};

/** The facts beyond text, call and result, the most important first, with their names in reports of a loss (losses.ts). */
export const factNames = {
  thinking: 'thinking',
  unsignedThinking: 'unsigned thinking',
  sealedThinking: 'encrypted thinking',
  signature: 'signature of the thinking',
  image: 'image',
  resultImage: 'image in a tool result',
  linkedImage: 'linked image',
  block: 'block of one provider only',
  error: 'error flag of a tool result',
  blank: 'answer without visible text',
  summary: 'mark as a summary',
  system: 'system role',
  event: 'note of the runtime',
  serverTool: 'call of a tool of the provider',
  injected: 'mark as added by the runtime',
  resultData: 'structured data of a tool result',
  model: 'name of the model',
  author: 'name of the author',
  time: 'time',
} as const;
export type Fact = keyof typeof factNames;
/** All facts. A format without a field for one of them reports its loss. */
export const facts = Object.keys(factNames) as readonly Fact[];

/** All facts except those that a format has no field for. */
export const factsWithout = (...missing: readonly Fact[]): readonly Fact[] => facts.filter((fact) => !missing.includes(fact));

/** An older version of a format. Stored deltas keep their bytes and are mapped field by field when they are read or materialized. */
export interface OlderVersion {
  readonly id: string;
  /** Converts the delta to the newer version. A delta that already has the newer version is returned unchanged. */
  upgrade(delta: Uint8Array): Uint8Array;
  concat(deltas: readonly Uint8Array[]): Uint8Array;
}

/** For each seal by its field name: the fields that it seals, and the value of a broken seal. */
export type Seals = Readonly<Record<string, { readonly of: readonly string[]; readonly broken: string | null }>>;

export type ToolClasses = Readonly<Record<string, ToolClass>>;

/** The tools of an agent from lists of their names. */
export const byClass = (names: Partial<Readonly<Record<ToolClass, readonly string[]>>>): ToolClasses =>
  Object.fromEntries(Object.entries(names).flatMap(([sort, some]) => some.map((name) => [name, sort as ToolClass])));

/** The description of a format for people who choose one. */
export interface AboutFormat {
  readonly name: string;
  /** A sentence that says what the format is good for. */
  readonly what: string;
  /** The extension of file names, without the dot. */
  readonly extension: string;
}

/** One stored form of a conversation. Pure: values in, values out. The registry (index.ts) lists all formats. */
export interface Format {
  readonly id: string;
  readonly contentType: string;
  readonly about: AboutFormat;
  /** The form of a conversation from another format when it is written in this format: turns, or an account of the turns. */
  readonly tier: 'translated' | 'rendered';
  /** The facts that the format holds beside texts, calls and results. test/core/formats/roundtrip.test.ts proves the list. */
  readonly holds: readonly Fact[];
  /** The tools of the format's agent. Absent for a format that can contain the calls of any agent. */
  readonly tools?: ToolClasses;
  readonly older?: readonly OlderVersion[];
  /** From 0 (another format) to 1 (certain), by the first bytes of a file and its name. */
  recognize(head: Uint8Array, path: string): number;
  /** The entries of one delta. Never throws for the content of the bytes; `problems` names what it cannot read. */
  parse(delta: Uint8Array): ParsedDelta;
  /** The calls whose replies the delta contains, with recorded counts. Never throws. Absent if `requests/runtimes` reads them. */
  calls?(delta: Uint8Array): readonly CallCount[];
  write(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array;
  /** Fields that a provider computed from other fields, such as a signature that fits only one thinking. */
  readonly seals?: Seals;
  /** Writes the same text in parts, for documents, so that a long conversation is never completely in memory. */
  writeParts?(entries: Iterable<WritableEntry>): Iterable<string>;
  /** Joins deltas, in order. */
  concat(deltas: readonly Uint8Array[]): Uint8Array;
  /** Joins deltas a part at a time, for formats in which deltas are simply appended. Each delta comes as its parts. */
  concatParts?(deltas: Iterable<Iterable<Uint8Array>>): Iterable<Uint8Array>;
  /** The part of a delta up to and including the entry, as a delta, for a fork inside the delta. */
  cut(delta: Uint8Array, lastKept: EntryKey): Uint8Array;
  /** A model's API reads it. It refuses calls without results, results without calls, empty texts and halves of characters. */
  readonly isRequest?: true;
  /** Closes the open calls of a whole conversation, in formats whose readers refuse them. */
  close?(conversation: Uint8Array): Uint8Array;
  /** A file that the format's agent can resume, from the joined deltas of one context. Absent if no agent can resume it. */
  session?(delta: Uint8Array, options: SessionOptions): Uint8Array;
  /** The file of another program, from the joined deltas of one context, for programs whose files are archives or documents. */
  pack?(delta: Uint8Array, options: SessionOptions): Uint8Array;
  /** True if the session contains the model calls, so that the options `system`, `tools` and `calls` are needed. */
  readonly namesCalls?: true;
  /** The same for an agent whose sessions are databases: the content of a new database. */
  sessionTables?(delta: Uint8Array, options: SessionOptions): DatabaseContent;
}

/** The tables and rows of a small database to create. */
export interface DatabaseContent {
  /** One SQL statement each. */
  readonly tables: readonly string[];
  readonly rows: readonly { readonly table: string; readonly values: Readonly<Record<string, string | Uint8Array | null>> }[];
}

export interface SessionOptions {
  readonly sessionId: string;
  readonly newId: () => string;
  readonly now: Timestamp;
  /** The folder in which the session will be resumed. */
  readonly cwd?: string;
  /** True if the deltas are an imported file, byte for byte. A format whose agent accepts this file leaves it unchanged. */
  readonly isUnchanged?: boolean;
  /** The system prompt and the tools of the last call, if known, for formats that contain them. */
  readonly system?: string;
  readonly tools?: readonly Json[];
  /** The usage of calls by the first entry of their replies, for formats that contain it. */
  readonly calls?: ReadonlyMap<string, TokenUsage>;
}

/** Facts for a list of sessions, read from both ends of a file. */
export interface Peek {
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly title?: string;
  readonly firstPrompt?: string;
  readonly startedAt?: Timestamp;
}

/** Facts for a writer that the entries do not contain. */
export interface WriteOptions {
  readonly newId: () => string;
  readonly now: Timestamp;
  readonly sessionId?: string;
  readonly cwd?: string;
  /** The parent of the first written record, in formats that link records. */
  readonly parentRecord?: string;
  /** True for content of a commit: a call without a result stays open. Without it, the format closes open calls as its runtime does. */
  readonly keepsOpen?: boolean;
  /** The largest size of an account, in tokens. Formats that hold turns ignore it. */
  readonly maxTokens?: number;
}

export interface StoredRecord {
  readonly record: string;
  /** For a record without entries: the last record before it with entries, or null. It may follow a prompt that was taken back later. */
  readonly last?: string | null;
}

/** One commit of an import plan. Its delta is `ranges` of the file, in file order, followed by `kept`. */
export interface PlannedCommit {
  /** The parent: a commit of this plan by number, a stored commit by one of its records, or none. */
  readonly parent: { readonly plan: number } | StoredRecord | null;
  readonly type: CommitType;
  readonly checkpoint: Checkpoint;
  readonly ranges: readonly ByteRange[];
  /** Ranges that the delta repeats after its own, in this order: earlier messages that a compaction keeps, which the model saw again. */
  readonly kept?: readonly ByteRange[];
  readonly template: string;
  readonly principal?: string;
  readonly sessionId?: string;
  readonly summary?: string;
  readonly createdAt?: Timestamp;
  /** The records (uuids) in the delta, in order. Later imports find the commit by them. */
  readonly records: readonly string[];
  /** For the first commit of a subagent: the tool call that started it, or the subagent's session, by which the call is found later. */
  readonly startedBy?: { readonly toolCallId: string } | { readonly sessionId: string };
  /** The entries of the delta. A planner can use a getter that reads them from the file on demand. */
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
  /** The outline of the delta, if the planner made it while reading the file. */
  readonly outline?: StoredOutline;
}

/** The plan by which a file becomes commits and side data. Every byte of the file is in exactly one of them. */
export interface ImportPlan {
  readonly format: string;
  readonly sessionId?: string;
  readonly title?: string;
  readonly cwd?: string;
  /** The machine on which the agent ran, if the file names it. */
  readonly machine?: string;
  /** Parents come before children. */
  readonly commits: readonly PlannedCommit[];
  /** Ranges of the file that are in no delta: request records, repeated prefixes, torn lines. */
  readonly side: readonly ByteRange[];
  /** Records that could not be read, with the reason. */
  readonly skipped: readonly Problem[];
  /** Records that were read with an assumption that a person should know about. */
  readonly notes: readonly Problem[];
  /** The commits at the ends of branches, by number in the plan. The agent would resume the last one. */
  readonly tips: readonly ({ readonly plan: number } | StoredRecord)[];
  /** Where the next import of the grown file starts. Bytes from here on (half a last line) are side data until then. */
  readonly end: number;
  /** A part of the name of the file that this file continues, if the project does not contain that file yet. */
  readonly awaits?: string;
}

/** The questions that a planner may ask the store. Keeps the planner pure. */
export interface KnownRecords {
  /** Whether a commit of the project contains the record, from this or another file. */
  has(record: string): boolean;
}

export type ColumnValue = string | number | bigint | Uint8Array | null;

/** Another program's database: whole tables and named columns, in no promised order (store/foreign.ts). */
export interface DatabaseRows {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** The rows in which each column of `where` has the given value. */
  each(table: string, columns: readonly string[], where?: Readonly<Record<string, string>>): Iterable<Readonly<Record<string, ColumnValue>>>;
}

/** One conversation of a database or a document: a source `FILE#id`, as lines, so that growth adds only commits and exports are exact. */
export interface Member {
  readonly id: string;
  readonly lines: () => Lines;
  /** For a conversation that can grow while it is read: a cheap value that changes with every addition. */
  readonly stamp?: string;
  /** The number of complete turns, if the lines do not contain it; otherwise undefined. */
  readonly over?: (granularity: PlanContext['granularity']) => Over | undefined;
  readonly title?: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt?: number;
}

export interface Over {
  /** The record that ends the last complete turn; undefined if no turn is complete. */
  readonly last: string | undefined;
  /** True if a turn is in progress after this record. */
  readonly open: boolean;
  readonly lines: () => Lines;
}

export interface ContainerReader {
  /** True if the container itself is also stored as a source; otherwise the reason why its bytes are not stored. */
  readonly keeps: true | { readonly not: string };
}

export interface DatabaseReader extends ContainerReader {
  /** Whether a file is worth opening, by its name and first bytes, because other programs' databases lie in the same folders. */
  mayBe(name: string, head: Uint8Array): boolean;
  recognize(tables: DatabaseRows['tables']): boolean;
  /** Tables of the program that refer to conversations and hold none, so that they need not be read. */
  readonly aside?: readonly string[];
  /** Whether a database of that name is followed while its agent writes to it. */
  isFollowed?(name: string): boolean;
  /** The conversations by id, without reading them. Never throws: unreadable values appear in the lines unchanged. */
  members(rows: DatabaseRows): Iterable<Member>;
}

export interface DocumentReader extends ContainerReader {
  /** File extensions to look at when a folder is searched. Usual transcript extensions need not be listed. */
  readonly endings?: readonly string[];
  /** Whether a file that begins with these bytes can be such a document. Most documents need no path. */
  recognize(head: Uint8Array, path?: string): boolean;
  /** The documents that are read together: the main one and others next to it, some perhaps missing. Undefined if it is read alone. */
  together?(path: string): { readonly main: string; readonly others: readonly string[] } | undefined;
  /** The conversations in a document; undefined if the document has another format. `beside` has the documents that are read with it, by path. */
  members(document: Uint8Array, path?: string, beside?: ReadonlyMap<string, Uint8Array>): readonly Member[] | undefined;
  /** The parts of the document that are in none of its records: lines that are not JSON, or that the format does not define. */
  unread?(document: Uint8Array): readonly Problem[];
  /** The same for a document too large for memory: its records are read on demand while the file is open. @throws ShellTooLarge */
  membersInFile?(document: FileBytes): readonly Member[] | undefined;
}

export interface ImportableFormat extends Format {
  /** Plans the import of one whole file. Records that `known` has are side data: a repeated prefix, or stored by an earlier import. */
  plan(file: Uint8Array, context: PlanContext): ImportPlan;
  /** Reads the first and the last bytes of a file; they may overlap. Records cut in two are skipped. */
  peek(head: Uint8Array, tail: Uint8Array): Peek;
  /** Plans a large file in parts. It keeps only the facts that the plan needs and reads `entries` on demand. */
  planParts?(file: FileBytes, context: PlanContext): ImportPlan;
  readonly database?: DatabaseReader;
  readonly exports?: DocumentReader;
  /** The progress of a file that an agent is writing, from the bytes after the last import. Without it, an idle file is imported whole. */
  progress?(fresh: FileBytes, granularity: PlanContext['granularity']): Progress;
}

/** Positions in the bytes after the last import, which start at 0. */
export interface Progress {
  readonly settled: number;
  /** The end of a turn that is probably complete, although the agent does not mark it. It counts as complete if nothing follows for a moment. */
  readonly resting: number;
  /** True if a turn is in progress or probably complete after `settled`. Otherwise, only bookkeeping follows. */
  readonly open: boolean;
  /** True if the agent has left the session. */
  readonly ended: boolean;
}

/** Where commits end besides turns and compactions: after results of calls (`tool_call`), before them (`assistant_message`), or both (`part`). */
export type Granularity = 'turn_boundary' | 'tool_call' | 'assistant_message' | 'part';

/** Whether commits also end before the results of calls. */
export const endsBeforeResults = (granularity: Granularity): boolean => granularity === 'assistant_message' || granularity === 'part';

/** Whether commits also end after the results of calls. */
export const endsAfterResults = (granularity: Granularity): boolean => granularity === 'tool_call' || granularity === 'part';

export interface PlanContext {
  readonly path: string;
  /** The scan of the file, if the writer of its lines knows it. */
  readonly scan?: Scan;
  readonly known: KnownRecords;
  /** The end of the part that an earlier import stored. */
  readonly resumeAt: number;
  readonly granularity: Granularity;
  /** Facts from an earlier import: the working folder and the number of branches. */
  readonly before?: { readonly cwd?: string; readonly tips: number };
  /** The parsed metadata file next to a subagent's file, if it exists. */
  readonly meta?: unknown;
}

export type { Tier };
