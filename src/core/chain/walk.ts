import { badRequest, type ContextId, corrupt, type StemmaError } from '../base/index.js';
import type { Stop } from '../contract/index.js';
import { type ContextRow, intactColumn, type ReadChain, requireIdentity, type Step } from './chain.js';
import { commitAt, findCommit, findOrigin, isAncestor, rangesTowardsRoot, windowRanges } from './find.js';

const inRange = 'FROM commits c WHERE run = ? AND depth <= ? ORDER BY depth DESC LIMIT ?';
const selectSteps = `SELECT seq, id, parent, run, depth, type, artifact, format, messageCount, tokenCount ${inRange}`;
const selectIntact = `SELECT seq, ${intactColumn} ${inRange}`;

/** The commits that contribute content to a materialization, root first. */
export interface Walk {
  readonly tip: ContextRow;
  /** The commits whose content is part of the result (rules C3 to C5). */
  readonly contributing: readonly Step[];
  /** The stop with a full id instead of a prefix, as caches and messages use it. */
  readonly stop: 'compaction' | 'root' | ContextId;
}

/** Walks from a commit towards the root and collects the contributing commits. @throws BAD_REQUEST if the stop is not an ancestor. */
export function walk(chain: ReadChain, tip: ContextRow, stop: Stop = 'compaction'): Walk {
  if (stop === 'compaction') return { tip, stop, contributing: collect(chain, tip, isResetPoint) };
  if (stop === 'root') {
    const all = collect(chain, tip, () => false);
    return { tip, stop, contributing: all.filter(carriesNewContent) };
  }
  const end = findCommit(chain, stop, 'stop');
  if (!isAncestor(chain, end, tip)) throw badRequest('stop', `The stop ${end.id} is not an ancestor of ${tip.id}.`, { id: tip.id, stop: end.id });
  const all = collect(chain, tip, (row) => row.seq === end.seq, end.run === tip.run ? tip.depth - end.depth + 1 : firstRange);
  return { tip, stop: end.id, contributing: all.filter((row) => row.seq === end.seq || carriesNewContent(row)) };
}

/**
 * The ids of the contributing commits of a walk, root first. It verifies no rows: use it for a walk whose result was made before. Undefined if one is
 * lost, and for another stop.
 */
export function contributingIds(chain: ReadChain, tip: Place, stop: Walk['stop']): ContextId[] | undefined {
  if (stop !== 'compaction' && stop !== 'root') return undefined;
  const ranges = stop === 'root' ? rangesTowardsRoot(chain, tip) : windowRanges(chain, tip);
  const ids: ContextId[] = [];
  for (const { run, from, to } of ranges.reverse()) {
    const sql =
      "SELECT id, type = 'delta' OR (type = 'snapshot' AND parent IS NULL) FROM commits WHERE run = ? AND depth BETWEEN ? AND ? ORDER BY depth";
    const rows = chain.db.rows<[ContextId, 0 | 1]>(sql, run, from, to);
    if (rows.length !== to - from + 1) return undefined;
    for (const [id, carries] of rows) if (carries || stop === 'compaction') ids.push(id);
  }
  return ids;
}

/** The contributing commits of a walk to a compaction, newest first. It reads only as many as the caller asks for. */
export function* newestFirst(chain: ReadChain, tip: Place): Generator<Step> {
  for (const row of backwards(chain, tip)) {
    yield row;
    if (isResetPoint(row)) return;
  }
}

/**
 * Follows commits towards the root up to the first one at which `find` finds something. Returns that, and the commits before which it was found, root
 * first; without it, all of them.
 */
export function stepsUntil<Found>(
  steps: Iterable<Step>,
  find: (step: Step) => Found | undefined,
): { readonly found: Found | undefined; readonly rest: Step[] } {
  const rest: Step[] = [];
  for (const step of steps) {
    const found = find(step);
    if (found !== undefined) return { found, rest: rest.reverse() };
    rest.push(step);
  }
  return { found: undefined, rest: rest.reverse() };
}

/** The last contributing commits of a long walk, root first. Undefined if the walk has at most `most` commits. */
export function lastSteps(chain: ReadChain, tip: ContextRow, stop: Stop, most: number): readonly Step[] | undefined {
  if (stop !== 'compaction' && stop !== 'root') return undefined;
  const last: Step[] = [];
  for (const row of backwards(chain, tip)) {
    if (stop === 'compaction' && isResetPoint(row)) return undefined;
    if (last.length === most) return last.reverse();
    if (carriesNewContent(row)) last.push(row);
  }
  return undefined;
}

/** All commits from the root to the tip. */
export const lineage = (chain: ReadChain, tip: ContextRow): readonly Step[] => collect(chain, tip, () => false);

/** C3: a compaction or a snapshot replaces everything before it. */
export const isResetPoint = (row: Pick<Step, 'type'>): boolean => row.type !== 'delta';

/** C4: compactions and snapshots repeat what the deltas contain. Only a snapshot without a parent adds content. */
const carriesNewContent = (row: Step): boolean => row.type === 'delta' || (row.type === 'snapshot' && row.parent === null);

/** @param expected the number of commits, if it is known. */
function collect(chain: ReadChain, tip: Step, isLast: (row: Step) => boolean, expected = firstRange): Step[] {
  const rows: Step[] = [];
  for (const row of backwards(chain, tip, Math.min(firstRange, expected))) {
    rows.push(row);
    if (isLast(row)) break;
  }
  return rows.reverse();
}

/** Rows per query while walking. The range grows, so short walks read little and long walks need few queries. */
const firstRange = 64;
const maxRange = 4_096;

type Place = Pick<Step, 'run' | 'depth'>;

/** Yields the commits from here to the root. It reads each run in ranges. @throws CORRUPT if a commit on the way is lost. */
export function* backwards(chain: ReadChain, tip: Place, first = firstRange): Generator<Step> {
  const verified = chain.verified();
  let from: Place | undefined = tip;
  let range = first;
  let child: Step | undefined;
  while (from) {
    const { run, depth }: Place = from;
    const rows: Step[] = chain.db.all<Step>(selectSteps, run, depth, range);
    if (!rows.every(({ seq }) => verified.has(seq)))
      for (const { seq, intact } of chain.db.all<Pick<ContextRow, 'seq' | 'intact'>>(selectIntact, run, depth, range)) if (intact) verified.add(seq);
    for (const row of rows) {
      if (child && child.parent !== row.seq) throw lostParent(child);
      child = row;
      if (!verified.has(row.seq)) requireIdentity(commitAt(chain, row.seq));
      yield row;
    }
    from = rows.length === range ? { run, depth: depth - range } : findOrigin(chain, run);
    range = Math.min(range * 4, maxRange);
  }
  if (child && child.parent !== null) throw lostParent(child);
}

/** The error for a commit whose parent is lost. */
export const lostParent = ({ id }: Pick<Step, 'id'>): StemmaError =>
  corrupt(id, `The parent of ${id} is lost with a damaged part of the database. Run "stemma fsck --repair", or import its file again.`);
