import { type CommitSeq, type ContextId, firstWhere, orUndefined } from '../base/index.js';
import { commitAt, type Family, graph, kept, type ReadChain, runList } from '../chain/index.js';
import type { GraphRow, Money } from '../contract/index.js';
import { sentSize } from '../requests/index.js';
import { unstoredCalls } from './backfill.js';
import { countedInput } from './context.js';
import { continuedFrom } from './continued.js';
import { changedCalls, isCounted } from './facts.js';
import { nameIn } from './names.js';
import { moneyOf } from './prices.js';
import { isBeside, peakOfCalls, windowsOf } from './rows.js';
import { callAfter, maxPassed } from './window.js';

/** The calls of one model whose replies appear first in a commit. */
interface CommitCalls {
  readonly context: CommitSeq;
  readonly model: string | null;
  /** The largest counted input; null if no input was counted. */
  readonly peak: number | null;
  /** The window that the agent recorded. */
  readonly limit: number | null;
  readonly calls: number;
  /** The number of calls with a price, and the sum of the prices. */
  readonly priced: number;
  /** The number of calls with an output count. Without an output count, a cost is a lower bound. */
  readonly outputs: number;
  readonly cost: number;
}

/** The calls of commits, which are kept: until a stored call changes, only later ones are read. */
interface KnownCalls {
  readonly calls: readonly CommitCalls[];
  readonly runs: string;
  readonly changes: number;
  /** The number of the last call that was read. */
  readonly last: number;
}

const bytesPerRow = 150;

/** The calls of the commits of families, in their order, for lists of sessions. */
export function callsByCommit(chain: ReadChain, families: readonly Family[]): readonly CommitCalls[] {
  const runs = runList(families);
  const last = chain.db.value<number | null>('SELECT MAX(no) FROM usageCall') ?? 0;
  const changes = changedCalls(chain);
  const read = (before: KnownCalls | undefined): KnownCalls => {
    const known = before?.changes === changes && before.runs === runs && before.last <= last ? before : undefined;
    return { calls: joined(known?.calls ?? [], readCalls(chain, runs, known?.last ?? 0)), runs, changes, last };
  };
  const [name, state] = [`${families[0]?.runs[0]}/${families.length}`, `${changes}/${last}/${runs}`];
  return kept(chain, 'calls of commits', name, state, read, ({ calls }) => calls.length * bytesPerRow + runs.length).calls;
}

/** Adds later calls, some of which are of commits that have calls already. Most are of new commits: the calls before those stay as they are. */
function joined(known: readonly CommitCalls[], later: readonly CommitCalls[]): readonly CommitCalls[] {
  const first = later.reduce((least, { context }) => Math.min(least, context), Number.POSITIVE_INFINITY);
  const same = firstWhere(0, known.length, (at) => (known[at] as CommitCalls).context >= first);
  const all = new Map<string, CommitCalls>();
  for (const row of [...known.slice(same), ...later]) {
    const name = `${row.context} ${row.model}`;
    const before = all.get(name);
    all.set(name, before ? sumOf(before, row) : row);
  }
  const sorted = [...all.values()].sort((a, b) => a.context - b.context || ((a.model ?? '') < (b.model ?? '') ? -1 : 1));
  return [...known.slice(0, same), ...sorted];
}

const sumOf = (a: CommitCalls, b: CommitCalls): CommitCalls => ({
  ...a,
  peak: largest(a.peak, b.peak),
  limit: largest(a.limit, b.limit),
  calls: a.calls + b.calls,
  priced: a.priced + b.priced,
  outputs: a.outputs + b.outputs,
  cost: a.cost + b.cost,
});

const largest = (a: number | null, b: number | null): number | null => (a === null || b === null ? (a ?? b) : Math.max(a, b));

function readCalls({ db, project }: ReadChain, runs: string, after: number): CommitCalls[] {
  // Most later calls are of later commits. In the order of their commits, they need no sorting: the plus keeps SQLite from the order of numbers.
  const first = after === 0 ? 0 : db.value<CommitSeq | null>('SELECT MIN(context) FROM usageCall NOT INDEXED WHERE no > ?', after);
  if (first == null) return [];
  // Nearly all commits have calls of one model. Groups by commit follow an index; groups by commit and model are sorted, which costs more than to read them.
  const byCommit = db.all<CommitCalls & { readonly isOne: 0 | 1 }>(
    `SELECT one.*, ${nameIn('one.model')} AS model FROM (
       SELECT context, MIN(model) AS model, MIN(model) IS MAX(model) AND COUNT(model) IN (0, COUNT(*)) AS isOne, ${sumsOfCommit}
         FROM usageCall u WHERE context IN (SELECT seq FROM commits WHERE run IN (SELECT value FROM json_each(?)) AND +seq >= ?)
          AND +project = ? AND +no > ? GROUP BY context) one`,
    [runs, first, project, after],
  );
  const [ofOne, others] = [byCommit.filter(({ isOne }) => isOne), byCommit.filter(({ isOne }) => !isOne)];
  if (others.length === 0) return ofOne;
  const byModel = db.all<CommitCalls>(
    `SELECT context, ${nameIn('u.model')} AS model, ${sumsOfCommit} FROM usageCall u
      WHERE context IN (SELECT value FROM json_each(?)) AND +project = ? AND no > ? GROUP BY context, u.model`,
    [JSON.stringify(others.map(({ context }) => context)), project, after],
  );
  return [...ofOne, ...byModel];
}

const sumsOfCommit = `${peakOfCalls} AS peak, MAX(windowLimit) AS "limit", COUNT(*) FILTER (WHERE ${isCounted}) AS calls,
            COUNT(cost) FILTER (WHERE ${isCounted}) AS priced, COUNT(output) FILTER (WHERE ${isCounted}) AS outputs,
            IFNULL(SUM(cost) FILTER (WHERE ${isCounted}), 0) AS cost`;

/** For each session, a text that changes with its calls. `sessions` limits the answer. */
export const callStates = (chain: ReadChain, sessions?: Iterable<string>): ReadonlyMap<string, string> =>
  new Map(
    chain.db.rows<[session: string, state: string]>(
      `SELECT session, GROUP_CONCAT(calls || ':' || input || ':' || cacheRead || ':' || cacheWrite || ':' || output || ':' || outputs || ':' || priced || ':' || cost || ':' || model)
         FROM usageSum WHERE project = :project AND (:sessions IS NULL OR session IN (SELECT value FROM json_each(:sessions))) GROUP BY session`,
      { project: chain.project, sessions: sessions === undefined ? null : JSON.stringify(['', ...sessions]) },
    ),
  );

/**
 * The cost of the calls of commits, a lower bound where a call has no price or no output count; null if no call has a price. Commits without a
 * counted call are omitted.
 */
export function costsAt(chain: ReadChain, ids: readonly ContextId[]): ReadonlyMap<ContextId, Money | null> {
  const sums = chain.db.all<{ id: ContextId; cost: number | null; isWhole: number }>(
    `SELECT c.id, SUM(u.cost) AS cost, COUNT(*) = MIN(COUNT(u.cost), COUNT(u.output)) AS isWhole
       FROM commits c JOIN usageCall u ON u.context = c.seq
      WHERE c.project = ? AND c.id IN (SELECT value FROM json_each(?)) GROUP BY c.seq HAVING COUNT(u.cost) + COUNT(u.input) + COUNT(u.output) > 0`,
    [chain.project, JSON.stringify(ids)],
  );
  return new Map(sums.map(({ id, cost, isWhole }) => [id, moneyOf(cost, isWhole === 1)] as const));
}

/** The model of the last call of each commit. Commits whose calls name no model are omitted. */
export function lastModels(chain: ReadChain, seqs: readonly CommitSeq[]): ReadonlyMap<CommitSeq, string> {
  // SQLite takes the model from the row with the highest number.
  const sql = `SELECT context, ${nameIn('u.model')}, MAX(no) FROM usageCall u WHERE context IN (SELECT value FROM json_each(?)) AND model IS NOT NULL GROUP BY context`;
  return new Map(chain.db.rows<[CommitSeq, string, number]>(sql, JSON.stringify(seqs)).map(([seq, model]) => [seq, model]));
}

/** The counted inputs of the last call before a compaction and of the first call after it. */
export function compactedAt(chain: ReadChain, compaction: CommitSeq): { readonly before?: number; readonly after?: number } {
  const linkOf = (seq: CommitSeq) => chain.db.one<{ parent: CommitSeq | null; type: string }>('SELECT parent, type FROM commits WHERE seq = ?', seq);
  let before: number | undefined;
  let at = linkOf(compaction)?.parent ?? null;
  for (let passed = 0; at !== null && before === undefined && passed < maxPassed; passed++) {
    before = windowsOf(chain, [at]).get(at);
    const link = linkOf(at);
    at = link && link.type === 'delta' ? link.parent : null;
  }
  const next = callAfter(chain, compaction);
  const after = next && sentSize(next);
  return { ...(before !== undefined && { before }), ...(after != null && { after }) };
}

/** Finds the inputs of the last calls of commits whose calls are not stored yet. */
export type UnstoredWindows = (chain: ReadChain, commits: readonly CommitSeq[]) => readonly [CommitSeq, number][];

/** The graph of commits with the counts of the providers. */
export function countedGraph(chain: ReadChain, query: Parameters<typeof graph>[1], unstored: UnstoredWindows): ReturnType<typeof graph> {
  const { rows, ...rest } = graph(chain, query);
  const sql = 'SELECT id, seq FROM commits WHERE project = ? AND id IN (SELECT value FROM json_each(?))';
  const ids = JSON.stringify(rows.map(({ commit }) => commit.id));
  const seqs = new Map(chain.db.rows<[ContextId, CommitSeq]>(sql, chain.project, ids));
  const counted = new Map([...unstored(chain, [...seqs.values()]), ...windowsOf(chain, [...seqs.values()])]);
  return {
    ...rest,
    rows: rows.map((row) => {
      const seq = seqs.get(row.commit.id);
      const tokens = seq === undefined ? undefined : row.forked ? countedAt(chain, row.commit.id) : counted.get(seq);
      const isCompaction = seq !== undefined && row.commit.type === 'compaction';
      return {
        ...row,
        ...(tokens !== undefined && !isCompaction && { countedTokens: tokens }),
        ...(isCompaction && { compacted: compactedAt(chain, seq) }),
        ...(seq !== undefined && isUnseen(row, tokens) && estimateAt(chain, seq)),
      };
    }),
  };
}

/** Reads them from the contents of the commits. */
export function unstoredWindows(chain: ReadChain, commits: readonly CommitSeq[]): [CommitSeq, number][] {
  return [...unstoredCalls(chain, commits)].flatMap(([seq, calls]): [CommitSeq, number][] => {
    const last = calls.findLast(
      (call) => !call.total && !isBeside({ call: call.id }) && (call.input !== null || call.cacheRead !== null || call.cacheWrite !== null),
    );
    return last ? [[seq, last.window ?? (last.input ?? 0) + (last.cacheRead ?? 0) + (last.cacheWrite ?? 0)]] : [];
  });
}

/** Whether a row is a fork, a rerun or a snapshot that no call has seen. */
const isUnseen = ({ commit, forked }: GraphRow, counted: number | undefined): boolean =>
  counted === undefined && (forked || commit.type === 'snapshot') && commit.type !== 'compaction';

/** The count of a fork: calls that a fork repeats count only if they saw what it holds. */
const countedAt = (chain: ReadChain, id: ContextId): number | undefined => orUndefined(() => countedInput(chain, id)) ?? undefined;

/** The tokens of a context after an edit, from what was counted before. Nothing if its content is missing. */
function estimateAt(chain: ReadChain, seq: CommitSeq): Pick<GraphRow, 'estimatedTokens'> {
  const continued = orUndefined(() => continuedFrom(chain, commitAt(chain, seq)));
  return continued ? { estimatedTokens: Math.max(0, Math.round(continued.counted + continued.edited)) } : {};
}
