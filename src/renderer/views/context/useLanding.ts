import { useCallback, useEffect, useRef } from 'react';
import type { VirtualRows } from '../../parts';

/** A block counts as landed if it has not moved for this many frames. */
const calmFrames = 12;
/** The longest time in milliseconds during which a landing is corrected on every frame. */
const longest = 15_000;
/** Later content may move the block by this many pixels. A larger distance means that something else scrolled the list. */
const farthest = 240;
/** Events after which the landing ends, because the person scrolls. A control that receives the focus also scrolls into view. */
const ownScrolling = ['wheel', 'pointerdown', 'touchstart', 'keydown', 'focusin'] as const;

const offsetOf = (target: Element | Range, element: Element): number =>
  target.getBoundingClientRect().top - element.getBoundingClientRect().top - element.clientTop;

/** The distance that a block must scroll further so that its first highlighted words are in view; 0 if they already are. */
function depthOfHit(block: Element | null, element: Element): number {
  if (!block) return 0;
  for (const range of CSS.highlights?.get('found-here') ?? []) {
    if (!(range instanceof Range) || !block.contains(range.startContainer)) continue;
    const depth = range.getBoundingClientRect().top - block.getBoundingClientRect().top;
    return depth > element.clientHeight * 0.8 ? depth - element.clientHeight * 0.4 : 0;
  }
  return 0;
}

/** The distance of a block from its target position; undefined while it is not drawn. */
function offOf(element: Element, block: number): number | undefined {
  const found = element.querySelector(`[data-index="${block}"]`);
  // For a prompt, measures the prompt itself and not the line about a call above it.
  const target = found?.querySelector('.entry-text.role-user') ?? found;
  return target ? offsetOf(target, element) + depthOfHit(found, element) : undefined;
}

/**
 * Scrolls a block exactly to the top of the list. Heights are estimates until the blocks around the target are drawn and
 * measured, and change again when their content arrives. So the position is corrected on every frame until it is calm, and again
 * whenever the list changes, until the person scrolls.
 */
export function useLanding(scroller: React.RefObject<HTMLElement | null>, list: VirtualRows): (block: number) => void {
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
      // After the block has landed, a large distance means that something else scrolled the list.
      let hasLanded = false;
      const stop = (): void => {
        cancelAnimationFrame(frame);
        held.disconnect();
        for (const event of ownScrolling) element.removeEventListener(event, stopForPerson);
      };
      // The list itself receives the focus when it opens. This does not scroll.
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
