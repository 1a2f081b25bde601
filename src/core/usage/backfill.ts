import { type ArtifactNo, type CommitSeq, type ContextId, StemmaError } from '../base/index.js';
import { type ContextRow, findCommit, lineage, type ReadChain, type WriteChain } from '../chain/index.js';
import { callsOfDelta, contentBefore } from '../requests/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import { callsOfCards } from './card-calls.js';
import { type CountedCommit, recordCalls } from './facts.js';
import { callsOfRun } from './own-calls.js';
import { priceFew, pricerOf } from './prices.js';

/** The name of the `progress` row with the last commit whose calls are stored. */
const progressName = 'usage';
/** Increase this number when the stored facts change, so that existing projects are read again. */
const readerVersion = 9;
const versionName = 'usage version';

/** The commits per transaction, and the bytes after which a transaction ends early, because other writers wait for it. */
const batch = { commits: 512, bytes: 8 * 1024 * 1024 };
/** The most earlier commits that an import reads itself. More commits wait for an idle moment or the next question. */
const fewCommits = 64;

const highest = (chain: ReadChain): number => chain.db.one<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM context')?.seq ?? 0;

const readUpTo = (chain: ReadChain): number =>
  readDerivedProgress(chain, versionName) === readerVersion ? readDerivedProgress(chain, progressName) : 0;

/** The number of commits whose calls are not stored yet, at most `limit`. SQLite would plan the statement again for each value of a bound limit. */
export const pendingCommits = (chain: ReadChain, limit = Number.MAX_SAFE_INTEGER): number =>
  chain.db.one<{ pending: number }>(
    `SELECT COUNT(*) AS pending FROM (SELECT 1 FROM context WHERE seq > ? AND +project = ? LIMIT ${limit})`,
    readUpTo(chain),
    chain.project,
  )?.pending ?? 0;

interface Row extends Pick<ContextRow, 'seq' | 'id' | 'parent' | 'sessionId' | 'template' | 'createdAt' | 'type' | 'format'> {
  readonly artifact: ArtifactNo;
  readonly size: number;
}

const selectRows = `SELECT c.seq, c.id, c.parent, c.sessionId, c.template, c.createdAt, c.type, c.format, c.artifact, (SELECT a.size FROM artifact a WHERE a.no = c.artifact) AS size
         FROM context c`;

/** The commits among these whose calls are not stored yet. */
export function pendingAmong(chain: ReadChain, commits: readonly CommitSeq[]): readonly CommitSeq[] {
  const from = readUpTo(chain);
  return commits.filter((seq) => seq > from);
}

/** The calls in commits whose calls are not stored yet, from their contents: a page shows them without waiting for all commits. */
export function unstoredCalls(chain: ReadChain, commits: readonly CommitSeq[]): ReadonlyMap<CommitSeq, CountedCommit['calls']> {
  const pending = pendingAmong(chain, commits);
  if (pending.length === 0) return new Map();
  const rows = chain.db.all<Row>(`${selectRows} WHERE c.seq IN (SELECT value FROM json_each(?)) ORDER BY c.seq`, JSON.stringify(pending));
  return new Map(rows.map((row) => [row.seq, callsIn(chain, row)] as const));
}

/**
 * Stores the calls of commits whose contents have arrived after the commits, with their prices: a question about usage may wait for just these
 * contents. Call it inside a transaction.
 */
export function countCalls(chain: WriteChain, commits: readonly CommitSeq[]): void {
  const rows = chain.db.all<Row>(`${selectRows} WHERE c.seq IN (SELECT value FROM json_each(?)) ORDER BY c.seq`, JSON.stringify(commits));
  recordCalls(
    chain,
    rows.map((row): CountedCommit => ({ row, calls: callsIn(chain, row) })),
    pricerOf(chain),
  );
  priceFew(chain);
}

/**
 * In a project that is open without a clone, reads the first commit whose content is not on this machine. The refused read makes the caller fetch it
 * with its neighbors and ask again, so usage is never counted from a part of the commits.
 */
export function requireContents(chain: ReadChain, id?: ContextId): void {
  if (!chain.artifacts.copies.expects()) return;
  const among = id === undefined ? undefined : JSON.stringify(lineage(chain, findCommit(chain, id)).map(({ seq }) => seq));
  const missing = chain.db.one<{ no: ArtifactNo }>(
    `SELECT a.no FROM context c JOIN artifact a ON a.no = c.artifact
      WHERE c.project = ? AND a.gone = 'evicted' AND (? IS NULL OR c.seq IN (SELECT value FROM json_each(?))) ORDER BY a.no LIMIT 1`,
    chain.project,
    among ?? null,
    among ?? null,
  );
  if (missing) chain.artifacts.read(missing.no);
}

/** Stores the calls of the next batch of unread commits. Returns whether more commits remain. */
export function backfillBatch(chain: WriteChain): boolean {
  return chain.db.transaction(() => {
    if (readDerivedProgress(chain, versionName) !== readerVersion) {
      chain.db.run('DELETE FROM usageCopy WHERE call IN (SELECT no FROM usageCall WHERE project = ?)', chain.project);
      for (const table of ['usageCall', 'usageQuarter', 'usageSum', 'usageTotal'])
        chain.db.run(`DELETE FROM ${table} WHERE project = ?`, chain.project);
      setDerivedProgress(chain, progressName, 0);
      setDerivedProgress(chain, versionName, readerVersion);
    }
    const rows = chain.db.all<Row>(
      `${selectRows} WHERE c.seq > ? AND +c.project = ? ORDER BY c.seq LIMIT ${batch.commits}`,
      readDerivedProgress(chain, progressName),
      chain.project,
    );
    let bytes = 0;
    const cut = rows.findIndex(({ size }) => {
      bytes += size ?? 0;
      return bytes >= batch.bytes;
    });
    const some = cut < 0 ? rows : rows.slice(0, cut + 1);
    recordCalls(
      chain,
      some.map((row): CountedCommit => ({ row, calls: callsIn(chain, row) })),
      pricerOf(chain),
    );
    setDerivedProgress(chain, progressName, some.at(-1)?.seq ?? highest(chain));
    return some.length < rows.length || rows.length === batch.commits;
  });
}

/** The format of the commits of card turns. */
const cardFormat = 'cardbox-v1';

/** The calls in a commit. A damaged or expired object has no calls. */
function callsIn(chain: ReadChain, { seq, artifact, format, type, ...row }: Row): CountedCommit['calls'] {
  if (format === cardFormat) {
    const calls = callsOfCards(chain, seq);
    if (calls) return calls;
  }
  try {
    const own = callsOfRun(chain, seq);
    if (own) return own;
    const bytes = chain.artifacts.read(artifact);
    return callsOfDelta({
      format,
      type,
      bytes: () => bytes,
      entries: () => chain.reader(format).parse(bytes).entries,
      before: contentBefore(chain, { seq, ...row }),
    });
  } catch (error) {
    if (error instanceof StemmaError && (error.code === 'CORRUPT' || error.code === 'NOT_FOUND' || error.code === 'UNAVAILABLE')) return [];
    throw error;
  }
}

/** Stores the calls of new commits inside a transaction. */
export interface CallRecorder {
  /** Takes commits, which are stored once they are many. */
  add(commits: readonly CountedCommit[]): void;
  /** Stores what was taken. Call it before the transaction ends, and before a question about calls. */
  settle(): void;
}

/** The commits that a recorder stores together. */
const recordedAtOnce = 1_000;

/**
 * Opens a recorder. Reads the calls of earlier commits first if they are few; otherwise they stay pending, and the new commits are read again with
 * them.
 */
export function openRecorder(chain: WriteChain): CallRecorder {
  const pending = pendingCommits(chain, fewCommits);
  if (pending > 0 && pending < fewCommits) backfillBatch(chain);
  const isCurrent = pending < fewCommits;
  let taken: CountedCommit[] = [];
  const settle = (): void => {
    if (taken.length === 0) return;
    recordCalls(chain, taken, pricerOf(chain));
    taken = [];
    if (!isCurrent) return;
    setDerivedProgress(chain, versionName, readerVersion);
    setDerivedProgress(chain, progressName, highest(chain));
  };
  return {
    add: (commits) => {
      taken.push(...commits);
      if (taken.length >= recordedAtOnce) settle();
    },
    settle,
  };
}
