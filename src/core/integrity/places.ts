import type { ArtifactNo, CommitSeq, ContextId } from '../base/index.js';
import { dropList, dropRunSums, readOutline, type WriteChain } from '../chain/index.js';
import type { CommitType } from '../contract/index.js';
import { countOutline, findFormat } from '../formats/index.js';
import { orUndefined } from './check.js';

interface Linked {
  readonly seq: CommitSeq;
  readonly parent: CommitSeq | null;
}

interface Place extends Linked {
  /** The commit whose run this one continues; undefined if it begins a run. */
  readonly continues: CommitSeq | undefined;
  readonly depth: number;
}

/** The run and depth of every commit. The first child continues its parent's run. A commit without its parent begins a run. Parents come first. */
export function placesOf(commits: readonly Linked[]): Place[] {
  const known = new Set(commits.map(({ seq }) => seq));
  const children = new Map<CommitSeq | null, Linked[]>();
  for (const commit of commits) {
    const parent = commit.parent !== null && known.has(commit.parent) ? commit.parent : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(commit);
    else children.set(parent, [commit]);
  }
  const places: Place[] = (children.get(null) ?? []).map((root) => ({ ...root, continues: undefined, depth: 0 }));
  for (let at = 0; at < places.length; at++) {
    const { seq, depth } = places[at] as Place;
    for (const [n, child] of (children.get(seq) ?? []).entries()) places.push({ ...child, continues: n === 0 ? seq : undefined, depth: depth + 1 });
  }
  return places;
}

/** Rewrites the runs and depths of all commits if one of them is wrong. */
export function restorePlaces(chain: WriteChain): void {
  const wrong = chain.db.one(
    `SELECT 1 FROM context c LEFT JOIN context p ON p.seq = c.parent LEFT JOIN firstParentRun l ON l.no = c.run
      WHERE c.project = ? AND (c.depth <> IFNULL(p.depth + 1, 0) OR (c.run <> IFNULL(p.run, -1) AND l.origin IS NOT p.seq) OR l.no IS NULL) LIMIT 1`,
    chain.project,
  );
  if (!wrong) return;
  const commits = chain.db.all<Linked>('SELECT seq, parent FROM context WHERE +project = ? ORDER BY seq', chain.project);
  const known = new Set(commits.map(({ seq }) => seq));
  const runs = new Map<CommitSeq, number>();
  for (const { seq, parent, continues, depth } of placesOf(commits)) {
    const origin = parent !== null && known.has(parent) ? parent : null;
    const run =
      continues === undefined
        ? chain.db.run('INSERT INTO firstParentRun (project, origin) VALUES (?, ?)', chain.project, origin).rowId
        : (runs.get(continues) as number);
    runs.set(seq, run);
    chain.db.run('UPDATE context SET run = ?, depth = ? WHERE seq = ?', run, depth, seq);
  }
  chain.db.run('DELETE FROM firstParentRun WHERE project = ? AND no NOT IN (SELECT run FROM context)', chain.project);
  dropRunSums(chain);
}

/** Drops the outlines of these commits, the list by principal and the sums of runs. They are rebuilt when they are needed. */
export function dropDerived(chain: WriteChain, ids: readonly ContextId[]): void {
  for (const id of ids)
    chain.db.run('DELETE FROM outline WHERE artifact = (SELECT artifact FROM context WHERE project = ? AND id = ?)', chain.project, id);
  dropList(chain);
  dropRunSums(chain);
}

interface Counted extends Linked {
  readonly id: ContextId;
  readonly type: CommitType;
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly tokenCount: number;
}

/** Recounts the messages of these commits, and the tokens of every context whose ancestors are all known. */
export function restoreCounts(chain: WriteChain, ids: readonly ContextId[]): void {
  const wrong = new Set(ids);
  if (wrong.size === 0) return;
  const rows = chain.db.all<Counted>(
    'SELECT seq, id, parent, type, artifact, format, tokenCount FROM context WHERE +project = ? ORDER BY seq',
    chain.project,
  );
  const totals = new Map<CommitSeq, number>();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  for (const { seq } of placesOf(rows)) {
    const row = bySeq.get(seq) as Counted;
    const before = row.parent === null || row.type !== 'delta' ? 0 : totals.get(row.parent);
    if (before !== undefined) {
      totals.set(seq, before + row.tokenCount);
      chain.db.run(
        'UPDATE context SET contextTokens = ? WHERE seq = ? AND contextTokens <> ?',
        before + row.tokenCount,
        seq,
        before + row.tokenCount,
      );
    }
    if (!wrong.has(row.id) || !findFormat(row.format)) continue;
    const counts = orUndefined(() => countOutline(readOutline(chain, row.artifact, row.format)));
    if (!counts) continue;
    chain.db.run(
      'UPDATE context SET messageCount = ?, entries = ?, errors = ? WHERE seq = ?',
      row.type === 'compaction' ? 0 : counts.messages,
      counts.entries,
      counts.errors,
      seq,
    );
  }
}
