import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { move } from '../../state';
import type { List } from './useList';

type Scroller = Pick<Virtualizer<HTMLDivElement, Element>, 'scrollToIndex'>;

/** The selected commit's place in the list (-1 if it is not listed), and a function that selects the commit at a place. */
export interface CommitSelection {
  readonly place: number;
  readonly selectAt: (place: number) => void;
}

/** Keeps the selection of the address in view, and selects commits by their place in the list. */
export function useSelection(list: List, selected: ContextId | undefined, scroller: Scroller): CommitSelection {
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
