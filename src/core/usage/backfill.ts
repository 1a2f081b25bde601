import { type ArtifactNo, type CommitSeq, type ContextId, contentGone, orUndefined, toTimestamp } from '../base/index.js';
import {
  type ContextRow,
  commitAt,
  contextEntries,
  findCommit,
  holderOf,
  lineage,
  type ReadChain,
  readOutline,
  type WriteChain,
} from '../chain/index.js';
import { type CallCount, doesOf, type ParsedEntry, partOfEntries, recordOfKey } from '../formats/index.js';
import { callsOfDelta, contentBefore, type OwnCall, ownId } from '../requests/index.js';
import { changedSql, commitProgress, upToBytes } from '../store/index.js';
import { callsOfCards } from './card-calls.js';
import { type CountedCommit, noteChangedCalls, recordCalls } from './facts.js';
import { priceFew, pricerOf } from './prices.js';

/** Increase this number when the stored facts change, so that existing projects are read again. */
const readerVersion = 9;
/** The commits whose calls are stored. */
const progress = commitProgress('usage', readerVersion);

/** The commits per transaction, and the bytes after which a transaction ends early. */
const batch = { commits: 512, bytes: 8 * 1024 * 1024 };
/** The most earlier commits that an import reads itself. More commits wait for an idle moment or the next question. */
const fewCommits = 64;

/** The number of commits whose calls are not stored yet, at most `limit`. */
export const pendingCommits: (chain: ReadChain, limit?: number) => number = progress.pending;

interface Row extends Pick<ContextRow, 'seq' | 'id' | 'parent' | 'sessionId' | 'template' | 'createdAt' | 'type' | 'format'> {
  readonly artifact: ArtifactNo;
  readonly size: number;
}

const selectRows = `SELECT c.seq, c.id, c.parent, c.sessionId, c.template, c.createdAt, c.type, c.format, c.artifact, (SELECT a.size FROM artifact a WHERE a.no = c.artifact) AS size
         FROM commits c`;

const rowsOf = ({ db }: ReadChain, commits: readonly CommitSeq[]): Row[] =>
  db.all<Row>(`${selectRows} WHERE c.seq IN (SELECT value FROM json_each(?)) ORDER BY c.seq`, JSON.stringify(commits));

/** The commits among these whose calls are not stored yet. */
export function pendingAmong(chain: ReadChain, commits: readonly CommitSeq[]): readonly CommitSeq[] {
  const from = progress.last(chain);
  return commits.filter((seq) => seq > from);
}

/** The calls in commits whose calls are not stored yet, from their contents: a page shows them without waiting for all commits. */
export function unstoredCalls(chain: ReadChain, commits: readonly CommitSeq[]): ReadonlyMap<CommitSeq, CountedCommit['calls']> {
  const pending = pendingAmong(chain, commits);
  return new Map((pending.length === 0 ? [] : rowsOf(chain, pending)).map((row) => [row.seq, callsIn(chain, row)] as const));
}

/** Stores the calls of commits, with their prices if the list of prices is loaded. */
function store(chain: WriteChain, rows: readonly Row[]): void {
  const deleted = deletedBranches(chain);
  const counted = rows.map((row): CountedCommit => {
    const calls = callsIn(chain, row);
    const isAgain = calls.length > 0 && deleted.has(row.seq) && isStoredAgain(chain, row);
    return { row, calls: isAgain ? calls.filter((call) => isLeft(chain, call)) : calls };
  });
  recordCalls(chain, counted, pricerOf(chain));
}

/** The commits of deleted branches that are no forks. */
const deletedBranches = ({ db, project }: ReadChain): ReadonlySet<CommitSeq> =>
  new Set(
    db.column<CommitSeq>(
      `WITH RECURSIVE below(seq, forked) AS (
         SELECT c.seq, c.forked FROM branchMark m JOIN commits c ON c.seq = m.context WHERE m.project = ? AND m.deletedAt IS NOT NULL
         UNION SELECT c.seq, c.forked FROM commits c JOIN below ON c.parent = below.seq)
       SELECT seq FROM below WHERE forked = 0`,
      project,
    ),
  );

/** Whether an import has stored a commit of a deleted branch again, as the continuation of another session: its records belong to other commits. */
const isStoredAgain = (chain: ReadChain, { seq, ...delta }: Row): boolean =>
  !readOutline(chain, delta).entries.some(({ key }) => holderOf(chain, recordOfKey(key)) === seq);

/** Whether a call still counts as one of such a commit: it repeats no call of the session before, and no other commit holds its reply. */
const isLeft = (chain: ReadChain, { key, replayed }: CountedCommit['calls'][number]): boolean =>
  !replayed && holderOf(chain, recordOfKey(key)) === undefined;

/**
 * Stores the calls of commits whose contents have arrived after the commits, with their prices: a question about usage may wait for just these
 * contents. Call it inside a transaction.
 */
export function countCalls(chain: WriteChain, commits: readonly CommitSeq[]): void {
  store(chain, rowsOf(chain, commits));
  priceFew(chain);
}

/**
 * In a project that is open without a clone, reads the first commit whose content is not on this machine. The refused read makes the caller fetch it
 * with its neighbors and ask again, so usage is never counted from a part of the commits.
 */
export function requireContents(chain: ReadChain, id?: ContextId): void {
  if (!chain.artifacts.copies.expects()) return;
  const among = id === undefined ? null : JSON.stringify(lineage(chain, findCommit(chain, id)).map(({ seq }) => seq));
  const missing = chain.db.value<ArtifactNo>(
    `SELECT a.no FROM commits c JOIN artifact a ON a.no = c.artifact
      WHERE c.project = :project AND a.gone = 'evicted' AND (:among IS NULL OR c.seq IN (SELECT value FROM json_each(:among))) ORDER BY a.no LIMIT 1`,
    { project: chain.project, among },
  );
  if (missing !== undefined) chain.artifacts.read(missing);
}

/** Stores the calls of the next batch of unread commits. Returns whether more commits remain. */
export function backfillBatch(chain: WriteChain): boolean {
  return chain.db.transaction(() => {
    if (!progress.isCurrent(chain)) {
      chain.db.run('DELETE FROM usageCopy WHERE call IN (SELECT no FROM usageCall WHERE project = ?)', chain.project);
      for (const table of ['usageCall', 'usageQuarter', 'usageSum', 'usageTotal'])
        chain.db.run(`DELETE FROM ${table} WHERE project = ?`, chain.project);
      noteChangedCalls(chain);
    }
    const next = `${selectRows} WHERE c.seq > ? AND +c.project = ? ORDER BY c.seq LIMIT ${batch.commits}`;
    const rows = chain.db.all<Row>(next, progress.last(chain), chain.project);
    const some = upToBytes(rows, batch.bytes);
    store(chain, some);
    progress.readTo(chain, some.at(-1)?.seq);
    return some.length < rows.length || rows.length === batch.commits;
  });
}

/** The format of the commits of card turns. */
const cardFormat = 'cardbox-v1';

/** The calls in a commit. A damaged or expired object has no calls. */
function callsIn(chain: ReadChain, { seq, artifact, format, type, ...row }: Row): CountedCommit['calls'] {
  const ofCards = format === cardFormat ? callsOfCards(chain, seq) : undefined;
  if (ofCards) return ofCards;
  const recorded = (): CountedCommit['calls'] => {
    const bytes = chain.artifacts.read(artifact);
    const entries = () => chain.reader(format).parse(bytes).entries;
    return callsOfDelta({ format, type, bytes: () => bytes, entries, before: contentBefore(chain, { seq, ...row }) });
  };
  return orUndefined(() => callsOfRun(chain, seq) ?? recorded(), contentGone) ?? [];
}

/** Stores the calls of new commits inside a transaction. */
export type CallRecorder = ReturnType<typeof openRecorder>;

/** The commits that a recorder stores together. */
const recordedAtOnce = 1_000;

/**
 * Opens a recorder. Reads the calls of earlier commits first if they are few; otherwise they stay pending, and the new commits are read again with
 * them.
 */
export function openRecorder(chain: WriteChain) {
  const pending = pendingCommits(chain, fewCommits);
  if (pending > 0 && pending < fewCommits) backfillBatch(chain);
  const isCurrent = pending < fewCommits;
  let taken: CountedCommit[] = [];
  /** Stores what was taken. Call it before the transaction ends, and before a question about calls. */
  const settle = (): void => {
    if (taken.length === 0) return;
    recordCalls(chain, taken, pricerOf(chain));
    taken = [];
    if (isCurrent) progress.readTo(chain, undefined);
  };
  return {
    /** Takes commits, which are stored once they are many. */
    add: (commits: readonly CountedCommit[]): void => {
      taken.push(...commits);
      if (taken.length >= recordedAtOnce) settle();
    },
    settle,
  };
}

/** The calls that Stemma made for the reply in a commit, as the provider counted them; undefined for a commit without such calls. */
export function callsOfRun(chain: ReadChain, seq: CommitSeq): CallCount[] | undefined {
  const run = chain.db.one<{ base: CommitSeq; model: string; calls: string }>(
    `SELECT base, model, calls FROM modelRun r
      WHERE context = ? AND provider <> 'recorded' AND NOT (${changedSql(chain.db, 'modelRun', 'r') ?? 'FALSE'})`,
    seq,
  );
  if (!run) return undefined;
  const { id } = commitAt(chain, seq);
  const replies = ownEntries(chain, id);
  const asked = ownEntries(chain, commitAt(chain, run.base).id).findLast(({ role }) => role === 'user');
  return (JSON.parse(run.calls) as OwnCall[]).flatMap((call, number, all): CallCount[] => {
    const said = replies.slice(call.replies, all[number + 1]?.replies);
    const [first] = said;
    if (!first) return [];
    const { input, cacheRead, cacheWrite, output } = call.tokens;
    return [
      {
        id: ownId(id, number),
        key: first.key,
        model: run.model,
        at: toTimestamp(call.at),
        endedAt: toTimestamp(call.at + call.ms),
        askedAt: toTimestamp(call.at),
        prompt: asked && number === 0 ? partOfEntries([asked])?.prompt : undefined,
        does: doesOf(said),
        ...{ input, cacheRead, cacheWrite, cacheWrite1h: null, output, reasoning: null },
      },
    ];
  });
}

const ownEntries = (chain: ReadChain, id: ContextId): ParsedEntry[] => contextEntries(chain, { id, stop: id }).map(({ entry }) => entry);
