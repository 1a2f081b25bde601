import { refOfHash } from '../artifacts/index.js';
import { type ArtifactNo, type CommitSeq, conflict, corrupt, type Json, notFound, orUndefined, present, toTimestamp } from '../base/index.js';
import {
  addCommit,
  type ContextRow,
  commitAt,
  digestCommit,
  noteGrowth,
  type ReadChain,
  readOutline,
  rememberAll,
  type WriteChain,
} from '../chain/index.js';
import { findFormat, recordOfKey } from '../formats/index.js';
import type { RowFinder, SentItem } from './rows.js';

/**
 * Stores a received commit, or updates the summary and tags of a commit that the project has. The digest is computed from parent, content, time
 * and template before anything is stored, so a commit cannot pose as another one. What else attributes a commit is fixed by its first version.
 * `isHere`: the project has its content. Returns its row number.
 * @throws NOT_FOUND if its parent or object is missing; CORRUPT if its digest does not match; CONFLICT if a fixed field differs.
 */
export function storeCommit(chain: WriteChain, places: RowFinder, { key, body }: SentItem, isHere = true): number {
  const commit = body as unknown as CommitBody;
  const here = places.numberOf('context', key);
  const tags = commit.tags === null ? [] : (JSON.parse(commit.tags) as string[]);
  if (here !== undefined) {
    requireFixed(chain, here, commit);
    chain.db.run('UPDATE commits SET summary = ?, tags = ? WHERE seq = ?', commit.summary, tags.length > 0 ? JSON.stringify(tags) : null, here);
    return here;
  }
  const parentNo = required(places, 'context', commit.parent);
  const parent = parentNo === null ? null : commitAt(chain, parentNo as CommitSeq);
  const artifact = required(places, 'artifact', commit.artifact);
  const ref = refOfHash(Buffer.from(commit.artifact, 'hex'));
  const digest = digestCommit({ parent: parent?.id ?? null, ref, createdAt: commit.createdAt, template: commit.template }).toString('hex');
  if (digest !== key) throw corrupt(key, `The received commit ${key} does not match its digest: its content, parent, time or template has changed.`);
  const { type, format, template, checkpoint, principal, machine, sessionId, ticketId, threadId, summary } = commit;
  const { messageCount, tokenCount, errors, entries } = commit;
  const row = addCommit(chain, {
    ...{ parent, type, artifact: artifact as ArtifactNo, ref, format, template, checkpoint, tags },
    ...present({ principal, machine, sessionId, ticketId, threadId, summary }),
    ...{ messageCount, tokenCount, errors, entries, forked: commit.forked === 1, createdAt: toTimestamp(commit.createdAt) },
  });
  if (isHere) {
    rememberRecords(chain, [row]);
    noteParts(chain, [row.seq]);
  }
  return row.seq;
}

/** The body of a commit that its schema has accepted. */
interface CommitBody extends Omit<ContextRow, keyof OwnRow> {
  readonly parent: string | null;
  readonly artifact: string;
  readonly entries: number;
}

/** What a row has of this project alone, and what follows from its body. */
type OwnRow = Pick<ContextRow, 'seq' | 'id' | 'parent' | 'parentId' | 'run' | 'depth' | 'artifact' | 'contextTokens' | 'digest' | 'intact' | 'hash'>;

/** What identifies or attributes a commit. The hub and its clients refuse versions that change it; summary and tags may change. */
export const fixedFields = [
  'digest',
  'parent',
  'type',
  'artifact',
  'format',
  'template',
  'principal',
  'machine',
  'sessionId',
  'checkpoint',
  'ticketId',
  'threadId',
  'messageCount',
  'tokenCount',
  'errors',
  'entries',
  'forked',
  'createdAt',
] as const;

/** Fields whose columns hold row numbers or bytes here; the digest covers them. */
const covered: ReadonlySet<string> = new Set(['digest', 'parent', 'artifact', 'createdAt', 'template']);

function requireFixed(chain: ReadChain, seq: number, commit: CommitBody): void {
  const columns = fixedFields.filter((field) => !covered.has(field));
  const row = chain.db.one<Record<string, Json>>(`SELECT id, ${columns.join(', ')} FROM commits WHERE seq = ?`, seq);
  const changed = columns.find((field) => (row?.[field] ?? null) !== (commit[field as keyof CommitBody] ?? null));
  const id = String(row?.id);
  if (changed !== undefined)
    throw conflict(`This version changes ${changed} of the commit ${id}, which is fixed. The first version stays.`, { id, field: changed });
}

/** Stores which of the agent's records the commits contain. Call it as soon as their contents are stored. */
export const rememberRecords = (chain: WriteChain, commits: readonly Pick<ContextRow, 'seq' | 'artifact' | 'format'>[]): void =>
  rememberAll(
    chain,
    commits
      .filter(({ format }) => findFormat(format))
      .map((commit) => ({ seq: commit.seq, records: new Set(readOutline(chain, commit).entries.map(({ key }) => recordOfKey(key))) })),
  );

/** Notes the commits that go on with the turn before them. That a file was imported within a turn is not sent: it follows from the contents. */
export function noteParts(chain: WriteChain, commits: readonly CommitSeq[]): void {
  for (const seq of commits) {
    const row = commitAt(chain, seq);
    // Contents before this one may be missing.
    if (!row.forked && findFormat(row.format)) orUndefined(() => noteGrowth(chain, row));
  }
}

function required(places: RowFinder, table: string, name: Json): number | null {
  if (name === null) return null;
  const no = places.numberOf(table, String(name));
  const what = table === 'artifact' ? 'the object' : 'the commit';
  if (no === undefined) throw notFound(String(name), `It needs ${what} ${String(name)}, which the hub does not hold.`);
  return no;
}
