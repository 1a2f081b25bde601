import { type RefObject, useEffect, useState } from 'react';

/** The current width of an element in CSS pixels; 0 before layout. */
export function useWidth(ref: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}

/** A canvas that is ready to be drawn on, in the units and colors of the page. */
export interface Canvas {
  readonly context: CanvasRenderingContext2D;
  /** Pixels of the screen per unit. */
  readonly ratio: number;
  readonly height: number;
  /** The value of a color of the theme: `danger`. */
  color(name: string): string;
}

/** Clears a canvas of this width and of the height that the page gives it. Undefined while it has no height. */
export function clearCanvas(element: HTMLCanvasElement, width: number): Canvas | undefined {
  const context = element.getContext('2d');
  const height = element.clientHeight;
  if (!context || height === 0) return undefined;
  const ratio = devicePixelRatio || 1;
  element.width = Math.round(width * ratio);
  element.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  return { context, ratio, height, color: (name) => style.getPropertyValue(`--${name}`) };
}
