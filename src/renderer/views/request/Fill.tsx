import 'uplot/dist/uPlot.min.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import UPlot from 'uplot';
import type { RequestPoint, RequestRow } from '../../../core/contract/index.js';
import { say } from '../../parts';
import { useShownTheme } from '../../state';
import { layers, type Stack, stackOf, totalOf } from './fill';

const height = 148;
/** Columns that are wider than this say no more than narrower ones. */
const widestColumn = 48;

/** What filled the window, call by call, by cause: point to read it, click to step into the call. */
export function Fill({ series, chosen, onChoose }: { series: readonly RequestPoint[]; chosen: RequestRow; onChoose: (requestId: string) => void }) {
  const stack = useMemo(() => stackOf(series, chosen.agentId), [series, chosen.agentId]);
  // What no call of the conversation holds is not known to be nothing: older records have no system prompt and no tools.
  const filled = useMemo(() => layers.filter(({ cause }) => stack.points.some((point) => point.causes[cause] > 0)), [stack]);
  const [pointed, setPointed] = useState<number>();
  const at = stack.points.findIndex((point) => point.requestId === chosen.requestId);
  const shown = stack.points[pointed ?? at];
  const number = stack.numbers[pointed ?? at];
  return (
    <section className="fill-what" aria-label="What filled the window">
      <header>
        <h3>What filled the window</h3>
        <span className="muted">
          {chosen.agentId ? `subagent ${chosen.agentId}, ` : ''}
          {say.plural(stack.points.length, 'call')}
          {stack.cuts.length > 0 && `, shortened ${stack.cuts.length === 1 ? 'once' : `${say.exact(stack.cuts.length)} times`}`}
        </span>
      </header>
      <Chart stack={stack} chosen={at} onPoint={setPointed} onChoose={onChoose} />
      {shown && (
        <p className="shares-words fill-words" aria-live="off">
          <b>Call {number}</b>
          {filled.map(({ cause, name, color }) => (
            <span key={cause} className={shown.causes[cause] ? '' : 'faint'}>
              <i className="dot" style={{ background: `var(${color})` }} /> {name} {say.compact(shown.causes[cause])}
            </span>
          ))}
          <span title="Estimated from the bytes of each part">{say.tokens(totalOf(shown))}</span>
          {shown.counted !== null && (
            <span title="What the provider counted as read, cached or not">
              <i className="fill-line" /> {say.compact(shown.counted)} counted
            </span>
          )}
        </p>
      )}
    </section>
  );
}

interface ChartProps {
  readonly stack: Stack;
  /** The place of the call that is looked at. */
  readonly chosen: number;
  readonly onPoint: (at: number | undefined) => void;
  readonly onChoose: (requestId: string) => void;
}

function Chart({ stack, chosen, onPoint, onChoose }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const now = useRef({ stack, chosen, onPoint, onChoose });
  now.current = { stack, chosen, onPoint, onChoose };
  const theme = useShownTheme();

  // biome-ignore lint/correctness/useExhaustiveDependencies: colors are read anew when the theme changes
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const made = new UPlot(optionsFor(element, now), dataOf(stack), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    const choose = () => {
      const at = made.cursor.idx;
      const point = typeof at === 'number' ? now.current.stack.points[at] : undefined;
      if (point) now.current.onChoose(point.requestId);
    };
    made.over.addEventListener('click', choose);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [stack, theme]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the mark of the chosen call moves
  useEffect(() => plot.current?.redraw(false), [chosen]);

  const last = stack.points.at(-1);
  return (
    <div
      ref={frame}
      className="fill-chart"
      role="img"
      aria-label={`Tokens of ${say.plural(stack.points.length, 'call')} by cause${last ? `, ${say.tokens(totalOf(last))} at the last` : ''}`}
    />
  );
}

/** Highest layer first, so that each lower one is drawn over it. */
const dataOf = ({ numbers, heights, counted }: Stack): UPlot.AlignedData =>
  [[...numbers], ...heights.toReversed().map((layer) => [...layer]), [...counted]] as UPlot.AlignedData;

function optionsFor(element: HTMLElement, now: { readonly current: ChartProps }): UPlot.Options {
  const styles = getComputedStyle(element);
  const color = (name: string): string => styles.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--muted'),
    font: `11px ${color('--font')}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  /** The axis goes on a little beyond the calls that there are. */
  const callNumber = (tick: number): string => {
    const { numbers } = now.current.stack;
    return tick >= (numbers[0] ?? 0) && tick <= (numbers.at(-1) ?? 0) ? String(tick) : '';
  };
  const bars = UPlot.paths.bars?.({ size: [0.92, widestColumn], gap: 0 });
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: (_, least, most) => [least - 0.6, most + 0.6] },
      y: { range: (_, __, most) => [0, Math.max(1, most) * 1.05] },
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
      ...layers
        .toReversed()
        .map(({ color: name }): UPlot.Series => ({ fill: color(name), width: 0, points: { show: false }, ...(bars && { paths: bars }) })),
      { stroke: color('--text'), width: 1.5, points: { show: now.current.stack.points.length < 40, size: 4, fill: color('--text') } },
    ],
    hooks: {
      setCursor: [
        (plot) => {
          const at = plot.cursor.idx;
          now.current.onPoint(typeof at === 'number' && (plot.cursor.left ?? -1) >= 0 ? at : undefined);
        },
      ],
      draw: [
        (plot) => {
          const { stack, chosen } = now.current;
          for (const cut of stack.cuts) line(plot, (stack.numbers[cut] ?? 0) - 0.5, color('--danger'), [2, 3]);
          const number = stack.numbers[chosen];
          if (number !== undefined) line(plot, number, color('--text'), [4, 3]);
        },
      ],
    },
  };
}

function line(plot: UPlot, number: number, color: string, dash: number[]): void {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(number, 'x', true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
