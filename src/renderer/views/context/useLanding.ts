import type { Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';

/** The block is in place when it has not moved for this many frames. */
const calmFrames = 12;
/** Longest time that a landing corrects itself, in milliseconds: content that arrives later no longer moves the list. */
const longest = 4_000;
/** What a person does to scroll ends the landing. */
const ownScrolling = ['wheel', 'pointerdown', 'touchstart', 'keydown'] as const;

/**
 * Scrolls a block exactly to the top of the list. Heights are estimates until the blocks around the target are drawn and
 * measured, and change again when their content arrives. So the position is corrected on every frame until it is calm.
 */
export function useLanding(scroller: React.RefObject<HTMLElement | null>, list: Virtualizer<HTMLDivElement, Element>): (block: number) => void {
  const running = useRef<() => void>(undefined);
  useEffect(() => () => running.current?.(), []);
  return useCallback(
    (block: number) => {
      running.current?.();
      const element = scroller.current;
      list.scrollToIndex(block, { align: 'start' });
      if (!element) return;
      const began = performance.now();
      let calm = 0;
      let frame = 0;
      const stop = (): void => {
        cancelAnimationFrame(frame);
        for (const event of ownScrolling) element.removeEventListener(event, stop);
      };
      const step = (): void => {
        const found = element.querySelector(`[data-index="${block}"]`);
        // A prompt counts itself, not a line about the call that stands above it.
        const target = found?.querySelector('.entry-text.role-user') ?? found;
        const off = target ? target.getBoundingClientRect().top - element.getBoundingClientRect().top - element.clientTop : undefined;
        if (off === undefined) list.scrollToIndex(block, { align: 'start' });
        else if (Math.abs(off) >= 1) element.scrollTop += off;
        const isCalm = off !== undefined && Math.abs(off) < 1 && element.getAttribute('aria-busy') !== 'true';
        calm = isCalm ? calm + 1 : 0;
        if (calm < calmFrames && performance.now() - began < longest) frame = requestAnimationFrame(step);
        else stop();
      };
      for (const event of ownScrolling) element.addEventListener(event, stop, { passive: true });
      running.current = stop;
      frame = requestAnimationFrame(step);
    },
    [scroller, list],
  );
}
