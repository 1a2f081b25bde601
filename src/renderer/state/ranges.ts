import { useSyncExternalStore } from 'react';

export interface Page<T> {
  readonly total: number;
  readonly items: readonly T[];
}

/** A long list on the engine's side that is read in pages, when they come into view. */
export interface Ranges<T> {
  /** Unknown until the first page is there. */
  total(): number | undefined;
  at(index: number): T | undefined;
  /** Asks for the pages that hold `from` up to (not including) `to`, where they are not there or on their way. */
  need(from: number, to: number): void;
  /** The error of the last page that failed, until `retry`. */
  problem(): unknown;
  retry(): void;
  /**
   * Reads again what was read, and what is new where all of it was there; until then it stands as it was, and changes at once.
   * Asked for again meanwhile, it is read once more, after a while as long as the reading took.
   */
  renew(): void;
  subscribe(listener: () => void): () => void;
  /** A number that changes with everything that `at`, `total` and `problem` say. */
  version(): number;
}

const pagesRenewed = 8;

export function createRanges<T>(pageSize: number, load: (offset: number, limit: number) => Promise<Page<T>>): Ranges<T> {
  const pages = new Map<number, readonly T[] | 'loading' | 'failed'>();
  const listeners = new Set<() => void>();
  let total: number | undefined;
  let problem: unknown;
  let version = 0;

  const changed = () => {
    version++;
    for (const listener of listeners) listener();
  };

  const loadPage = async (page: number) => {
    pages.set(page, 'loading');
    try {
      const result = await load(page * pageSize, pageSize);
      total = result.total;
      pages.set(page, result.items);
    } catch (error) {
      problem = error;
      pages.set(page, 'failed');
    }
    changed();
  };

  /** What was asked for last: a page of it may be gone when the list was read again. */
  let wanted = { from: 0, to: 0 };
  const need = (from: number, to: number) => {
    wanted = { from, to };
    const end = total === undefined ? to : Math.min(to, total);
    for (let page = Math.floor(Math.max(0, from) / pageSize); page * pageSize < end; page++) if (!pages.has(page)) void loadPage(page);
  };

  let renewing: 'no' | 'yes' | 'again' = 'no';
  const renewAll = async () => {
    const began = performance.now();
    const read = [...pages].flatMap(([page, state]) => (Array.isArray(state) ? [page] : []));
    const whole = total !== undefined && read.length * pageSize >= total;
    const fresh = new Map<number, readonly T[]>();
    let newTotal = total ?? 0;
    // Of a list that is read as it is scrolled, the pages that were read last.
    const again = whole ? read : read.slice(-pagesRenewed);
    for (let at = 0; at < again.length || (whole && fresh.size * pageSize < newTotal); at++) {
      const page = again[at] ?? fresh.size;
      const result = await load(page * pageSize, pageSize);
      newTotal = result.total;
      fresh.set(page, result.items);
    }
    pages.clear();
    for (const [page, items] of fresh) if (page * pageSize < newTotal) pages.set(page, items);
    total = newTotal;
    changed();
    need(wanted.from, wanted.to);
    return performance.now() - began;
  };
  const renew = () => {
    if (renewing !== 'no' || total === undefined) {
      if (renewing !== 'no') renewing = 'again';
      return;
    }
    renewing = 'yes';
    // What cannot be read now is read with the next change, or by who asks for it.
    void renewAll()
      .catch(() => 1_000)
      .then((took) => new Promise((rested) => setTimeout(rested, took)))
      .then(() => {
        const once = renewing === 'again';
        renewing = 'no';
        if (once) renew();
      });
  };

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
    renew,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    version: () => version,
  };
}

/** Renders again whenever something of the list arrives. */
export function useRanges<T>(ranges: Ranges<T>): Ranges<T> {
  useSyncExternalStore(ranges.subscribe, ranges.version);
  return ranges;
}
