import { useMemo, useState } from 'react';
import { firstWhere, type OutlineRow, type UsageContext } from '../../core/contract/index.js';
import { type Canvas, useDrawing } from './canvas';
import { basis, unexplained } from './Estimate';
import { colorOf, kindFamily, kindNames, type Share, shareNames, shareOf, shareOfPart, shares } from './kinds';
import { compact, exact, percent } from './numbers';
import type { ShownUsage } from './Window';

interface TokenBarProps {
  readonly rows: readonly OutlineRow[];
  /** Numbers of the visible entries, drawn as a bracket below the bar. */
  readonly from: number;
  readonly to: number;
  /** Entry numbers of compactions. */
  readonly seams: readonly number[];
  readonly onJump: (index: number) => void;
  /** The provider's count. With it, the bar also shows unrecorded tokens and the rest of the window. */
  readonly usage?: ShownUsage;
}

/** From this share of the window on, the whole bar stands for the window. For a smaller context, its entries would be too narrow to point at. */
const minShareOfWindow = 0.25;

/** The parts of the bar from left to right, as shares from 0 to 1. The rest is the free window. Without a count, the entries fill the whole bar. */
export function scaleOf(
  usage: (Pick<UsageContext, 'counted' | 'notRecorded' | 'limit'> & Partial<Pick<UsageContext, 'since' | 'estimated'>>) | undefined,
): { readonly unrecorded: number; readonly entries: number } {
  const counted = usage?.counted ?? (usage?.since && usage.estimated) ?? 0;
  if (!usage || counted === 0) return { unrecorded: 0, entries: 1 };
  const { limit, notRecorded } = usage;
  const whole = limit !== null && counted / limit >= minShareOfWindow ? Math.max(limit, counted) : counted;
  const unrecorded = Math.min(notRecorded ?? 0, counted) / whole;
  return { unrecorded, entries: counted / whole - unrecorded };
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
export const entryAt = (shares: readonly number[], point: number): number =>
  Math.max(
    0,
    firstWhere(0, shares.length - 2, (at) => (shares[at + 1] ?? 1) > point),
  );

/** Sums tokens by share, without hidden entries. */
export function tokensByShare(rows: readonly OutlineRow[]): Record<Share, number> {
  const sums = { ...noTokens };
  for (const row of rows) if (!row.hidden) sums[shareOf(row)] += row.tokens;
  return sums;
}

const noTokens = Object.fromEntries(shares.map((share) => [share, 0])) as Record<Share, number>;

/** The tokens of a context: one segment per entry, in order, colored by kind. */
export function TokenBar({ rows, from, to, seams, onJump, usage }: TokenBarProps) {
  const [pointed, setPointed] = useState<{ index: number; x: number }>();
  const { unrecorded, entries } = scaleOf(usage === 'loading' ? undefined : usage);
  /** The start of each entry on the whole bar. */
  const places = useMemo(() => sharesOf(rows).map((share) => unrecorded + share * entries), [rows, unrecorded, entries]);
  const { ref, width } = useDrawing((canvas, width) => draw(canvas, width, { rows, places, seams }), [rows, places, seams]);
  const pointAt = (clientX: number) => {
    const box = ref.current?.getBoundingClientRect();
    return box ? entryAt(places, (clientX - box.left) / box.width) : 0;
  };
  const row = pointed && rows[pointed.index];
  return (
    <div className="token-bar">
      <canvas
        ref={ref}
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
          left: `min(${(places[from] ?? 0) * 100}%, 100% - 6px)`,
          width: `${Math.max(0.2, ((places[Math.min(to, rows.length)] ?? 1) - (places[from] ?? 0)) * 100)}%`,
        }}
      />
      {row && (
        <div className="token-tip wrap small" style={{ left: Math.min(Math.max(0, (pointed?.x ?? 0) - 120), Math.max(0, width - 260)) }}>
          <strong className={`kind-${kindFamily(row)}`}>{kindNames[row.kind]}</strong> ≈ {exact(row.tokens)} tok · entry {(pointed?.index ?? 0) + 1}{' '}
          of {exact(rows.length)}
          {row.head && <span className="ellipsis">{row.head}</span>}
        </div>
      )}
    </div>
  );
}

type Drawn = Pick<TokenBarProps, 'rows' | 'seams'> & { readonly places: readonly number[] };

function draw({ context, ratio, height, color }: Canvas, width: number, { rows, places, seams }: Drawn): void {
  const colors = Object.fromEntries(shares.map((share) => [share, color(`f-${share}`)])) as Record<Share, string>;
  context.fillStyle = color('sunken');
  context.fillRect(0, 0, width, height);
  const start = places[0] ?? 0;
  const end = places.at(-1) ?? 1;
  hatch(context, start * width, height, color('f-none'), color('hatch'));
  // Each pixel column has the color of its entry, so that thin entries do not blend.
  const last = Math.round(end * width * ratio);
  for (let from = Math.round(start * width * ratio); from < last; ) {
    const index = entryAt(places, (from + 0.5) / (width * ratio));
    const row = rows[index];
    const to = Math.max(from + 1, Math.min(last, Math.round((places[index + 1] ?? end) * width * ratio)));
    if (row) {
      context.fillStyle = colors[shareOf(row)];
      // A thin line between segments that are wide enough.
      context.fillRect(from / ratio, 0, (to - from > 3 * ratio ? to - from - ratio : to - from) / ratio, height);
    }
    from = to;
  }
  context.fillStyle = color('danger');
  rows.forEach((row, index) => {
    if (!row.isError) return;
    const x = (places[index] ?? 0) * width;
    context.fillRect(x, height - 5, Math.max(2, ((places[index + 1] ?? end) - (places[index] ?? 0)) * width), 5);
  });
  for (const seam of seams) {
    const x = (places[seam] ?? 0) * width;
    context.fillStyle = color('ground');
    context.fillRect(x - 2, 0, 4, height);
    context.fillStyle = color('text');
    for (let y = 0; y < height; y += 4) context.fillRect(x - 0.5, y, 1, 2);
  }
}

function hatch(context: CanvasRenderingContext2D, width: number, height: number, ground: string, stripe: string): void {
  if (width < 1) return;
  context.save();
  context.beginPath();
  context.rect(0, 0, width - 1, height);
  context.clip();
  context.fillStyle = ground;
  context.fillRect(0, 0, width, height);
  context.strokeStyle = stripe;
  context.beginPath();
  for (let x = -height; x < width; x += 5) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}

/** The sums of the bar as text: kind, tokens, share. The parts of the provider's count replace the estimates of the rows. */
export function TokenLegend({ rows, usage }: Pick<TokenBarProps, 'rows' | 'usage'>) {
  const isLoading = usage === 'loading';
  const { counted = null, parts, notRecorded: unrecorded } = isLoading || !usage ? {} : usage;
  const sums = useMemo(() => (counted === null || !parts ? tokensByShare(rows) : partsByShare(parts)), [rows, counted, parts]);
  const notRecorded = unrecorded ?? 0;
  const total = counted ?? (Object.values(sums).reduce((a, b) => a + b, notRecorded) || 1);
  const how = basis[(counted !== null && parts?.[0]?.basis) || 'estimated'];
  return (
    <ul className="token-legend wrap small" aria-label="Tokens by kind">
      {notRecorded > 0 && (
        <li className="kind-none inline-row" title={`${unexplained}: ${exact(notRecorded)} tokens`}>
          <i aria-hidden />
          Not recorded <b>≈ {compact(notRecorded)}</b> <span className="muted">{percent(notRecorded / total)}</span>
        </li>
      )}
      {shares
        .filter((share) => sums[share] > 0)
        .map((share) => (
          <li key={share} className="inline-row" title={isLoading ? undefined : `${how}: about ${exact(sums[share])} tokens`}>
            <i aria-hidden style={{ background: `var(${colorOf(share)})` }} />
            {shareNames[share]}
            {!isLoading && (
              <>
                {' '}
                <b>≈ {compact(sums[share])}</b> <span className="muted">{percent(sums[share] / total)}</span>
              </>
            )}
          </li>
        ))}
    </ul>
  );
}

function partsByShare(parts: UsageContext['parts']): Record<Share, number> {
  const sums = { ...noTokens };
  for (const { kind, tokens } of parts) sums[shareOfPart[kind]] += tokens;
  return sums;
}
