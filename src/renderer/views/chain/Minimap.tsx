import { type Canvas, useDrawing, type VirtualRows } from '../../parts';
import type { ChainRow, RowShape } from './rows';

interface MinimapProps {
  readonly list: readonly ChainRow[];
  /** Facts about every row, by its position in the chain. */
  readonly rows: readonly RowShape[];
  readonly virtual: VirtualRows;
}

/** The largest height of a row, in pixels. */
const tallest = 4;

/** An overview of the whole chain: context size, compactions and errors. */
export function Minimap({ list, rows, virtual }: MinimapProps) {
  const { ref } = useDrawing((canvas, width) => draw(canvas, width, list, rows), [list, rows]);
  const length = virtual.getTotalSize() || 1;
  const visible = virtual.scrollRect?.height ?? 0;
  /** The visible part of the list, from 0 to 1. */
  const from = (virtual.scrollOffset ?? 0) / length;
  const to = Math.min(1, from + visible / length);
  const scrollTo = (event: React.PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect();
    virtual.scrollToOffset(((event.clientY - box.top) / box.height) * length - visible / 2);
  };
  return (
    // Mouse only: the list offers the same by keyboard. A short list is as high as its rows, so that rows and viewport have one scale.
    <div className="minimap" aria-hidden>
      <div
        className="minimap-inside"
        style={{ height: `min(100%, ${list.length * tallest}px)` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          scrollTo(event);
        }}
        onPointerMove={(event) => event.buttons === 1 && scrollTo(event)}
      >
        <canvas ref={ref} />
        <div className="minimap-window" style={{ top: `${from * 100}%`, height: `${Math.max(2, (to - from) * 100)}%` }} />
      </div>
    </div>
  );
}

function draw({ context, height, color }: Canvas, width: number, list: readonly ChainRow[], shapes: readonly RowShape[]): void {
  const rows = list.map((item) => shapes[item.at]);
  const most = rows.reduce((max, row) => Math.max(max, row?.tokens ?? 0), 1);
  // If several rows share a line of pixels, a mark is fainter according to its share of the line.
  const tall = Math.min(height / Math.max(1, rows.length), tallest);
  const perLine = Math.max(1, Math.ceil(1 / tall));
  for (let at = 0; at < rows.length; at += perLine) {
    const line = rows.slice(at, at + perLine).filter((row) => row !== undefined);
    const y = at * tall;
    const deep = Math.max(1, tall * perLine);
    const mark = (name: string, x: number, wide: number, count: number, thick = deep) => {
      if (count === 0) return;
      context.globalAlpha = Math.max(0.25, count / line.length);
      context.fillStyle = color(name);
      context.fillRect(x, y, wide, thick);
      context.globalAlpha = 1;
    };
    const fullest = line.reduce((max, row) => Math.max(max, row.tokens), 0);
    context.fillStyle = color('line-strong');
    context.fillRect(4, y, Math.max(1, (fullest / most) * (width - 8)), deep > 2 ? deep - 0.5 : deep);
    mark('system', 2, width - 4, line.filter((row) => row.compaction).length, Math.max(1.5, deep / 2));
    mark('danger', width - 5, 3, line.filter((row) => row.errors).length);
    mark('accent', 0, 3, line.filter((row) => row.end).length);
  }
}
