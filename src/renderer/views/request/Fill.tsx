import 'uplot/dist/uPlot.min.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import UPlot from 'uplot';
import { basis, say, unexplained } from '../../parts';
import { type ShownSeries, useShownTheme } from '../../state';
import type { CallMark } from './calls';
import { layers, type Stack, stackOf, topOf, unrecorded } from './fill';

const height = 168;
/** The greatest width of a column in pixels. */
const maxColumnWidth = 48;
/** The width of a column, as a share of the distance between two columns. */
const columnShare = 0.92;
/** Columns below this width in pixels have no gap. */
const narrowColumn = 8;

interface FillProps {
  readonly series: ShownSeries;
  readonly marks: ReadonlyMap<string, CallMark>;
  readonly chosen: string;
  readonly onChoose: (requestId: string) => void;
}

/** The context window by call, stacked by kind of content up to the counted total. Pointing shows the figures of a call; a click opens it. */
export function Fill({ series, marks, chosen, onChoose }: FillProps) {
  const stack = useMemo(() => stackOf(series), [series]);
  // A kind that no call contains is omitted.
  const filled = useMemo(
    () => layers.flatMap((layer, at) => (stack.tokens.some((tokens) => (tokens[at] ?? 0) > 0) ? [{ ...layer, at }] : [])),
    [stack],
  );
  const [pointed, setPointed] = useState<number>();
  const at = pointed ?? stack.ids.indexOf(chosen);
  const tokens = stack.tokens[at];
  const counted = stack.counted[at] ?? null;
  const window = stack.windows[at] ?? null;
  return (
    <section className="fill-what" aria-label="Context window by call">
      <Chart stack={stack} isPart={series.isPart} marks={marks} chosen={stack.ids.indexOf(chosen)} onPoint={setPointed} onChoose={onChoose} />
      {!tokens && <p className="shares-words wrap small fill-words muted">The chart leaves out calls beside the conversation.</p>}
      {tokens && (
        <p className="shares-words wrap small fill-words" aria-live="off">
          {!series.isPart && <b>Call {at + 1}</b>}
          {marks.get(stack.ids[at] ?? '')?.miss && <span className="call-miss">cache miss</span>}
          {marks.get(stack.ids[at] ?? '')?.model !== undefined && <span>another model</span>}
          {filled.map(({ at: layer, name, color }) => (
            <span key={name} className={tokens[layer] ? '' : 'faint'} title={layer === unrecorded ? unexplained : basis[stack.basis]}>
              <i
                className={layer === unrecorded ? 'dot hatched' : 'dot'}
                style={{ background: layer === unrecorded ? undefined : `var(${color})` }}
              />{' '}
              {name} {tokens[layer] ? `≈ ${say.compact(tokens[layer])}` : 'none'}
            </span>
          ))}
          <span title={counted === null ? basis.notRecorded : `${basis.counted}: the input of the call`}>
            {counted === null ? 'count not recorded' : <i className="fill-line" />}
            {counted !== null && ` ${say.exact(counted)} counted`}
            {counted !== null && window !== null && `, ${say.percent(counted / window)}`}
          </span>
        </p>
      )}
    </section>
  );
}

interface ChartProps {
  readonly stack: Stack;
  /** Set if the chart begins after the first call, so that calls have no numbers yet. */
  readonly isPart: true | undefined;
  readonly marks: ReadonlyMap<string, CallMark>;
  /** The place of the selected call. */
  readonly chosen: number;
  readonly onPoint: (at: number | undefined) => void;
  readonly onChoose: (requestId: string) => void;
}

function Chart({ stack, isPart, marks, chosen, onPoint, onChoose }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const now = useRef({ stack, isPart, marks, chosen, onPoint, onChoose });
  now.current = { stack, isPart, marks, chosen, onPoint, onChoose };
  const theme = useShownTheme();

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new theme needs new colors
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const made = new UPlot(optionsFor(element, now), plotData(stack), element);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      // The observer also fires at its start, when the chart has its size.
      if (element.clientWidth !== made.width) made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    const choose = () => {
      const at = made.cursor.idx;
      const id = typeof at === 'number' ? now.current.stack.ids[at] : undefined;
      if (id !== undefined) now.current.onChoose(id);
    };
    made.over.addEventListener('click', choose);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [stack, marks, theme]);
  const marked = useRef(chosen);
  useEffect(() => {
    if (marked.current !== chosen) plot.current?.redraw(false);
    marked.current = chosen;
  }, [chosen]);

  const last = stack.counted.at(-1);
  return (
    <div
      ref={frame}
      className="fill-chart"
      role="img"
      aria-label={`Tokens of ${say.plural(stack.ids.length, 'call')} by kind${last == null ? '' : `, ${say.exact(last)} counted at the last`}`}
    />
  );
}

/** Highest layer first, so that each lower layer is drawn over it. Calls are numbered from 1. */
const plotData = ({ ids, heights, counted }: Stack): UPlot.AlignedData =>
  [ids.map((_, at) => at + 1), ...heights.toReversed().map((layer) => [...layer]), [...counted]] as UPlot.AlignedData;

/** Stripes for unrecorded tokens. */
function hatch(ground: string, stripe: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = 6;
  tile.height = 6;
  const context = tile.getContext('2d');
  if (!context) return ground;
  context.fillStyle = ground;
  context.fillRect(0, 0, 6, 6);
  context.strokeStyle = stripe;
  context.stroke(new Path2D('M-6 9 6 -3M0 9 12 -3'));
  return context.createPattern(tile, 'repeat') ?? ground;
}

/** Draws the columns of the calls as rectangles on whole pixels: the paths of the chart library take 0.2 s in a long session. */
function drawColumns(plot: UPlot, { tokens, heights }: Stack, fills: readonly (CanvasPattern | string)[]): void {
  const { ctx } = plot;
  const most = (maxColumnWidth * devicePixelRatio) / 2;
  const room = plot.valToPos(2, 'x', true) - plot.valToPos(1, 'x', true);
  // Narrow columns touch: a gap that is rounded to whole pixels would show between some of them only.
  const half = Math.min(most, (room * (room < narrowColumn ? 1 : columnShare)) / 2);
  const edges = tokens.map((_, at) => {
    const middle = plot.valToPos(at + 1, 'x', true);
    return [Math.round(middle - half), Math.max(1, Math.round(middle + half) - Math.round(middle - half))] as const;
  });
  ctx.save();
  fills.forEach((fill, layer) => {
    ctx.fillStyle = fill;
    edges.forEach(([left, width], at) => {
      const size = tokens[at]?.[layer] ?? 0;
      if (size === 0) return;
      const height = heights[layer]?.[at] ?? 0;
      const [top, foot] = [Math.round(plot.valToPos(height, 'y', true)), Math.round(plot.valToPos(height - size, 'y', true))];
      ctx.fillRect(left, top, width, foot - top);
    });
  });
  ctx.restore();
}

function optionsFor(element: HTMLElement, now: { readonly current: ChartProps }): UPlot.Options {
  const styles = getComputedStyle(element);
  const color = (name: string): string => styles.getPropertyValue(name).trim();
  const axis = { stroke: color('--muted'), font: `11px ${color('--font')}`, grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
  /** The axis extends a little beyond the calls; ticks there stay empty. */
  const callNumber = (tick: number): string => {
    const { isPart, stack } = now.current;
    const { ids } = stack;
    return !isPart && tick >= 1 && tick <= ids.length ? String(tick) : '';
  };
  const ground = color(layers.at(-1)?.color ?? '--line');
  const stripes = hatch(ground, color('--hatch'));
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: (_, least, most) => [least - 0.6, most + 0.6] },
      y: { range: (_, __, most) => [0, topOf(most, now.current.stack.limit)] },
    },
    axes: [
      {
        ...axis,
        size: 22,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000],
        grid: { show: false },
        values: (_, ticks) => ticks.map(callNumber),
      },
      { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => say.compact(Math.round(tick))) },
    ],
    series: [
      {},
      // The columns are drawn by `drawColumns`; the layers are series for the scale.
      ...layers.map((): UPlot.Series => ({ paths: () => null, points: { show: false } })),
      { stroke: color('--text'), width: 1.5, points: { show: now.current.stack.ids.length < 40, size: 4, fill: color('--text') } },
    ],
    hooks: {
      drawSeries: [
        (plot, series) => {
          const fills = layers.map(({ color: name }, layer) => (layer === unrecorded ? stripes : color(name)));
          if (series === 1) drawColumns(plot, now.current.stack, fills);
        },
      ],
      setCursor: [
        (plot) => {
          const at = plot.cursor.idx;
          now.current.onPoint(typeof at === 'number' && (plot.cursor.left ?? -1) >= 0 ? at : undefined);
        },
      ],
      draw: [
        (plot) => {
          const { stack, marks, chosen } = now.current;
          drawMarks(plot, stack, marks, { miss: color('--danger'), model: color('--text') });
          for (const cut of stack.cuts) line(plot, cut + 0.5, color('--summary'), [2, 3]);
          if (stack.limit !== null) limitLine(plot, stack.limit, color('--danger'), color('--font'));
          if (chosen >= 0) line(plot, chosen + 1, color('--accent'), []);
        },
      ],
    },
  };
}

/** Marks at the top of the chart: a triangle for a cache miss, a dashed line for another model. */
function drawMarks(
  plot: UPlot,
  { ids }: Stack,
  marks: ReadonlyMap<string, CallMark>,
  colors: { readonly miss: string; readonly model: string },
): void {
  const { ctx, bbox } = plot;
  const size = 4 * devicePixelRatio;
  ids.forEach((id, at) => {
    const mark = marks.get(id);
    if (mark?.model !== undefined) line(plot, at + 0.5, colors.model, [1, 3]);
    if (!mark?.miss) return;
    const x = Math.round(plot.valToPos(at + 1, 'x', true));
    ctx.save();
    ctx.fillStyle = colors.miss;
    ctx.fill(new Path2D(`M${x - size} ${bbox.top}H${x + size}L${x} ${bbox.top + size * 1.6}`));
    ctx.restore();
  });
}

function line(plot: UPlot, number: number, color: string, dash: number[]): void {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(number, 'x', true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
  ctx.stroke(new Path2D(`M${x} ${bbox.top}v${bbox.height}`));
  ctx.restore();
}

function limitLine(plot: UPlot, limit: number, color: string, font: string): void {
  const { ctx, bbox } = plot;
  const isAbove = limit > (plot.scales.y?.max ?? limit);
  const y = isAbove ? bbox.top : Math.round(plot.valToPos(limit, 'y', true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  if (!isAbove) ctx.stroke(new Path2D(`M${bbox.left} ${y}h${bbox.width}`));
  ctx.textAlign = 'left';
  ctx.font = `${11 * devicePixelRatio}px ${font}`;
  ctx.fillText(
    isAbove ? `Window: ${say.exact(limit)}, above this chart` : `Window: ${say.exact(limit)}`,
    bbox.left + 6 * devicePixelRatio,
    // Placed above the chart, so that no grid line crosses the text.
    y + (isAbove ? -3 : 14) * devicePixelRatio,
  );
  ctx.restore();
}
