import type { CommitSeq } from '../base/index.js';
import { hiddenCommits, type ReadChain } from '../chain/index.js';
import type { SessionRow } from '../contract/index.js';
import { clustersOf } from './clusters.js';
import { forestOf } from './forest.js';
import { sessionRows } from './list.js';

/** A session for questions over many sessions. */
export interface SessionSpan {
  readonly row: SessionRow;
  /** The time of its first commit. */
  readonly startedAt: number;
  /** The machine of its first commit that names one. */
  readonly machine: string | null;
  /** The branch of git of its last commit that has one. */
  readonly branch: string | null;
}

/** All sessions, and the commits whose session is not the one that their row names: null for a deleted commit. */
export interface SessionSpans {
  readonly sessions: readonly SessionSpan[];
  readonly elsewhere: ReadonlyMap<CommitSeq, string | null>;
}

/** The sessions of the project with the times between which they ran. */
export function sessionSpans(chain: ReadChain): SessionSpans {
  const spans = new Map<string, { first: number; last: number; machine: string | null; branch: string | null }>();
  const elsewhere = new Map<CommitSeq, string | null>();
  const machines = new Map(
    chain.db
      .all<{ seq: CommitSeq; machine: string }>('SELECT seq, machine FROM context WHERE project = ? AND machine IS NOT NULL', chain.project)
      .map(({ seq, machine }) => [seq, machine] as const),
  );
  const branches = new Map(
    chain.db
      .all<{ seq: CommitSeq; branch: string }>(
        'SELECT b.context AS seq, b.branch FROM usageBranch b JOIN context c ON c.seq = b.context WHERE c.project = ?',
        chain.project,
      )
      .map(({ seq, branch }) => [seq, branch] as const),
  );
  for (const cluster of clustersOf(chain).all) {
    const { nodes, keyOf } = forestOf(chain, cluster);
    for (const node of nodes) {
      const key = keyOf(node);
      if (key === undefined) continue;
      if (node.sessionId === null) elsewhere.set(node.seq, key);
      const span = spans.get(key);
      const machine = machines.get(node.seq) ?? null;
      const branch = branches.get(node.seq) ?? null;
      if (!span) spans.set(key, { first: node.createdAt, last: node.createdAt, machine, branch });
      else {
        span.first = Math.min(span.first, node.createdAt);
        span.machine ??= machine;
        if (branch !== null && (span.branch === null || node.createdAt >= span.last)) [span.branch, span.last] = [branch, node.createdAt];
      }
    }
  }
  for (const seq of hiddenCommits(chain, { archived: true })) elsewhere.set(seq, null);
  return {
    elsewhere,
    sessions: sessionRows(chain, {}).map((row) => {
      const { first = 0, machine = null, branch = null } = spans.get(row.sessionId) ?? {};
      return { row, startedAt: first, machine, branch };
    }),
  };
}
