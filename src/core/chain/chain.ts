import { type Artifacts, type Cached, type ReadArtifacts, refOfHash } from '../artifacts/index.js';
import type { ArtifactNo, CommitSeq, ContextId } from '../base/index.js';
import { type Clock, corrupt, type Recent, toTimestamp } from '../base/index.js';
import { type Checkpoint, type Commit, type CommitType, checkpoints, commitTypes, type OutputOf, type Tier } from '../contract/index.js';
import { type DeltaOutline, type Format, isFormatName, type OutlineEntry, type ParsedDelta } from '../formats/index.js';
import { matchingRow, type ReadableDb, type WritableDb } from '../store/index.js';
import { isDigestOfRow, isIdOf } from './digest.js';
import type { VerifiedRows } from './verified.js';

/** One project's tables, objects, clock and ids, for reading: a function that takes it cannot write. */
export interface ReadChain {
  readonly db: ReadableDb;
  /** The project's row number. Every query filters by it. */
  readonly project: number;
  readonly artifacts: ReadArtifacts;
  readonly clock: Clock;
  /** The name of this machine, if the process that opened the project knows it. */
  readonly machine?: string | undefined;
  /** The text of a person's file of prices, limits and budgets; undefined without one. */
  readonly usageSettings: () => string | undefined;
  /** A mark of a text that only this machine can make. */
  readonly seal: (text: string) => string;
  /** A new UUID. */
  readonly newId: () => string;
  /** The reader of a stored format (`findReader`). A command that shows only what is stored loads none. */
  readonly reader: (format: string) => Format;
  /** Recently parsed outlines and deltas, by artifact and format. */
  readonly outlines: Recent<string, DeltaOutline>;
  readonly parsed: Recent<string, ParsedDelta>;
  /** Entries of recently paged contexts, by commit and stop, so that the next page is a slice. */
  readonly placed: Recent<string, readonly EntryPlace[]>;
  /** What else is derived from the project and kept in memory (`kept`). */
  readonly derived: Recent<string, unknown>;
  /** The commits that this process has verified. Ask once for each walk. */
  readonly verified: () => VerifiedRows;
  /** Derived data that reads computed and that is not stored yet. */
  readonly offers: Offer[];
}

/**
 * Derived data that a read computed. A read cannot write, so it offers this to the writer, which stores it or drops it. An `object` or a
 * `result` whose ref goes to a caller is stored before the answer.
 */
export type Offer =
  | { readonly kind: 'outline'; readonly artifact: ArtifactNo; readonly format: string; readonly data: string }
  | ({ readonly kind: 'fact' } & NewFact)
  | { readonly kind: 'object'; readonly content: Cached | Uint8Array; readonly contentType: string }
  | ({ readonly kind: 'result' } & NewResult)
  | { readonly kind: 'proofs'; readonly findings: readonly { readonly no: number; readonly proved: boolean; readonly problem: string | undefined }[] }
  | { readonly kind: 'factors'; readonly model: string; readonly factors: Readonly<Record<string, number>>; readonly calls: number };

/** A value of a delta that is not stored yet (delta-facts.ts). */
export interface NewFact {
  readonly name: string;
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly version: number;
  readonly data: string | Uint8Array;
}

/** A materialized conversation that is not stored yet. */
export interface NewResult {
  readonly tip: CommitSeq;
  readonly stop: 'compaction' | 'root' | ContextId;
  /** The format, and the token budget if one was given. */
  readonly recipe: string;
  readonly content: Uint8Array | Cached;
  readonly contentType: string;
  readonly tier: Tier;
  readonly messageCount: number;
  readonly tokenCount: number;
  /** The losses of a result that is not native, as JSON. */
  readonly losses: string | null;
}

/** Offers that wait at most. The rest is computed again when it is needed. */
const maxOffers = 4_096;

/** Offers derived data to the writer. */
export function offer({ offers }: ReadChain, derived: Offer): void {
  if (offers.length < maxOffers) offers.push(derived);
}

/** The same project, for reading and writing. */
export interface WriteChain extends ReadChain {
  readonly db: WritableDb;
  readonly artifacts: Artifacts;
}

/** A row of the `commits` table, with the parent's id and the artifact's hash. */
export interface ContextRow {
  readonly seq: CommitSeq;
  readonly id: ContextId;
  readonly parent: CommitSeq | null;
  /** Its first-parent run: the row number in `firstParentRun`. */
  readonly run: number;
  readonly depth: number;
  readonly type: CommitType;
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly template: string;
  readonly principal: string | null;
  readonly machine: string | null;
  readonly sessionId: string | null;
  readonly checkpoint: Checkpoint;
  readonly ticketId: string | null;
  readonly threadId: string | null;
  readonly summary: string | null;
  readonly tags: string | null;
  readonly messageCount: number;
  readonly tokenCount: number;
  readonly contextTokens: number;
  readonly errors: number;
  readonly forked: number;
  readonly createdAt: number;
  readonly parentId: ContextId | null;
  readonly digest: Buffer;
  /** 1 if the row matches its checksum. */
  readonly intact: 0 | 1;
  readonly hash: Buffer;
}

/** The few columns that a walk needs, because walks are long. */
export type Step = Pick<ContextRow, 'seq' | 'id' | 'parent' | 'run' | 'depth' | 'type' | 'artifact' | 'format' | 'messageCount' | 'tokenCount'>;

/** The position of an entry in a context: its commit, and its index there. */
export interface EntryPlace {
  readonly step: Step;
  /** Index among all entries of the delta, hidden ones included. */
  readonly index: number;
  readonly outline: OutlineEntry;
  /** The text with which a later delta replaced a tool result's text. */
  readonly elided?: string;
  /** The tool of a result, from the call before it: results do not name their tool. */
  readonly tool?: string;
}

/** The last column of `selectContext`. Wider queries insert their own columns after it. */
export const hashColumn = '(SELECT a.hash FROM artifact a WHERE a.no = c.artifact) AS hash';

/** The columns of the `commits` table, in its order. Its checksum covers them. */
export const contextColumns = (
  'seq project id digest parent run depth type artifact format template principal machine sessionId checkpoint ticketId threadId summary tags ' +
  'messageCount tokenCount contextTokens errors entries forked createdAt'
).split(' ');

/**
 * The parent of a commit, for code that follows parents without checking each row. Null for a damaged row whose parent is not less deep: following it
 * might never end. Row numbers are no guide, because a repair gives restored commits later numbers.
 */
export const earlierParent = 'CASE WHEN (SELECT p.depth FROM commits p WHERE p.seq = commits.parent) < depth THEN parent END AS parent';

/** Whether the row of `c` matches its checksum. */
export const intactColumn = `${matchingRow(contextColumns, 'c')} AS intact`;

/**
 * Selects the columns of a `ContextRow`; a WHERE on `c` follows. It uses subqueries, so that a row whose parent or artifact is missing is found, too.
 */
export const selectContext = /* sql */ `
SELECT c.seq, c.id, c.parent, c.run, c.depth, c.type, c.artifact, c.format, c.template, c.principal, c.machine, c.sessionId,
       c.checkpoint, c.ticketId, c.threadId, c.summary, c.tags, c.messageCount, c.tokenCount, c.contextTokens, c.errors,
       c.forked, c.createdAt, c.digest, ${intactColumn}, (SELECT p.id FROM commits p WHERE p.seq = c.parent) AS parentId, ${hashColumn}
  FROM commits c`;

/**
 * Converts a row to the commit of the contract. If the row does not match its checksum, the commit says so and has no summary and tags.
 * @throws CORRUPT if the object is missing, or if a value that the commit's id covers has changed.
 */
export function toCommit(row: ContextRow): Commit {
  if (!row.intact) requireIdentity(row);
  if (!row.hash) throw corrupt(row.id, `Commit ${row.id} has no artifact row: the database is damaged. Run "stemma fsck" to see what is intact.`);
  return {
    id: row.id,
    parent: row.parentId,
    type: row.type,
    artifactRef: refOfHash(row.hash),
    format: row.format,
    template: row.template,
    principal: row.principal,
    machine: row.machine,
    sessionId: row.sessionId,
    ...(row.ticketId !== null && { ticketId: row.ticketId }),
    ...(row.threadId !== null && { threadId: row.threadId }),
    checkpoint: row.checkpoint,
    ...(row.intact && row.summary !== null && { summary: row.summary }),
    tags: row.intact ? tagsOf(row.tags) : [],
    ...(!row.intact && { damaged: true as const }),
    messageCount: row.messageCount,
    tokenCount: row.tokenCount,
    createdAt: toTimestamp(row.createdAt),
  };
}

type Identified = Pick<ContextRow, 'id' | 'parent' | 'parentId' | 'hash' | 'digest' | 'createdAt' | 'template' | 'type' | 'checkpoint' | 'format'>;

/**
 * Checks whether the content of a row that does not match its checksum can still be read: its id must cover its parent, content, time and
 * template, and its type and format must exist. @throws CORRUPT otherwise.
 */
export function requireIdentity(row: Identified): void {
  const { id, parent, parentId } = row;
  const isNamed = typeof id === 'string' && (parent === null) === (parentId === null) && isDigestOfRow(row, parentId) && isIdOf(id, row.digest);
  if (isNamed && isOneOf(commitTypes, row.type) && isOneOf(checkpoints, row.checkpoint) && isFormatName(row.format)) return;
  throw corrupt(
    id,
    `Commit ${id} does not match its checksum: a part of its row has changed. "stemma fsck --repair" restores it from a backup or its file.`,
  );
}

const isOneOf = (list: readonly string[], value: string): boolean => list.includes(value);

/** Tags as they are stored: a JSON array, or null for none. */
export const tagsOf = (stored: string | null): string[] => (stored === null ? [] : (JSON.parse(stored) as string[]));

export type Materialized = OutputOf<'context.materialize'>;

/** The author of a commit that Stemma makes for a person who gave no name: `user@MACHINE` (C25). */
export const personOf = ({ machine }: Pick<ReadChain, 'machine'>): string => (machine === undefined ? 'user' : `user@${machine}`);
