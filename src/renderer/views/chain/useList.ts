import { useCallback, useMemo } from 'react';
import type { ContextId, GraphRow } from '../../../core/contract/index.js';
import { type Ranges, useChain, useChainMap, useRested, wholeChainLimit } from '../../state';
import {
  branchesOf,
  type ChainRow,
  filterRows,
  foldRows,
  linksOf,
  type RowShape,
  rowsOfBranches,
  type SubagentLink,
  shapesOf,
  shapesOfMap,
} from './rows';

export interface ListQuery {
  readonly project: string;
  readonly session: string | undefined;
  readonly words: string;
  /** The ends of the branches to show; empty for all. */
  readonly branches: readonly ContextId[];
  /** True to show long runs without branches as one row, except for opened runs. */
  readonly fold: boolean;
  readonly opened: ReadonlySet<number>;
}

/** The listed rows, by their position in the list. */
export interface List {
  readonly rows: Ranges<GraphRow>;
  /** Changes whenever `rows` changes. */
  readonly version: number;
  readonly total: number | undefined;
  /** True if the chain is short enough to be loaded completely. */
  readonly whole: boolean;
  /** The rows after filtering and folding; undefined until enough of the chain is loaded. */
  readonly shown: readonly ChainRow[] | undefined;
  /** Facts about every row of the chain; undefined until enough of it is loaded. */
  readonly shapes: readonly RowShape[] | undefined;
  /** The branches of the chain, if it is loaded completely. */
  readonly branches: readonly { readonly tip: ContextId; readonly name: string }[];
  readonly links: readonly SubagentLink[];
  readonly count: number;
  /** Whether the rows with the typed words are not known yet. */
  readonly isFiltering: boolean;
  /** Whether more rows than the listed ones have the words. */
  readonly hasMore: boolean;
  readonly itemAt: (place: number) => ChainRow;
  /** The commit at a position; undefined for a folded run or a row that is not loaded. */
  readonly commitAt: (place: number) => ContextId | undefined;
  /** The position of a commit, or -1 if it is not listed. */
  readonly placeOf: (id: ContextId | undefined) => number;
  /** Number of lanes, and tokens of the largest context, among the loaded rows. */
  readonly lanes: number;
  readonly most: number;
}

/** The list of a project's commits, or of one session's, newest first. */
export function useList({ project, session, words, branches, fold, opened }: ListQuery): List {
  const { rows, version } = useChain(project, session);
  const total = rows.total();
  const whole = total !== undefined && total <= wholeChainLimit;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the content of `rows` changes with its version
  const loaded = useMemo(() => (whole ? allOf(rows) : undefined), [rows, version, whole]);
  const rested = useRested(words, restMs);
  const map = useChainMap(project, session, total === undefined || whole ? null : rested);
  const shapes = useMemo(() => (loaded ? shapesOf(loaded) : map ? shapesOfMap(map) : undefined), [loaded, map]);
  const shown = useMemo(() => {
    if (!shapes) return undefined;
    if (branches.length > 0 && loaded) {
      const own = rowsOfBranches(loaded, branches);
      const found = words === '' ? undefined : new Set(filterRows(loaded, words).map(({ at }) => at));
      return found ? own.filter(({ at }) => found.has(at)) : own;
    }
    if (words !== '') return loaded ? filterRows(loaded, words) : map?.places?.map((at): ChainRow => ({ kind: 'commit', at }));
    return fold ? foldRows(shapes, opened) : shapes.map((_, at): ChainRow => ({ kind: 'commit', at }));
  }, [shapes, loaded, map, words, branches, fold, opened]);
  const ends = useMemo(() => (loaded ? branchesOf(loaded) : []), [loaded]);
  const links = useMemo(
    () => (loaded && shown && words === '' && branches.length === 0 ? linksOf(loaded, shown) : []),
    [loaded, shown, words, branches],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the content of `rows` changes with its version
  const [lanes, most] = useMemo(() => {
    let [widest, tokens] = [1, 1];
    for (let n = 0; n < (total ?? 0); n++) {
      const row = rows.at(n);
      if (!row) continue;
      widest = Math.max(widest, row.width);
      tokens = Math.max(tokens, row.contextTokens);
    }
    return [widest, tokens];
  }, [rows, version, total]);

  const isFiltering = words !== '' && !whole && map?.words !== words;
  const hasMore = words !== '' && map?.hasMore === true;
  const count = shown?.length ?? total ?? 0;
  const itemAt = useCallback((place: number): ChainRow => shown?.[place] ?? { kind: 'commit', at: place }, [shown]);
  const rowAt = useCallback(
    (place: number): GraphRow | undefined => {
      const item = itemAt(place);
      return item.kind === 'commit' ? rows.at(item.at) : undefined;
    },
    [itemAt, rows],
  );
  const commitAt = useCallback((place: number) => rowAt(place)?.commit.id, [rowAt]);
  const placeOf = useCallback(
    (id: ContextId | undefined): number => {
      if (!id) return -1;
      for (let place = 0; place < count; place++) if (commitAt(place) === id) return place;
      // A fork that was answered has the row of its answer.
      for (let place = 0; place < count; place++) if (rowAt(place)?.fork?.commit === id) return place;
      return -1;
    },
    [commitAt, rowAt, count],
  );
  return { rows, version, total, whole, shown, shapes, branches: ends, links, count, isFiltering, hasMore, itemAt, commitAt, placeOf, lanes, most };
}

/** Milliseconds after the last key press before a long chain is filtered. */
const restMs = 200;

/** Every row of the chain; undefined while a row is missing. */
function allOf(rows: Ranges<GraphRow>): readonly GraphRow[] | undefined {
  const all: GraphRow[] = [];
  for (let n = 0; n < (rows.total() ?? 0); n++) {
    const row = rows.at(n);
    if (!row) return undefined;
    all.push(row);
  }
  return all;
}
