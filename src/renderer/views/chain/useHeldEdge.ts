import { useLayoutEffect, useRef } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { rowHeight } from './Lanes';
import type { List } from './useList';

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
