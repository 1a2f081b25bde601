import { useEffect, useMemo, useRef, useState } from 'react';
import type { OutlineRow, PartKind, UsageContext } from '../../core/contract/index.js';
import { useShownTheme } from '../state';
import { type Family, families, familyNames, familyOf, kindNames } from './kinds';
import { compact, exact, percent } from './numbers';
import { useWidth } from './width';

export interface TokenBarProps {
  readonly rows: readonly OutlineRow[];
  /** Numbers of the visible entries, drawn as a bracket below the bar. */
  readonly from: number;
  readonly to: number;
  /** Entry numbers of compactions. */
  readonly seams: readonly number[];
  readonly onJump: (index: number) => void;
}

/** The start of each entry on the bar, from 0 to 1. Hidden entries have no width. */
export function sharesOf(rows: readonly { readonly tokens: number; readonly hidden?: boolean | undefined }[]): readonly number[] {
  const total = rows.reduce((sum, row) => sum + (row.hidden ? 0 : row.tokens), 0) || 1;
  const shares = [0];
  let sum = 0;
  for (const row of rows) {
    sum += row.hidden ? 0 : row.tokens;
    shares.push(sum / total);
  }
  return shares;
}

/** The entry at a point of the bar, from 0 to 1. */
export function entryAt(shares: readonly number[], point: number): number {
  let low = 0;
  let high = shares.length - 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shares[middle + 1] ?? 1) > point) high = middle;
    else low = middle + 1;
  }
  return Math.max(0, low);
}

/** Sums tokens by family, without hidden entries. */
export function tokensByFamily(rows: readonly OutlineRow[]): Record<Family, number> {
  const sums: Record<Family, number> = { user: 0, assistant: 0, thinking: 0, tool: 0, system: 0 };
  for (const row of rows) if (!row.hidden) sums[familyOf(row)] += row.tokens;
  return sums;
}

/** The tokens of a context: one segment per entry, in order, colored by kind. */
export function TokenBar({ rows, from, to, seams, onJump }: TokenBarProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useShownTheme();
  const width = useWidth(canvas);
  const [pointed, setPointed] = useState<{ index: number; x: number }>();
  const shares = useMemo(() => sharesOf(rows), [rows]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colors come from the page and change with the theme
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width === 0) return;
    draw(element, context, rows, shares, seams, width);
  }, [rows, shares, seams, width, theme]);

  const pointAt = (clientX: number) => {
    const box = canvas.current?.getBoundingClientRect();
    return box ? entryAt(shares, (clientX - box.left) / box.width) : 0;
  };
  const row = pointed && rows[pointed.index];
  return (
    <div className="token-bar">
      <canvas
        ref={canvas}
        role="slider"
        tabIndex={0}
        aria-label="Tokens of the context, entry by entry"
        aria-valuemin={1}
        aria-valuemax={Math.max(1, rows.length)}
        aria-valuenow={Math.min(rows.length, from + 1)}
        aria-valuetext={`Entry ${from + 1} of ${rows.length}`}
        onPointerMove={(event) => setPointed({ index: pointAt(event.clientX), x: event.nativeEvent.offsetX })}
        onPointerLeave={() => setPointed(undefined)}
        onClick={(event) => onJump(pointAt(event.clientX))}
        onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 }[event.key];
          const target = step ? from + step : event.key === 'Home' ? 0 : event.key === 'End' ? rows.length - 1 : undefined;
          if (target === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          onJump(Math.max(0, Math.min(rows.length - 1, target)));
        }}
      />
      <div
        className="token-window"
        style={{
          left: `min(${(shares[from] ?? 0) * 100}%, 100% - 6px)`,
          width: `${Math.max(0.2, ((shares[Math.min(to, rows.length)] ?? 1) - (shares[from] ?? 0)) * 100)}%`,
        }}
      />
      {row && (
        <div className="token-tip" style={{ left: Math.min(Math.max(0, (pointed?.x ?? 0) - 120), Math.max(0, width - 260)) }}>
          <strong className={`kind-${familyOf(row)}`}>{kindNames[row.kind]}</strong> ≈ {exact(row.tokens)} tok · entry {(pointed?.index ?? 0) + 1} of{' '}
          {exact(rows.length)}
          {row.head && <span className="ellipsis">{row.head}</span>}
        </div>
      )}
    </div>
  );
}

function draw(
  element: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  rows: readonly OutlineRow[],
  shares: readonly number[],
  seams: readonly number[],
  width: number,
): void {
  const ratio = devicePixelRatio || 1;
  const height = element.clientHeight;
  element.width = Math.round(width * ratio);
  element.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const colors = Object.fromEntries(families.map((family) => [family, style.getPropertyValue(`--${family}`)])) as Record<Family, string>;
  const ground = style.getPropertyValue('--ground');
  // Each pixel column has the color of its entry, so that thin entries do not blend.
  const columns = Math.round(width * ratio);
  for (let from = 0; from < columns; ) {
    const index = entryAt(shares, (from + 0.5) / columns);
    const row = rows[index];
    const end = Math.max(from + 1, Math.min(columns, Math.round((shares[index + 1] ?? 1) * columns)));
    if (row) {
      context.fillStyle = colors[familyOf(row)];
      // A thin line between segments that are wide enough.
      context.fillRect(from / ratio, 0, (end - from > 3 * ratio ? end - from - ratio : end - from) / ratio, height);
    }
    from = end;
  }
  context.fillStyle = style.getPropertyValue('--danger');
  rows.forEach((row, index) => {
    if (!row.isError) return;
    const x = (shares[index] ?? 0) * width;
    context.fillRect(x, height - 5, Math.max(2, ((shares[index + 1] ?? 1) - (shares[index] ?? 0)) * width), 5);
  });
  for (const seam of seams) {
    const x = (shares[seam] ?? 0) * width;
    context.fillStyle = ground;
    context.fillRect(x - 2, 0, 4, height);
    context.fillStyle = style.getPropertyValue('--text');
    for (let y = 0; y < height; y += 4) context.fillRect(x - 0.5, y, 1, 2);
  }
}

/** The sums of the bar as text: kind, tokens, share. */
export function TokenLegend({
  rows,
  families: shown = families,
  usage,
}: {
  rows: readonly OutlineRow[];
  families?: readonly Family[];
  /** What the provider counted. Its parts then stand for the estimates of the rows. */
  usage?: UsageContext | undefined;
}) {
  const counted = usage?.counted ?? null;
  const parts = usage?.parts;
  const sums = useMemo(() => (counted === null || !parts ? tokensByFamily(rows) : partsByFamily(parts)), [rows, counted, parts]);
  const total = counted ?? (Object.values(sums).reduce((a, b) => a + b, 0) || 1);
  const notRecorded = usage?.notRecorded ?? 0;
  return (
    <ul className="token-legend" aria-label="Tokens by kind">
      {shown
        .filter((family) => sums[family] > 0)
        .map((family) => (
          <li key={family} className={`kind-${family}`} title={`${familyNames[family]}: about ${exact(sums[family])} tokens`}>
            <i aria-hidden />
            {familyNames[family]} <b>≈ {compact(sums[family])}</b> <span className="muted">{percent(sums[family] / total)}</span>
          </li>
        ))}
      {notRecorded > 0 && (
        <li className="kind-none" title={`${exact(notRecorded)} counted tokens that no record explains: usually the system prompt, tools and memory`}>
          <i aria-hidden />
          not recorded <b>≈ {compact(notRecorded)}</b> <span className="muted">{percent(notRecorded / total)}</span>
        </li>
      )}
    </ul>
  );
}

const familyOfPart: Readonly<Record<PartKind, Family>> = {
  system: 'system',
  summary: 'system',
  event: 'system',
  user: 'user',
  image: 'user',
  assistant: 'assistant',
  thinking: 'thinking',
  tools: 'tool',
  tool_call: 'tool',
  tool_result: 'tool',
};

/** The parts of a counted input by family. */
function partsByFamily(parts: UsageContext['parts']): Record<Family, number> {
  const sums = tokensByFamily([]);
  for (const { kind, tokens } of parts) sums[familyOfPart[kind]] += tokens;
  return sums;
}
