import { useEffect, useRef } from 'react';
import type { GraphRow } from '../../../core/contract/index.js';
import { useUi } from '../../state';
import type { ChainRow } from './rows';

interface MinimapProps {
  readonly list: readonly ChainRow[];
  readonly rowAt: (at: number) => GraphRow | undefined;
  /** The part of the list that is in view, from 0 to 1. */
  readonly from: number;
  readonly to: number;
  readonly onScroll: (point: number) => void;
}

const width = 44;

/** The whole chain at a glance: how full the context was, where it was compacted, where something failed. */
export function Minimap({ list, rowAt, from, to, onScroll }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useUi((ui) => ui.theme);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colors that are read from the page
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const paint = () => draw(element, list, rowAt);
    const observer = new ResizeObserver(paint);
    observer.observe(element);
    paint();
    return () => observer.disconnect();
  }, [list, rowAt, theme]);

  const scrollTo = (event: React.PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    onScroll((event.clientY - box.top) / box.height);
  };
  return (
    // The list beside it does all of this by keyboard.
    <div
      className="minimap"
      aria-hidden
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        scrollTo(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && scrollTo(event)}
    >
      <canvas ref={canvas} />
      <div className="minimap-window" style={{ top: `${from * 100}%`, height: `${Math.max(2, (to - from) * 100)}%` }} />
    </div>
  );
}

function draw(element: HTMLCanvasElement, list: readonly ChainRow[], rowAt: (at: number) => GraphRow | undefined): void {
  const context = element.getContext('2d');
  const height = element.clientHeight;
  if (!context || height === 0) return;
  const ratio = devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = height * ratio;
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const rows = list.map((item) => rowAt(item.at));
  const most = rows.reduce((max, row) => Math.max(max, row?.contextTokens ?? 0), 1);
  // Few rows do not fill the height: each gets at most as much as it has in the list.
  const tall = Math.min(height / Math.max(1, rows.length), 4);
  rows.forEach((row, n) => {
    if (!row) return;
    const y = n * tall;
    context.fillStyle = color('--line-strong');
    context.fillRect(4, y, Math.max(1, (row.contextTokens / most) * (width - 8)), Math.max(0.6, tall - 0.5));
    if (row.commit.type === 'compaction') {
      context.fillStyle = color('--system');
      context.fillRect(2, y, width - 4, Math.max(1.5, tall / 2));
    }
    if (row.errors > 0) {
      context.fillStyle = color('--danger');
      context.fillRect(width - 5, y, 3, Math.max(1.5, tall));
    }
    if (row.tipOf !== undefined || row.forked) {
      context.fillStyle = color('--accent');
      context.fillRect(0, y, 3, Math.max(2, tall));
    }
  });
}
