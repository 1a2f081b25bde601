import type { Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';

/** The block is in place when it has not moved for this many frames. */
const calmFrames = 12;
/** Longest time that a landing corrects itself on every frame, in milliseconds. */
const longest = 15_000;
/** Content that arrives after that may move the block by so many pixels. A larger distance is a scroll of somebody else. */
const farthest = 240;
/** What a person does to scroll ends the landing. A control that receives the focus is scrolled into view, too. */
const ownScrolling = ['wheel', 'pointerdown', 'touchstart', 'keydown', 'focusin'] as const;

const offsetOf = (target: Element | Range, element: Element): number =>
  target.getBoundingClientRect().top - element.getBoundingClientRect().top - element.clientTop;

/** How much further a block scrolls so that the first highlighted words in it are in view: 0 if they are anyway. */
function depthOfHit(block: Element | null, element: Element): number {
  if (!block) return 0;
  for (const range of CSS.highlights?.get('found-here') ?? []) {
    if (!(range instanceof Range) || !block.contains(range.startContainer)) continue;
    const depth = range.getBoundingClientRect().top - block.getBoundingClientRect().top;
    return depth > element.clientHeight * 0.8 ? depth - element.clientHeight * 0.4 : 0;
  }
  return 0;
}

/** How far a block is from its place; undefined while it is not drawn. */
function offOf(element: Element, block: number): number | undefined {
  const found = element.querySelector(`[data-index="${block}"]`);
  // A prompt counts itself, not a line about the call that stands above it.
  const target = found?.querySelector('.entry-text.role-user') ?? found;
  return target ? offsetOf(target, element) + depthOfHit(found, element) : undefined;
}

/**
 * Scrolls a block exactly to the top of the list. Heights are estimates until the blocks around the target are drawn and
 * measured, and change again when their content arrives. So the position is corrected on every frame until it is calm, and again
 * whenever the list changes, until the person scrolls.
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
      let began = performance.now();
      let calm = 0;
      let missing = 0;
      let frame = 0;
      // Once the block was in place, a large distance is a scroll that somebody else wants.
      let hasLanded = false;
      const stop = (): void => {
        cancelAnimationFrame(frame);
        held.disconnect();
        for (const event of ownScrolling) element.removeEventListener(event, stopForPerson);
      };
      // The list itself receives the focus when it opens, which scrolls nothing.
      const stopForPerson = (event: Event): void => {
        if (event.type !== 'focusin' || event.target !== element) stop();
      };
      const step = (): void => {
        const off = offOf(element, block);
        missing = off === undefined ? missing + 1 : 0;
        if (hasLanded && (missing > calmFrames || Math.abs(off ?? 0) > farthest)) {
          stop();
          return;
        }
        if (off === undefined && !hasLanded) list.scrollToIndex(block, { align: 'start' });
        else if (off !== undefined && Math.abs(off) >= 1) element.scrollTop += off;
        const isCalm = off !== undefined && Math.abs(off) < 1 && element.getAttribute('aria-busy') !== 'true';
        calm = isCalm ? calm + 1 : 0;
        if (calm < calmFrames && performance.now() - began < longest) frame = requestAnimationFrame(step);
        else hold();
      };
      // The list moves again whenever it measures a block, so one correction is not enough.
      const held = new ResizeObserver(() => {
        if (hasLanded) begin();
      });
      const begin = (): void => {
        cancelAnimationFrame(frame);
        began = performance.now();
        calm = 0;
        frame = requestAnimationFrame(step);
      };
      const hold = (): void => {
        hasLanded = true;
        for (const drawn of element.querySelectorAll('.context-length, .context-length > div')) held.observe(drawn);
      };
      for (const event of ownScrolling) element.addEventListener(event, stopForPerson, { passive: true });
      running.current = stop;
      begin();
    },
    [scroller, list],
  );
}
