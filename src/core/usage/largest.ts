import type { ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { UsageFiller, UsageLargest } from '../contract/index.js';
import { compareFillers, type FillerSizes, fillerSizes, placesFrom } from './fillers.js';

/** The files, groups and other content that filled most of the window of a context. @throws NOT_FOUND for an unknown commit. */
export const usageLargest = (chain: ReadChain, id: ContextId, most?: number): UsageLargest[] => largestRows(fillerSizes(chain, id), most);

/** A row, and the places of its largest filler, of its largest entry and of its smallest filler. */
interface Sum extends Pick<UsageLargest, 'tokens' | 'calls' | 'tokenCalls' | 'times' | 'duplicates' | 'unused'> {
  first: number;
  entry: number | undefined;
  last: number;
}

/** Adds up fillers by file and by group, the largest first. */
export function largestRows(sizes: FillerSizes, most = sizes.count): UsageLargest[] {
  const found = [...sumsByRow(sizes).values()];
  const tokenCalls = Float64Array.from(found, (sum) => sum.tokenCalls);
  // Entries after the last call are not part of any window yet.
  return placesFrom(tokenCalls, most)
    .map((place) => found[place] as Sum)
    .filter((sum) => sum.tokenCalls > 0)
    .sort((a, b) => b.tokenCalls - a.tokenCalls || compareFillers(sizes, a.first, b.first))
    .slice(0, most)
    .map(({ first: _, entry, last, ...sum }) => {
      const smallest = sizes.describe(last);
      const key = entry === undefined ? undefined : sizes.describe(entry).key;
      return { ...shownName(smallest), kind: smallest.kind, ...(key !== undefined && { key }), ...sum };
    });
}

function sumsByRow(sizes: FillerSizes): ReadonlyMap<number, Sum> {
  const { count, entries, tokens, calls, rows, repeats, unused } = sizes;
  const sums = new Map<number, Sum>();
  const isLarger = (a: number, b: number): boolean => compareFillers(sizes, a, b) < 0;
  for (let place = 0; place < count; place++) {
    const [own, stayed, row] = [tokens[place] as number, calls[place] as number, rows[place] as number];
    if (own === 0) continue;
    const entry = place < entries ? place : undefined;
    let sum = sums.get(row);
    if (!sum) {
      sum = { tokens: 0, calls: 0, tokenCalls: 0, times: 0, duplicates: 0, unused: 0, first: place, entry, last: place };
      sums.set(row, sum);
    }
    if (isLarger(place, sum.first)) sum.first = place;
    if (isLarger(sum.last, place)) sum.last = place;
    if (entry !== undefined && (sum.entry === undefined || isLarger(entry, sum.entry))) sum.entry = entry;
    sum.tokens += own;
    sum.calls = Math.max(sum.calls, stayed);
    sum.tokenCalls += own * stayed;
    sum.times += 1;
    sum.duplicates += repeats[place] as number;
    sum.unused += unused[place] as number;
  }
  return sums;
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
