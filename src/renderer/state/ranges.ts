import { useSyncExternalStore } from 'react';
import { coalesced } from './coalesced';

/** One page of a list, by the name that its procedure gives the items. `total` is the length of the whole list. */
export type RangePage<T> = { readonly total: number } & (
  | { readonly items: readonly T[] }
  | { readonly rows: readonly T[] }
  | { readonly entries: readonly T[] }
);

const itemsOf = <T>(page: RangePage<T>): readonly T[] => ('items' in page ? page.items : 'rows' in page ? page.rows : page.entries);

/** A long list that is loaded from the engine in pages, as they come into view. */
export interface Ranges<T> {
  /** The length of the list; undefined until the first page has arrived. */
  total(): number | undefined;
  at(index: number): T | undefined;
  /** Loads the pages with the items from `from` to `to` (exclusive), unless they are loaded or loading. */
  need(from: number, to: number): void;
  /** The error of the last page that failed, until `retry`. */
  problem(): unknown;
  retry(): void;
  /**
   * Reloads the list: the whole list if it was complete, else the most recently needed pages. The old items stay until all new items have arrived. A
   * call during a reload causes one more reload, after a pause as long as the first reload took.
   */
  renew(): void;
  subscribe(listener: () => void): () => void;
  /** A number that changes whenever `at`, `total` or `problem` may return something else. */
  version(): number;
}

const pagesRenewed = 8;
/** Milliseconds between a reload that failed and the next one. */
const failedRestMs = 1_000;

/** A list loaded by `load(offset, limit)` in pages of `pageSize` items, at most `together` neighbors in one call. */
export function createRanges<T>(pageSize: number, load: Load<T>, together = 1): Ranges<T> {
  const pages = new Map<number, readonly T[] | 'loading' | 'failed'>();
  const listeners = new Set<() => void>();
  let total: number | undefined;
  let problem: unknown;
  let version = 0;
  /** True if a reload was requested before the first page arrived, because that page may be outdated. */
  let isOutdated = false;

  const changed = () => {
    version++;
    for (const listener of listeners) listener();
  };

  const loadMissing = async (neighbors: readonly number[]) => {
    for (const page of neighbors) pages.set(page, 'loading');
    try {
      const found = await loadNeighbors(pageSize, load, neighbors);
      total = found.total;
      for (const [page, items] of found.pages) pages.set(page, items);
    } catch (error) {
      problem = error;
      for (const page of neighbors) pages.set(page, 'failed');
    }
    changed();
    if (isOutdated && total !== undefined) {
      isOutdated = false;
      renew();
    }
  };

  /** The most recently needed range. A reload may drop a page of it. */
  let wanted = { from: 0, to: 0 };
  const need = (from: number, to: number) => {
    wanted = { from, to };
    const end = total === undefined ? to : Math.min(to, total);
    const missing = pagesIn(from, end, pageSize).filter((page) => !pages.has(page));
    for (const neighbors of neighborsIn(missing, together)) void loadMissing(neighbors);
  };

  const reload = async () => {
    const loaded = [...pages].flatMap(([page, state]) => (Array.isArray(state) ? [page] : []));
    const isComplete = total !== undefined && loaded.length * pageSize >= total;
    const fresh = await (isComplete ? loadAll(pageSize, load, together, loaded) : loadPages(pageSize, load, together, loaded.slice(-pagesRenewed)));
    pages.clear();
    for (const [page, items] of fresh.pages) pages.set(page, items);
    total = fresh.total ?? total;
    changed();
    need(wanted.from, wanted.to);
  };

  const renew = coalesced(reload, { restMs: (ms = failedRestMs) => ms });
  return {
    total: () => total,
    at: (index) => {
      const page = pages.get(Math.floor(index / pageSize));
      return Array.isArray(page) ? (page as readonly T[])[index % pageSize] : undefined;
    },
    need,
    problem: () => problem,
    retry: () => {
      problem = undefined;
      for (const [page, state] of pages) if (state === 'failed') pages.delete(page);
      changed();
      need(wanted.from, wanted.to);
    },
    renew: () => {
      if (total !== undefined) renew();
      else if (pages.size > 0) isOutdated = true;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    version: () => version,
  };
}

function pagesIn(from: number, end: number, pageSize: number): readonly number[] {
  const first = Math.floor(Math.max(0, from) / pageSize);
  return Array.from({ length: Math.max(0, Math.ceil(end / pageSize) - first) }, (_, place) => first + place);
}

/** Groups of numbers that follow each other, each of at most `most`. */
function neighborsIn(numbers: readonly number[], most: number): readonly number[][] {
  const groups: number[][] = [];
  for (const number of numbers) {
    const last = groups.at(-1);
    if (last && last.length < most && last.at(-1) === number - 1) last.push(number);
    else groups.push([number]);
  }
  return groups;
}

type Load<T> = (offset: number, limit: number) => Promise<RangePage<T>>;
type Loaded<T> = { readonly pages: Map<number, readonly T[]>; readonly total: number | undefined };

/** Loads pages that follow each other in one call. */
async function loadNeighbors<T>(pageSize: number, load: Load<T>, neighbors: readonly number[]) {
  const [first = 0] = neighbors;
  const result = await load(first * pageSize, neighbors.length * pageSize);
  const itemsIn = (place: number): readonly T[] => itemsOf(result).slice(place * pageSize, (place + 1) * pageSize);
  return { total: result.total, pages: neighbors.map((page, place) => [page, itemsIn(place)] as const) };
}

/** Loads the given pages, except for pages behind the new end of the list. */
async function loadPages<T>(pageSize: number, load: Load<T>, together: number, wanted: readonly number[]): Promise<Loaded<T>> {
  const pages = new Map<number, readonly T[]>();
  let total: number | undefined;
  for (const neighbors of neighborsIn(wanted, together)) {
    const found = await loadNeighbors(pageSize, load, neighbors);
    total = found.total;
    for (const [page, items] of found.pages) pages.set(page, items);
  }
  for (const page of [...pages.keys()]) if (total !== undefined && page * pageSize >= total) pages.delete(page);
  return { pages, total };
}

/** Loads the given pages and every page that the list has gained. */
async function loadAll<T>(pageSize: number, load: Load<T>, together: number, known: readonly number[]): Promise<Loaded<T>> {
  const { pages, total = 0 } = await loadPages(
    pageSize,
    load,
    together,
    known.toSorted((a, b) => a - b),
  );
  const gained = Array.from({ length: Math.max(0, Math.ceil(total / pageSize) - known.length) }, (_, place) => known.length + place);
  const more = await loadPages(pageSize, load, together, gained);
  return { pages: new Map([...pages, ...more.pages]), total: more.total ?? total };
}

/** Renders the component again whenever a page of the list arrives. */
export function useRanges<T>(ranges: Ranges<T>): Ranges<T> {
  useSyncExternalStore(ranges.subscribe, ranges.version);
  return ranges;
}
