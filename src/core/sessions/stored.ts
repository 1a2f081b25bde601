// The sessions of clusters in derived data: the writer stores them while the project is idle, so that a list of many sessions reads no commits.
import { sha256Of } from '../artifacts/index.js';
import type { CommitSeq } from '../base/index.js';
import { intactColumn, type ReadChain, runsOf, type WriteChain } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';
import { setDerivedProgress } from '../store/index.js';
import { forgetSums } from '../usage/index.js';
import { type Cluster, clusterName, clustersOf } from './clusters.js';
import type { Linked } from './links.js';

/** The sessions of a cluster. */
export interface Made {
  readonly rows: readonly SessionRow[];
  readonly links: readonly (readonly [session: string, linked: Linked])[];
}

/** A cluster with a text that changes with everything that its sessions are read from. */
export interface StatedCluster {
  readonly cluster: Cluster;
  readonly state: string;
}

/** Increase this number when rows of sessions change their meaning, so that stored ones are made again. */
const rowsVersion = 1;
const markOf = (state: string): string => sha256Of(`${rowsVersion} ${state}`).toString('base64url').slice(0, 22);

/** The stored sessions of those of these clusters that have not changed since. None in a project without a clone, where contents come and go. */
export function storedClusters(chain: ReadChain, asked: readonly StatedCluster[]): ReadonlyMap<Cluster, Made> {
  if (asked.length === 0 || chain.artifacts.copies.expects()) return new Map();
  const rows = chain.db.all<{ run: number; mark: string; data: string }>(
    'SELECT run, mark, data FROM sessionCluster WHERE project = ? AND run IN (SELECT value FROM json_each(?))',
    chain.project,
    JSON.stringify(asked.map(({ cluster }) => clusterName(cluster))),
  );
  const known = new Map(rows.map((row) => [row.run, row] as const));
  const found = asked.flatMap(({ cluster, state }): [Cluster, Made][] => {
    const row = known.get(clusterName(cluster));
    return row?.mark === markOf(state) ? [[cluster, JSON.parse(row.data) as Made]] : [];
  });
  const damaged = damagedSessions(
    chain,
    found.flatMap(([, { links }]) => links),
  );
  if (damaged.size === 0) return new Map(found);
  const marked = (row: SessionRow): SessionRow => (damaged.has(row.sessionId) ? { ...row, damaged: true } : row);
  return new Map(found.map(([cluster, made]) => [cluster, { ...made, rows: made.rows.map(marked) }] as const));
}

/** The sessions whose first commit was damaged after they were stored. */
function damagedSessions(chain: ReadChain, links: Made['links']): ReadonlySet<string> {
  const damaged = new Set(
    chain.db
      .all<{ seq: CommitSeq }>(
        `SELECT seq FROM (SELECT c.seq, ${intactColumn} FROM context c WHERE c.seq IN (SELECT value FROM json_each(?))) WHERE NOT intact`,
        JSON.stringify(links.map(([, { first }]) => first)),
      )
      .map(({ seq }) => seq),
  );
  return new Set(links.flatMap(([session, { first }]) => (damaged.has(first) ? [session] : [])));
}

/** Of all clusters, those whose stored sessions are out of date; and the names of stored clusters that are gone. */
export function staleClusters(
  chain: ReadChain,
  stated: readonly StatedCluster[],
): { readonly stale: readonly StatedCluster[]; readonly gone: readonly number[] } {
  const rows = chain.db.all<{ run: number; mark: string }>('SELECT run, mark FROM sessionCluster WHERE project = ?', chain.project);
  const marks = new Map(rows.map(({ run, mark }) => [run, mark] as const));
  const names = new Set(stated.map(({ cluster }) => clusterName(cluster)));
  return {
    stale: stated.filter(({ cluster, state }) => marks.get(clusterName(cluster)) !== markOf(state)),
    gone: rows.map(({ run }) => run).filter((run) => !names.has(run)),
  };
}

/** Stores the sessions of a cluster. No rule has been applied to them then. */
export function storeCluster({ db, project }: WriteChain, { cluster, state }: StatedCluster, made: Made): void {
  const [name, mark] = [clusterName(cluster), markOf(state)];
  db.run(
    'INSERT OR REPLACE INTO sessionCluster (project, run, runs, mark, data) VALUES (?, ?, ?, ?, ?)',
    ...[project, name, runsOf(cluster.families), mark, JSON.stringify(made)],
  );
}

/** The row of `derivedProgress` with the state of the project whose sessions are stored. */
export const storedProgress = 'usage sessions';

/** Forgets what is stored of clusters, with what rules found in them; of all clusters without names. */
export function forgetClusters(chain: WriteChain, names?: readonly number[]): void {
  const { db, project } = chain;
  for (const [table, column] of [
    ['sessionCluster', 'run'],
    ['usageSession', 'cluster'],
    ['finding', 'cluster'],
  ])
    if (names) db.run(`DELETE FROM ${table} WHERE project = ? AND ${column} IN (SELECT value FROM json_each(?))`, project, JSON.stringify(names));
    else db.run(`DELETE FROM ${table} WHERE project = ?`, project);
  setDerivedProgress(chain, storedProgress, 0);
  if (names === undefined || names.length > 0) forgetSums(chain);
}

/** Forgets what is stored of the clusters of commits, because their contents have arrived. */
export function forgetClustersOf(chain: WriteChain, commits: readonly CommitSeq[]): void {
  const { at } = clustersOf(chain);
  forgetClusters(chain, [...new Set(commits.flatMap((seq) => at(seq) ?? []))].map(clusterName));
}
