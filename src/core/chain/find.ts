import { badRequest, type CommitSeq, type ContextId, notFound } from '../base/index.js';
import { type ContextRow, type ReadChain, selectContext } from './chain.js';

/** The two queries for an id, built once because prepared statements are cached by their text. */
const byName = (select: string) => ({
  exact: `${select} WHERE c.project = ? AND c.id = ?`,
  beginning: `${select} WHERE c.project = ? AND c.id >= ? AND c.id < ? ORDER BY c.id LIMIT 4`,
});

const wholeByName = byName(selectContext);
const parentByName = byName(/* sql */ `
SELECT c.seq, c.id, c.run, c.depth, c.contextTokens, c.createdAt,
       EXISTS (SELECT 1 FROM commits n WHERE n.run = c.run AND n.depth = c.depth + 1) AS isContinued
  FROM commits c`);
const wholeAt = `${selectContext} WHERE c.seq = ? AND c.project = ?`;

/** Finds the commit with this id or unique id prefix. @throws NOT_FOUND; BAD_REQUEST if several commits have the prefix. */
export const findCommit = (chain: ReadChain, name: ContextId, field = 'id'): ContextRow => named<ContextRow>(chain, wholeByName, name, field);

/** What adding a child needs to know about the parent. */
export interface Parent extends Pick<ContextRow, 'seq' | 'id' | 'run' | 'depth' | 'contextTokens' | 'createdAt'> {
  /** 1 if its run continues after it. If missing, `addCommit` looks it up. */
  readonly isContinued?: 0 | 1;
}

/** Finds the parent of a new commit. It reads few columns, because every checkpoint calls it. */
export const findParent = (chain: ReadChain, name: ContextId): Parent => named<Parent>(chain, parentByName, name, 'parent');

function named<Row extends Pick<ContextRow, 'id'>>(chain: ReadChain, select: ReturnType<typeof byName>, name: ContextId, field: string): Row {
  const exact = chain.db.one<Row>(select.exact, chain.project, name);
  if (exact) return exact;
  const [row, ...others] = chain.db.all<Row>(select.beginning, chain.project, name, `${name}g`);
  if (!row) throw notFound(name, `This project has no commit ${name}.`, { field });
  if (others.length) {
    const ids = [row, ...others].map((each) => each.id);
    const message = `${name} matches several commits (${ids.join(', ')}${ids.length > 3 ? ', …' : ''}). Give more digits.`;
    throw badRequest(field, message, { candidates: ids });
  }
  return row;
}

/** Reads a commit by its row number. */
export function commitAt(chain: ReadChain, seq: CommitSeq): ContextRow {
  const row = chain.db.one<ContextRow>(wholeAt, seq, chain.project);
  if (!row) throw new Error(`Commit row ${seq} does not exist.`);
  return row;
}

/** The highest row number of a commit, of any project in the database; 0 without commits. */
export const lastCommit = ({ db }: ReadChain): number => db.value<number | null>('SELECT MAX(seq) FROM commits') ?? 0;

/** The highest row number of a commit of the project; 0 without commits. */
export const lastOfProject = ({ db, project }: ReadChain): number =>
  db.value<number>('SELECT seq FROM commits WHERE +project = ? ORDER BY seq DESC LIMIT 1', project) ?? 0;

/** Whether `ancestor` is the commit itself or an ancestor of it. It steps over whole runs, not single commits. */
export function isAncestor(chain: ReadChain, ancestor: ContextRow, of: ContextRow): boolean {
  let at: { run: number; depth: number } = of;
  for (;;) {
    if (at.run === ancestor.run) return at.depth >= ancestor.depth;
    if (at.depth < ancestor.depth) return false;
    const origin = findOrigin(chain, at.run);
    if (!origin) return false;
    at = origin;
  }
}

/** Whether a compaction or a snapshot lies between a commit and a later one of its chain. */
export const isResetSince = (chain: ReadChain, from: ContextRow, tip: ContextRow): boolean =>
  placesTowardsRoot(chain, tip).some(({ run, depth }) =>
    chain.db.one("SELECT 1 FROM commits WHERE run = ? AND depth <= ? AND depth > ? AND type <> 'delta' LIMIT 1", run, depth, from.depth),
  );

/** The commit that a run branches off from. It is less deep than the run: another one stands in a damaged row, and following it might never end. */
export const findOrigin = (chain: ReadChain, run: number): { readonly seq: CommitSeq; readonly run: number; readonly depth: number } | undefined =>
  chain.db.one(
    `SELECT seq, run, depth FROM commits WHERE seq = (SELECT origin FROM firstParentRun WHERE no = ?)
        AND depth < (SELECT MIN(depth) FROM commits WHERE run = ?)`,
    [run, run],
  );

/** The children of a commit. The one that continues its run comes first. */
export function findChildren(chain: ReadChain, row: ContextRow): ContextRow[] {
  const next = `${selectContext} WHERE c.run = ? AND c.depth = ?`;
  const branches = `${selectContext} WHERE c.run IN (SELECT no FROM firstParentRun WHERE origin = ?) AND c.depth = ? ORDER BY c.seq`;
  return [...chain.db.all<ContextRow>(next, row.run, row.depth + 1), ...chain.db.all<ContextRow>(branches, row.seq, row.depth + 1)];
}

/** The last commit that both chains contain, if any. */
export function commonAncestor(chain: ReadChain, a: ContextRow, b: ContextRow): ContextRow | undefined {
  const depths = new Map(placesTowardsRoot(chain, a).map((place) => [place.run, place.depth]));
  for (const place of placesTowardsRoot(chain, b)) {
    const depth = depths.get(place.run);
    if (depth === undefined) continue;
    return chain.db.one<ContextRow>(`${selectContext} WHERE c.run = ? AND c.depth = ?`, place.run, Math.min(depth, place.depth));
  }
  return undefined;
}

/** Commits of a chain: a run, and the first and the last depth. */
export interface CommitRange {
  readonly run: number;
  readonly from: number;
  readonly to: number;
}

/** The commits on the way from a commit to the root. */
export function rangesTowardsRoot(chain: ReadChain, tip: Pick<ContextRow, 'run' | 'depth'>): CommitRange[] {
  const places = placesTowardsRoot(chain, tip);
  return places.map(({ run, depth }, at) => ({ run, from: (places[at + 1]?.depth ?? -1) + 1, to: depth }));
}

/** The commits of a window: those on the way to the last compaction or snapshot, or to the root. */
export function windowRanges(chain: ReadChain, tip: Pick<ContextRow, 'run' | 'depth'>): CommitRange[] {
  const ranges: CommitRange[] = [];
  for (const range of rangesTowardsRoot(chain, tip)) {
    const lastReset = "SELECT MAX(depth) FROM commits WHERE run = ? AND depth <= ? AND type <> 'delta'";
    const reset = chain.db.value<number | null>(lastReset, range.run, range.to);
    ranges.push({ ...range, from: reset ?? range.from });
    if (reset != null) break;
  }
  return ranges;
}

/** For each run on the way to the root: the run, and the depth at which the walk enters it. */
export function placesTowardsRoot(chain: ReadChain, row: Pick<ContextRow, 'run' | 'depth'>): { run: number; depth: number }[] {
  const places: { run: number; depth: number }[] = [];
  for (let at: { run: number; depth: number } | undefined = row; at; at = findOrigin(chain, at.run)) places.push(at);
  return places;
}
