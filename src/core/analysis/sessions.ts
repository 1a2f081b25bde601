import type { WriteChain } from '../chain/index.js';
import {
  forgetClusters,
  namelessTitle,
  type SessionSpan,
  type StatedCluster,
  sessionsAreDue,
  spansOf,
  staleSpans,
  storeCluster,
  storedProgress,
  storedState,
} from '../sessions/index.js';
import { changedSql, type ReadableDb, setDerivedProgress } from '../store/index.js';

/** The clusters of sessions per transaction. */
const clustersAtOnce = 50;

/** Stores the sessions of the clusters that have changed, in short transactions. Yields after each. */
export function* catchUpSessions(chain: WriteChain): Generator<void> {
  if (!sessionsAreDue(chain)) return;
  const state = storedState(chain);
  const { stale, gone } = staleSpans(chain);
  chain.db.transaction(() => forgetClusters(chain, gone));
  for (let at = 0; at < stale.length; at += clustersAtOnce) {
    chain.db.transaction(() => {
      const untrue = damagedTitles(chain.db);
      for (const cluster of stale.slice(at, at + clustersAtOnce)) storeSessions(chain, cluster, untrue);
    });
    yield;
  }
  chain.db.transaction(() => setDerivedProgress(chain, storedProgress, state));
}

function storeSessions(chain: WriteChain, cluster: StatedCluster, untrue: ReadonlySet<string | null>): void {
  const { db, project } = chain;
  const { name, runs, made, sessions, elsewhere } = spansOf(chain, cluster);
  forgetClusters(chain, [name]);
  const commits = '(SELECT seq FROM commits WHERE run IN (SELECT value FROM json_each(?)) AND +project = ?)';
  db.run(`DELETE FROM usageCommit WHERE context IN ${commits}`, runs, project);
  const ids = JSON.stringify(sessions.map(({ row }) => row.sessionId));
  const sums = 'SELECT session, SUM(calls) FROM usageSum WHERE project = ? AND session IN (SELECT value FROM json_each(?)) GROUP BY session';
  const calls = new Map(db.rows<[session: string, calls: number]>(sums, project, ids));
  for (const span of sessions) storeSession(chain, name, withTrueTitle(span, untrue), calls.get(span.row.sessionId) ?? 0);
  for (const [context, session] of elsewhere) db.run('INSERT INTO usageCommit (context, session) VALUES (?, ?)', context, session);
  storeCluster(chain, cluster, made);
}

/** The titles in rows that do not match their checksums. A table of sums has no place for a mark. */
function damagedTitles(db: ReadableDb): ReadonlySet<string | null> {
  const changed = changedSql(db, 'sessionMark', 'm');
  return new Set(changed ? db.column<string | null>(`SELECT title FROM sessionMark m WHERE ${changed}`) : []);
}

const withTrueTitle = (span: SessionSpan, untrue: ReadonlySet<string | null>): SessionSpan =>
  span.row.damaged || untrue.has(span.row.title) ? { ...span, row: { ...span.row, title: namelessTitle(span.row.sessionId) } } : span;

function storeSession({ db, project }: WriteChain, cluster: number, { row, startedAt, machine, branch }: SessionSpan, calls: number): void {
  const { sessionId, parentSessionId = null, agent, subagent = null, title, repository, lastAt, turns, branches, errors, peakTokens, limit } = row;
  db.run(
    `INSERT OR REPLACE INTO usageSession (project, session, cluster, parent, agent, subagent, title, repository, person, branch, startedAt, endedAt, turns, branches, calls, errors,
                               peakTokens, windowLimit, cost, isArchived, tip) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[project, sessionId, cluster, parentSessionId, agent, subagent, title, repository, machine, branch, startedAt, Date.parse(lastAt)],
    ...[turns, branches, calls, errors, peakTokens, limit, row.cost?.amount ?? null, row.archived ? 1 : 0, row.tips[0] ?? null],
  );
}
