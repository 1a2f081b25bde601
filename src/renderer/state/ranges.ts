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
  subscribe(listener: () => void): () => void;
  /** A number that changes with everything that `at`, `total` and `problem` say. */
  version(): number;
}

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

  return {
    total: () => total,
    at: (index) => {
      const page = pages.get(Math.floor(index / pageSize));
      return Array.isArray(page) ? (page as readonly T[])[index % pageSize] : undefined;
    },
    need: (from, to) => {
      const end = total === undefined ? to : Math.min(to, total);
      for (let page = Math.floor(Math.max(0, from) / pageSize); page * pageSize < end; page++) {
        if (!pages.has(page)) void loadPage(page);
      }
    },
    problem: () => problem,
    retry: () => {
      problem = undefined;
      for (const [page, state] of pages) if (state === 'failed') pages.delete(page);
      changed();
    },
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
