import { type CommitSeq, type ContextId, orUndefined } from '../base/index.js';
import { dropList, dropRunSums, readOutline, type WriteChain } from '../chain/index.js';
import { countOutline, findFormat } from '../formats/index.js';
import { type CommitRow, misplaced } from './check.js';

type Linked = Pick<CommitRow, 'seq' | 'parent'>;

interface Place extends Linked {
  /** The commit whose run this one continues; undefined if it begins a run. */
  readonly continues: CommitSeq | undefined;
  readonly depth: number;
}

/** The run and depth of every commit. The first child continues its parent's run. A commit without its parent begins a run. Parents come first. */
export function placesOf(commits: readonly Linked[]): Place[] {
  const known = new Set(commits.map(({ seq }) => seq));
  const children = Map.groupBy(commits, ({ parent }) => (parent !== null && known.has(parent) ? parent : null));
  const places: Place[] = (children.get(null) ?? []).map((root) => ({ ...root, continues: undefined, depth: 0 }));
  for (let at = 0; at < places.length; at++) {
    const { seq, depth } = places[at] as Place;
    for (const [n, child] of (children.get(seq) ?? []).entries()) places.push({ ...child, continues: n === 0 ? seq : undefined, depth: depth + 1 });
  }
  return places;
}

/** Rewrites the runs and depths of all commits if one of them is wrong. */
export function restorePlaces(chain: WriteChain): void {
  if (misplaced(chain).length === 0) return;
  const commits = chain.db.all<Linked>('SELECT seq, parent FROM commits WHERE +project = ? ORDER BY seq', chain.project);
  const known = new Set(commits.map(({ seq }) => seq));
  const runs = new Map<CommitSeq, number>();
  for (const { seq, parent, continues, depth } of placesOf(commits)) {
    const origin = parent !== null && known.has(parent) ? parent : null;
    const run =
      continues === undefined
        ? chain.db.run('INSERT INTO firstParentRun (project, origin) VALUES (?, ?)', chain.project, origin).rowId
        : (runs.get(continues) as number);
    runs.set(seq, run);
    chain.db.run('UPDATE commits SET run = ?, depth = ? WHERE seq = ?', run, depth, seq);
  }
  chain.db.run('DELETE FROM firstParentRun WHERE project = ? AND no NOT IN (SELECT run FROM commits)', chain.project);
  dropRunSums(chain);
}

/** Drops the outlines of these commits, the list by principal and the sums of runs. They are rebuilt when they are needed. */
export function dropDerived(chain: WriteChain, ids: readonly ContextId[]): void {
  for (const id of ids)
    chain.db.run('DELETE FROM outline WHERE artifact = (SELECT artifact FROM commits WHERE project = ? AND id = ?)', chain.project, id);
  dropList(chain);
  dropRunSums(chain);
}

/** Recounts the messages of these commits, and the tokens of every context whose ancestors are all known. */
export function restoreCounts(chain: WriteChain, ids: readonly ContextId[]): void {
  const wrong = new Set(ids);
  if (wrong.size === 0) return;
  const rows = chain.db.all<Linked & Pick<CommitRow, 'id' | 'type' | 'artifact' | 'format' | 'tokenCount'>>(
    'SELECT seq, id, parent, type, artifact, format, tokenCount FROM commits WHERE +project = ? ORDER BY seq',
    chain.project,
  );
  const totals = new Map<CommitSeq, number>();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  for (const { seq } of placesOf(rows)) {
    const row = bySeq.get(seq) as (typeof rows)[number];
    const before = row.parent === null || row.type !== 'delta' ? 0 : totals.get(row.parent);
    if (before !== undefined) {
      const total = before + row.tokenCount;
      totals.set(seq, total);
      chain.db.run('UPDATE commits SET contextTokens = ? WHERE seq = ? AND contextTokens <> ?', total, seq, total);
    }
    if (!wrong.has(row.id) || !findFormat(row.format)) continue;
    const counts = orUndefined(() => countOutline(readOutline(chain, row)));
    if (!counts) continue;
    const messages = row.type === 'compaction' ? 0 : counts.messages;
    const { entries, errors } = counts;
    chain.db.run('UPDATE commits SET messageCount = ?, entries = ?, errors = ? WHERE seq = ?', messages, entries, errors, seq);
  }
}
