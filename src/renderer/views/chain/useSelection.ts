import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import type { VirtualRows } from '../../parts';
import { move } from '../../state';
import { rowHeight } from './Lanes';
import type { List } from './useList';

type Scroller = Pick<VirtualRows, 'scrollToIndex'>;

/**
 * Keeps the selection of the address in view. Returns the selected commit's place in the list (-1 if it is not listed), and a function that
 * selects the commit at a place.
 */
export function useSelection(list: List, selected: ContextId | undefined, scroller: Scroller) {
  const { commitAt, itemAt, placeOf } = list;
  const place = useMemo(() => placeOf(selected), [placeOf, selected]);

  // Scrolls the selected commit into view once, as soon as the list contains it.
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (place < 0 || shown.current === selected) return;
    shown.current = selected;
    scroller.scrollToIndex(place, { align: 'auto' });
  }, [place, selected, scroller]);

  /** A position that was selected before its page was loaded. */
  const awaited = useRef<number>(undefined);
  const selectAt = (n: number): void => {
    const id = commitAt(n);
    awaited.current = id === undefined && itemAt(n).kind === 'commit' ? n : undefined;
    if (id !== undefined) move({ commit: id, entry: undefined });
    scroller.scrollToIndex(n, { align: 'auto' });
  };
  useEffect(() => {
    const id = awaited.current === undefined ? undefined : commitAt(awaited.current);
    if (id === undefined) return;
    awaited.current = undefined;
    move({ commit: id, entry: undefined });
  });
  return { place, selectAt };
}

/** Keeps the rows on the screen in place when new commits arrive: the row at the upper edge stays there, unless the list is scrolled to its top. */
export function useHeldEdge(scroller: React.RefObject<HTMLElement | null>, { shown, version, count, commitAt, placeOf }: List): void {
  const edge = useRef<{ readonly id: ContextId; readonly offset: number }>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a changed list can move the rows
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !edge.current || element.scrollTop === 0) return;
    const now = placeOf(edge.current.id);
    if (now >= 0) element.scrollTop = now * rowHeight + edge.current.offset;
  }, [shown, version]);
  useLayoutEffect(() => {
    const element = scroller.current;
    // If no visible row is loaded, there is nothing to hold in place.
    edge.current = undefined;
    if (!element) return;
    const end = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / rowHeight));
    for (let place = Math.floor(element.scrollTop / rowHeight); place < end && !edge.current; place++) {
      const id = commitAt(place);
      if (id !== undefined) edge.current = { id, offset: element.scrollTop - place * rowHeight };
    }
  });
}
