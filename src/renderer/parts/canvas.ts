import { type DependencyList, useEffect, useRef, useState } from 'react';
import { useShownTheme } from '../state';

/** A canvas with its width in CSS pixels, 0 before layout. It is drawn again when its size, the theme or what it shows changes. */
export function useDrawing(draw: (canvas: Canvas, width: number) => void, shown: DependencyList) {
  const ref = useRef<HTMLCanvasElement>(null);
  const theme = useShownTheme();
  const [{ width, height }, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new theme changes the colors of the page
  useEffect(() => {
    const canvas = ref.current && width > 0 && height > 0 ? clearCanvas(ref.current, width, height) : undefined;
    if (canvas) draw(canvas, width);
  }, [...shown, width, height, theme]);
  return { ref, width };
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

function clearCanvas(element: HTMLCanvasElement, width: number, height: number): Canvas | undefined {
  const context = element.getContext('2d');
  if (!context) return undefined;
  const ratio = devicePixelRatio || 1;
  element.width = Math.round(width * ratio);
  element.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  return { context, ratio, height, color: (name) => style.getPropertyValue(`--${name}`) };
}
