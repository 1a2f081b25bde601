import { badRequest, type ContextId } from '../base/index.js';
import type { Stop } from '../contract/index.js';
import type { Chain, ContextRow, Step } from './chain.js';
import { commitOf, isAncestor, originOf } from './find.js';

const selectStep = 'SELECT seq, id, parent, line, depth, type, artifact, format, messageCount, tokenCount FROM context';

/** A materialization, as the commits that give it its content, root first. */
export interface Walk {
  readonly tip: ContextRow;
  /** The commits whose content is part of the result (rules C3 to C5). */
  readonly contributing: readonly Step[];
  /** `stop` in the form that caches and messages use: a full id instead of a prefix. */
  readonly stop: 'compaction' | 'root' | ContextId;
}

/** Walks from a commit towards the root and says which commits give content. @throws BAD_REQUEST where the stop is no ancestor. */
export function walk(chain: Chain, tip: ContextRow, stop: Stop = 'compaction'): Walk {
  if (stop === 'compaction') return { tip, stop, contributing: collect(chain, tip, isResetPoint) };
  if (stop === 'root') {
    const all = collect(chain, tip, () => false);
    return { tip, stop, contributing: all.filter(carriesNewContent) };
  }
  const end = commitOf(chain, stop, 'stop');
  if (!isAncestor(chain, end, tip))
    throw badRequest('stop', `${end.id} is neither ${tip.id} nor an ancestor of it, so a walk from ${tip.id} never meets it`, {
      id: tip.id,
      stop: end.id,
    });
  const all = collect(chain, tip, (row) => row.seq === end.seq);
  return { tip, stop: end.id, contributing: all.filter((row) => row.seq === end.seq || carriesNewContent(row)) };
}

/** Every commit from the root to the tip, whatever it carries. */
export const lineage = (chain: Chain, tip: ContextRow): readonly Step[] => collect(chain, tip, () => false);

/** C3: a compaction or a snapshot stands for all that is before it. */
const isResetPoint = (row: Step): boolean => row.type !== 'delta';

/** C4: a compaction's summary and a snapshot's copy repeat what the deltas say; only a snapshot without a parent is new. */
const carriesNewContent = (row: Step): boolean => row.type === 'delta' || (row.type === 'snapshot' && row.parent === null);

function collect(chain: Chain, tip: Step, isLast: (row: Step) => boolean): Step[] {
  const rows: Step[] = [];
  for (const row of backwards(chain, tip)) {
    rows.push(row);
    if (isLast(row)) break;
  }
  return rows.reverse();
}

/** How many rows are read at once while walking: a walk that ends early reads little, a long one few ranges. */
const firstRange = 64;
const longestRange = 4_096;

type Place = Pick<Step, 'line' | 'depth'>;

/** From the commit towards the root, line by line, each line as ranges of it. */
export function* backwards(chain: Chain, tip: Place): Generator<Step> {
  let from: Place | undefined = tip;
  let range = firstRange;
  while (from) {
    const { line, depth }: Place = from;
    const rows: Step[] = chain.db.all<Step>(`${selectStep} WHERE line = ? AND depth <= ? ORDER BY depth DESC LIMIT ?`, line, depth, range);
    yield* rows;
    from = rows.length === range ? { line, depth: depth - range } : originOf(chain, line);
    range = Math.min(range * 4, longestRange);
  }
}
