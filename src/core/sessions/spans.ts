import type { CommitSeq } from '../base/index.js';
import { type ReadChain, runList } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';
import { clusterName, clustersOf } from './clusters.js';
import { forestOf } from './forest.js';
import { madeOf, sessionStates } from './list.js';
import { type Made, type StatedCluster, staleClusters } from './stored.js';

/** A session for questions over many sessions. */
export interface SessionSpan {
  readonly row: SessionRow;
  readonly startedAt: number;
  /** The machine of its first commit that names one. */
  readonly machine: string | null;
  /** The branch of git of its last commit that has one. */
  readonly branch: string | null;
}

/** The clusters whose stored sessions are out of date, and the names of stored clusters that are gone. */
export function staleSpans(chain: ReadChain): ReturnType<typeof staleClusters> {
  const { all } = clustersOf(chain);
  const states = sessionStates(chain, all);
  const stated = all.map((cluster, at) => ({ cluster, state: states[at] ?? '' }));
  return staleClusters(chain, stated);
}

/**
 * The sessions of a cluster with the times at which they began; the runs of its commits, as a parameter of `run IN (SELECT value FROM json_each(?))`; and
 * the commits whose session is not the one that their row names: null for a deleted commit.
 */
export function spansOf(chain: ReadChain, { cluster }: StatedCluster) {
  const spans = new Map<string, { first: number; last: number; machine: string | null; branch: string | null }>();
  const elsewhere = new Map<CommitSeq, string | null>();
  const runs = runList(cluster.families);
  const read = chain.db.all<{ seq: CommitSeq; machine: string | null; branch: string | null }>(
    `SELECT c.seq, c.machine, b.branch FROM commits c LEFT JOIN usageBranch b ON b.context = c.seq
      WHERE c.run IN (SELECT value FROM json_each(?)) AND +c.project = ?`,
    [runs, chain.project],
  );
  const facts = new Map(read.map((row) => [row.seq, row] as const));
  const { nodes, hidden, keyOf } = forestOf(chain, cluster);
  for (const node of nodes) {
    const key = keyOf(node);
    if (key === undefined) continue;
    if (node.sessionId === null) elsewhere.set(node.seq, key);
    const span = spans.get(key);
    const { machine = null, branch = null } = facts.get(node.seq) ?? {};
    if (!span) spans.set(key, { first: node.createdAt, last: node.createdAt, machine, branch });
    else {
      span.first = Math.min(span.first, node.createdAt);
      span.machine ??= machine;
      if (branch !== null && (span.branch === null || node.createdAt >= span.last)) [span.branch, span.last] = [branch, node.createdAt];
    }
  }
  for (const seq of hidden) elsewhere.set(seq, null);
  const [made] = madeOf(chain, [cluster]) as [Made];
  return {
    name: clusterName(cluster),
    runs,
    made,
    elsewhere,
    sessions: made.rows.map((row): SessionSpan => {
      const { first = 0, machine = null, branch = null } = spans.get(row.sessionId) ?? {};
      return { row, startedAt: first, machine, branch };
    }),
  };
}
