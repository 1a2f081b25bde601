import type { ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { UsageFiller, UsageLargest } from '../contract/index.js';
import { compareFillers, type FillerSizes, fillerSizes, placesFrom } from './fillers.js';
import { numberList } from './number-list.js';

/** The files, groups and other content that filled most of the window of a context. @throws NOT_FOUND for an unknown commit. */
export const usageLargest = (chain: ReadChain, id: ContextId, most?: number): UsageLargest[] => largestRows(fillerSizes(chain, id), most);

/** Adds up fillers by file and by group, the largest first. */
export function largestRows(sizes: FillerSizes, most = sizes.count): UsageLargest[] {
  const sums = sumRows(sizes);
  // Entries after the last call are not part of any window yet.
  return placesFrom(sums.tokenCalls, most)
    .filter((row) => sums.at(row).tokenCalls > 0)
    .sort((a, b) => sums.at(b).tokenCalls - sums.at(a).tokenCalls || compareFillers(sizes, sums.at(a).first, sums.at(b).first))
    .slice(0, most)
    .map((row) => {
      const { first: _, entry, last, ...sum } = sums.at(row);
      const smallest = sizes.describe(last);
      const key = entry < 0 ? undefined : sizes.describe(entry).key;
      return { ...shownName(smallest), kind: smallest.kind, ...(key !== undefined && { key }), ...sum };
    });
}

/** The sums of rows. `first`, `entry` and `last` are the places of the largest filler of a row, of its largest entry or -1, and of its smallest filler. */
function sumRows(sizes: FillerSizes) {
  const { count, entries, tokens, calls, rows, repeats, unused } = sizes;
  const known = numberList(count);
  // An object for each of a hundred thousand rows takes longer than everything else.
  const column = (): Float64Array => new Float64Array(count);
  const columns = {
    ...{ tokens: column(), calls: column(), tokenCalls: column(), times: column(), duplicates: column(), unused: column() },
    ...{ first: column(), entry: column(), last: column() },
  };
  const names = Object.keys(columns) as (keyof typeof columns)[];
  const add = (list: Float64Array, row: number, more: number): void => {
    list[row] = (list[row] as number) + more;
  };
  for (let place = 0; place < count; place++) {
    const own = tokens[place] as number;
    if (own === 0) continue;
    const before = known.size();
    const row = known.add(rows[place] as number);
    if (row === before) {
      columns.first[row] = place;
      columns.last[row] = place;
      columns.entry[row] = place < entries ? place : -1;
    } else {
      // Most rows have one filler, so this is seldom.
      if (compareFillers(sizes, place, columns.first[row] as number) < 0) columns.first[row] = place;
      if (compareFillers(sizes, columns.last[row] as number, place) < 0) columns.last[row] = place;
      const entry = columns.entry[row] as number;
      if (place < entries && (entry < 0 || compareFillers(sizes, place, entry) < 0)) columns.entry[row] = place;
    }
    add(columns.tokens, row, own);
    columns.calls[row] = Math.max(columns.calls[row] as number, calls[place] as number);
    add(columns.tokenCalls, row, own * (calls[place] as number));
    add(columns.times, row, 1);
    add(columns.duplicates, row, repeats[place] as number);
    add(columns.unused, row, unused[place] as number);
  }
  return {
    tokenCalls: columns.tokenCalls.subarray(0, known.size()),
    at: (row: number) => Object.fromEntries(names.map((name) => [name, columns[name][row]])) as Record<keyof typeof columns, number>,
  };
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
