import { badRequest, type CommitSeq, type ContextId, notFound } from '../base/index.js';
import { type Chain, type ContextRow, selectContext } from './chain.js';

/** A query's two forms, put together once: statements are known by their text. */
const byName = (select: string) => ({
  exact: `${select} WHERE c.project = ? AND c.id = ?`,
  beginning: `${select} WHERE c.project = ? AND c.id >= ? AND c.id < ? ORDER BY c.id LIMIT 4`,
});

const wholeByName = byName(selectContext);
const parentByName = byName(/* sql */ `
SELECT c.seq, c.id, c.line, c.depth, c.contextTokens, c.createdAt,
       EXISTS (SELECT 1 FROM context n WHERE n.line = c.line AND n.depth = c.depth + 1) AS isContinued
  FROM context c`);
const wholeAt = `${selectContext} WHERE c.seq = ? AND c.project = ?`;

/** The commit with this id, or the only one whose id begins so. @throws NOT_FOUND; BAD_REQUEST where several do. */
export const commitOf = (chain: Chain, name: ContextId, field = 'id'): ContextRow => named<ContextRow>(chain, wholeByName, name, field);

/** What a commit on top of another has to know of it. */
export interface Parent extends Pick<ContextRow, 'seq' | 'id' | 'line' | 'depth' | 'contextTokens' | 'createdAt'> {
  /** 1 where its line goes on behind it; left out where that is to be looked up. */
  readonly isContinued?: 0 | 1;
}

/** The same for a commit that gets a child in this very transaction: few columns, as every checkpoint asks. */
export const parentOf = (chain: Chain, name: ContextId): Parent => named<Parent>(chain, parentByName, name, 'parent');

function named<Row extends Pick<ContextRow, 'id'>>(chain: Chain, select: ReturnType<typeof byName>, name: ContextId, field: string): Row {
  const exact = chain.db.one<Row>(select.exact, chain.project, name);
  if (exact) return exact;
  const [row, ...others] = chain.db.all<Row>(select.beginning, chain.project, name, `${name}g`);
  if (!row) throw notFound(name, `no commit ${name} is in this project`, { field });
  if (others.length) {
    const ids = [row, ...others].map((each) => each.id);
    throw badRequest(field, `${name} is the beginning of several ids (${ids.join(', ')}${ids.length > 3 ? ', …' : ''}); give more digits`, {
      candidates: ids,
    });
  }
  return row;
}

export function commitAt(chain: Chain, seq: CommitSeq): ContextRow {
  const row = chain.db.one<ContextRow>(wholeAt, seq, chain.project);
  if (!row) throw new Error(`commit row ${seq} is named but not there`);
  return row;
}

/** Whether `ancestor` is the commit itself or before it in its chain: a hop for each line, not for each commit. */
export function isAncestor(chain: Chain, ancestor: ContextRow, of: ContextRow): boolean {
  let at: { line: number; depth: number } = of;
  for (;;) {
    if (at.line === ancestor.line) return at.depth >= ancestor.depth;
    if (at.depth < ancestor.depth) return false;
    const origin = originOf(chain, at.line);
    if (!origin) return false;
    at = origin;
  }
}

/** The commit that a line branches off from. */
export const originOf = (chain: Chain, line: number): { readonly seq: CommitSeq; readonly line: number; readonly depth: number } | undefined =>
  chain.db.one('SELECT seq, line, depth FROM context WHERE seq = (SELECT origin FROM line WHERE no = ?)', line);

/** The commits that name this one as their parent, the one that goes on in its line first. */
export function childrenOf(chain: Chain, row: ContextRow): ContextRow[] {
  const next = chain.db.all<ContextRow>(`${selectContext} WHERE c.line = ? AND c.depth = ?`, row.line, row.depth + 1);
  const branches = chain.db.all<ContextRow>(
    `${selectContext} WHERE c.line IN (SELECT no FROM line WHERE origin = ?) AND c.depth = ? ORDER BY c.seq`,
    row.seq,
    row.depth + 1,
  );
  return [...next, ...branches];
}

/** The last commit that both chains have, if they have one. */
export function commonAncestor(chain: Chain, a: ContextRow, b: ContextRow): ContextRow | undefined {
  const depths = new Map(placesTowardsRoot(chain, a).map((place) => [place.line, place.depth]));
  for (const place of placesTowardsRoot(chain, b)) {
    const depth = depths.get(place.line);
    if (depth === undefined) continue;
    return chain.db.one<ContextRow>(`${selectContext} WHERE c.line = ? AND c.depth = ?`, place.line, Math.min(depth, place.depth));
  }
  return undefined;
}

/** For each line on the way to the root, the commit at which the way enters it. */
export function placesTowardsRoot(chain: Chain, row: ContextRow): { line: number; depth: number }[] {
  const places: { line: number; depth: number }[] = [];
  for (let at: { line: number; depth: number } | undefined = row; at; at = originOf(chain, at.line)) places.push(at);
  return places;
}
