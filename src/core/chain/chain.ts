import { type Artifacts, refOfHash } from '../artifacts/index.js';
import type { ArtifactNo, ArtifactRef, CommitSeq, ContextId, Timestamp } from '../base/index.js';
import { type Clock, corrupt, type Recent, timestampOf } from '../base/index.js';
import type { Checkpoint, Commit, CommitType, Tier } from '../contract/index.js';
import type { Losses, Outline, OutlineEntry, ParsedDelta } from '../formats/index.js';
import type { WritableDb } from '../store/index.js';

/** What every chain function works on: one project's tables and objects, its time, and its ids. */
export interface Chain {
  readonly db: WritableDb;
  /** The project's number: every query is bound to it. */
  readonly project: number;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
  /** A new UUID. */
  readonly newId: () => string;
  /** What was parsed lately, by artifact and format. */
  readonly outlines: Recent<string, Outline>;
  readonly parsed: Recent<string, ParsedDelta>;
  /** What contexts hold that were read in pages lately, by commit and stop: the next page is a range of it. */
  readonly placed: Recent<string, Placed>;
}

/** A commit as its row: what walks, counts and joins need. */
export interface ContextRow {
  readonly seq: CommitSeq;
  readonly id: ContextId;
  readonly parent: CommitSeq | null;
  readonly line: number;
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
  readonly hash: Buffer;
}

/** A commit as a walk needs it: few columns, because walks are long. */
export type Step = Pick<ContextRow, 'seq' | 'id' | 'parent' | 'line' | 'depth' | 'type' | 'artifact' | 'format' | 'messageCount' | 'tokenCount'>;

/** An entry of a context by its place: in which commit, and there the how-manieth. */
export interface Place {
  readonly step: Step;
  /** The entry's number among all entries of the delta, hidden ones included. */
  readonly index: number;
  readonly outline: OutlineEntry;
  /** What a later delta put in place of a tool result's text. */
  readonly elided?: string;
}

/** Every entry of a context, in order, without content. */
export interface Placed {
  readonly places: readonly Place[];
  /** By the ids of their calls: results do not say which tool they are of. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/** The last column, by which a wider query adds its own after it. */
export const hashColumn = '(SELECT a.hash FROM artifact a WHERE a.no = c.artifact) AS hash';

/**
 * The columns of a `ContextRow`, to stand before a WHERE on `c`. By subqueries: SQLite plans a join
 * with a bound key anew each time it is asked, and better-sqlite3 makes a new row function for that, which costs more than the read.
 */
export const selectContext = /* sql */ `
SELECT c.seq, c.id, c.parent, c.line, c.depth, c.type, c.artifact, c.format, c.template, c.principal, c.machine, c.sessionId,
       c.checkpoint, c.ticketId, c.threadId, c.summary, c.tags, c.messageCount, c.tokenCount, c.contextTokens, c.errors,
       c.forked, c.createdAt, (SELECT p.id FROM context p WHERE p.seq = c.parent) AS parentId, ${hashColumn}
  FROM context c`;

export function toCommit(row: ContextRow): Commit {
  if (!row.hash) throw corrupt(row.id, `what ${row.id} holds is not told any more: the database is damaged; run "stemma fsck" to see what is sound`);
  return {
    id: row.id,
    parent: row.parentId,
    type: row.type,
    artifactRef: refOfHash(row.hash),
    format: row.format,
    template: row.template,
    ...(row.principal !== null && { principal: row.principal }),
    ...(row.machine !== null && { machine: row.machine }),
    ...(row.sessionId !== null && { sessionId: row.sessionId }),
    ...(row.ticketId !== null && { ticketId: row.ticketId }),
    ...(row.threadId !== null && { threadId: row.threadId }),
    checkpoint: row.checkpoint,
    ...(row.summary !== null && { summary: row.summary }),
    tags: tagsOf(row.tags),
    messageCount: row.messageCount,
    tokenCount: row.tokenCount,
    createdAt: timestampOf(row.createdAt),
  };
}

export const tagsOf = (stored: string | null): string[] => (stored === null ? [] : (JSON.parse(stored) as string[]));

export interface Materialized {
  readonly artifactRef: ArtifactRef;
  readonly format: string;
  readonly contentType: string;
  readonly tier: Tier;
  readonly messageCount: number;
  readonly tokenCount: number;
  readonly cached: boolean;
  readonly commits: readonly ContextId[];
  /** What the format could not take along: the first of it by entry, and how much of each in all. */
  readonly losses: Losses['losses'];
  readonly lossCounts: Losses['lossCounts'];
  /** Of a raw result: what is known of its format. */
  readonly description?: string;
}

export interface Resolved {
  readonly id: ContextId | null;
  readonly at: Timestamp | null;
}
