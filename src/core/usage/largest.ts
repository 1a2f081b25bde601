import type { ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { UsageFiller, UsageLargest } from '../contract/index.js';
import { compareFillers, type FillerSizes, fillerSizes, placesFrom } from './fillers.js';
import { numberList } from './number-list.js';

/** The files, groups and other content that filled most of the window of a context. @throws NOT_FOUND for an unknown commit. */
export const usageLargest = (chain: ReadChain, id: ContextId, most?: number): UsageLargest[] => largestRows(fillerSizes(chain, id), most);

/** Adds up fillers by file and by group, the largest first. */
export function largestRows(sizes: FillerSizes, most = sizes.count): UsageLargest[] {
  const { scores, rowAt } = scoresOf(sizes);
  // Entries after the last call are not part of any window yet.
  const wanted = placesFrom(scores, most).filter((row) => (scores[row] as number) > 0);
  return sumRows(sizes, wanted, rowAt)
    .sort((a, b) => b.tokenCalls - a.tokenCalls || compareFillers(sizes, a.first, b.first))
    .slice(0, most)
    .map(({ first: _, entry, last, ...sum }) => {
      const smallest = sizes.describe(last);
      const key = entry < 0 ? undefined : sizes.describe(entry).key;
      return { ...shownName(smallest), kind: smallest.kind, ...(key !== undefined && { key }), ...sum };
    });
}

/** The tokens times calls of each row, and the row of each filler; -1 for one that does not count. */
function scoresOf({ count, tokens, calls, rows }: FillerSizes): { readonly scores: Float64Array; readonly rowAt: Int32Array } {
  const scores = new Float64Array(count);
  const rowAt = new Int32Array(count).fill(-1);
  const known = numberList(count);
  for (let place = 0; place < count; place++) {
    const own = tokens[place] as number;
    if (own === 0) continue;
    const row = known.add(rows[place] as number);
    rowAt[place] = row;
    scores[row] = (scores[row] as number) + own * (calls[place] as number);
  }
  return { scores: scores.subarray(0, known.size()), rowAt };
}

/** A row. `first`, `entry` and `last` are the places of its largest filler, of its largest entry or -1, and of its smallest filler. */
interface RowSum {
  tokens: number;
  calls: number;
  tokenCalls: number;
  times: number;
  duplicates: number;
  unused: number;
  first: number;
  entry: number;
  last: number;
}

/** The sums of some rows. */
function sumRows(sizes: FillerSizes, wanted: readonly number[], rowAt: Int32Array): RowSum[] {
  const sums: (RowSum | undefined)[] = wanted.map(() => undefined);
  // One more than the place in the list; 0 is a row that is not wanted.
  const placeOf = new Int32Array(sizes.count);
  for (const [at, row] of wanted.entries()) placeOf[row] = at + 1;
  for (let place = 0; place < sizes.count; place++) {
    const row = rowAt[place] as number;
    const at = row < 0 ? -1 : (placeOf[row] as number) - 1;
    if (at < 0) continue;
    sums[at] ??= { tokens: 0, calls: 0, tokenCalls: 0, times: 0, duplicates: 0, unused: 0, first: place, entry: -1, last: place };
    addTo(sums[at], sizes, place);
  }
  return sums.filter((sum) => sum !== undefined);
}

function addTo(sum: RowSum, sizes: FillerSizes, place: number): void {
  const { entries, tokens, calls, repeats, unused } = sizes;
  const own = tokens[place] as number;
  if (compareFillers(sizes, place, sum.first) < 0) sum.first = place;
  if (compareFillers(sizes, sum.last, place) < 0) sum.last = place;
  if (place < entries && (sum.entry < 0 || compareFillers(sizes, place, sum.entry) < 0)) sum.entry = place;
  sum.tokens += own;
  sum.calls = Math.max(sum.calls, calls[place] as number);
  sum.tokenCalls += own * (calls[place] as number);
  sum.times += 1;
  sum.duplicates += repeats[place] as number;
  sum.unused += unused[place] as number;
}

/** What the row of a filler shows. */
function shownName({ path, tool, kind, head, group }: UsageFiller): Pick<UsageLargest, 'name' | 'side'> {
  if (group !== undefined) return { name: group };
  if (path !== undefined && kind !== 'tool_call') return { name: path };
  const side = tool === undefined ? undefined : sides[kind];
  return { name: `${tool ?? ''} ${path ?? (head === tool ? '' : (head ?? ''))}`.trim() || kindNames[kind] || kind, ...(side && { side }) };
}

const sides: Partial<Record<UsageFiller['kind'], UsageLargest['side']>> = { tool_call: 'call', tool_result: 'result' };
/** Names of fillers that have no text of their own. */
const kindNames: Partial<Record<UsageFiller['kind'], string>> = { system: 'System prompt', tools: 'Tools', image: 'Image' };
