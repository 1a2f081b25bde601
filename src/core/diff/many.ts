import { type Alignable, align } from './align.js';

/** A row of several lists side by side: the index of an entry in each list, or null for a list without one. */
export interface SideRow {
  readonly cells: readonly (number | null)[];
  /** Every list has the entry, with equal content. */
  readonly isSame: boolean;
}

/**
 * Several lists side by side, each aligned with the first: a row for every entry of the first list, and rows between them for
 * additional entries of the others. Every entry of every list is in exactly one row, in the order of its list.
 */
export function alignMany(lists: readonly (readonly Alignable[])[]): SideRow[] {
  const [first = [], ...others] = lists;
  /** For each other list: its additional entries before each entry of the first list, and the entry aligned with it. */
  const placed = others.map((list) => {
    const before = Array.from({ length: first.length + 1 }, (): number[] => []);
    const beside = new Array<number | null>(first.length).fill(null);
    const same = new Set<number>();
    for (const { op, aStart, aCount, bStart, bCount } of align(first, list)) {
      for (let at = 0; at < bCount; at++) {
        if (op === 'added') before[aStart]?.push(bStart + at);
        else beside[aStart + at] = bStart + at;
      }
      if (op === 'same') for (let at = 0; at < aCount; at++) same.add(aStart + at);
    }
    return { before, beside, same };
  });
  return Array.from({ length: first.length + 1 }, (_, at): SideRow[] => {
    const more = Math.max(0, ...placed.map(({ before }) => before[at]?.length ?? 0));
    const added = Array.from(
      { length: more },
      (_row, n): SideRow => ({
        cells: [null, ...placed.map(({ before }) => before[at]?.[n] ?? null)],
        isSame: false,
      }),
    );
    if (at === first.length) return added;
    return [...added, { cells: [at, ...placed.map(({ beside }) => beside[at] ?? null)], isSame: placed.every(({ same }) => same.has(at)) }];
  }).flat();
}
