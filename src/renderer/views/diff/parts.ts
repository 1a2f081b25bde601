import type { Entry, Hunk, Moved, OutlineRow, SideBySide } from '../../../core/contract/index.js';
import { showValue } from '../../parts';

/** `split` shows both sides in two columns, `unified` in one. */
export type DiffLayout = 'split' | 'unified';

/** A row of the comparison. Numbers are positions in the context of the side. */
export type DiffRow =
  | { readonly kind: 'same'; readonly aStart: number; readonly bStart: number; readonly count: number }
  /** `to` and `from`: the place of a moved entry on the other side. */
  | { readonly kind: 'removed'; readonly a: number; readonly to?: number }
  | { readonly kind: 'added'; readonly b: number; readonly from?: number }
  | { readonly kind: 'changed'; readonly a: number; readonly b: number };

/** Turns hunks into rows: one row per unchanged run, one per differing entry. */
export function diffRows(hunks: readonly Hunk[], moved: readonly Moved[] = []): readonly DiffRow[] {
  const pairs = moved.flatMap(({ aStart, bStart, count }) => Array.from({ length: count }, (_, n) => [aStart + n, bStart + n] as const));
  const [to, from] = [new Map(pairs), new Map(pairs.map(([a, b]) => [b, a]))];
  const removed = (a: number): DiffRow => ({ kind: 'removed', a, ...(to.has(a) && { to: to.get(a) as number }) });
  const added = (b: number): DiffRow => ({ kind: 'added', b, ...(from.has(b) && { from: from.get(b) as number }) });
  // biome-ignore lint/suspicious/useIterableCallbackReturn: the union is closed, and the compiler holds it
  return hunks.flatMap((hunk): DiffRow[] => {
    const { op, aStart, aCount, bStart, bCount } = hunk;
    const places = (count: number) => Array.from({ length: count }, (_, n) => n);
    switch (op) {
      case 'same':
        return [{ kind: 'same', aStart, bStart, count: aCount }];
      case 'removed':
        return places(aCount).map((n) => removed(aStart + n));
      case 'added':
        return places(bCount).map((n) => added(bStart + n));
      case 'changed': {
        const both = Math.min(aCount, bCount);
        return [
          ...places(both).map((n): DiffRow => ({ kind: 'changed', a: aStart + n, b: bStart + n })),
          ...places(aCount - both).map((n) => removed(aStart + both + n)),
          ...places(bCount - both).map((n) => added(bStart + both + n)),
        ];
      }
    }
  });
}

/** The place of a moved entry on the other side; undefined if the row is not a move. */
export const placeElsewhere = (row: DiffRow): number | undefined => (row.kind === 'removed' ? row.to : row.kind === 'added' ? row.from : undefined);

/** The row that shows a moved entry on the other side, by its place among the rows. */
export function counterpartOf(rows: readonly DiffRow[], row: DiffRow): number | undefined {
  const place = rows.findIndex((other) =>
    row.kind === 'removed' ? other.kind === 'added' && other.from === row.a : row.kind === 'added' && other.kind === 'removed' && other.to === row.b,
  );
  return place < 0 ? undefined : place;
}

/** A segment of the overview: the kind of its rows, its first row and its share of the width. */
export interface StripSegment {
  readonly kind: DiffRow['kind'];
  readonly row: number;
  readonly weight: number;
}

/** The largest width of a run of unchanged entries, in entries, so that differences stay visible. */
const maxSameWidth = 40;
/** With more segments than this, single segments are too narrow to see or click. */
const maxSegments = 400;

/** The overview of a comparison; empty if it would have too many segments. */
export function stripOf(rows: readonly DiffRow[]): readonly StripSegment[] {
  const segments: { kind: DiffRow['kind']; row: number; weight: number }[] = [];
  rows.forEach((row, n) => {
    const last = segments.at(-1);
    const kind = placeElsewhere(row) === undefined ? row.kind : 'changed';
    if (last && last.kind === kind && kind !== 'same') last.weight++;
    else segments.push({ kind, row: n, weight: row.kind === 'same' ? Math.min(row.count, maxSameWidth) : 1 });
  });
  return segments.length > maxSegments ? [] : segments;
}

/** A row of several contexts side by side. A run of entries that are the same in all of them is one row. */
export type SampleRow = { readonly kind: 'same'; readonly count: number } | { readonly kind: 'differs'; readonly cells: readonly (number | null)[] };

/** Turns the aligned entries of several contexts into rows. */
export function sampleRows(rows: SideBySide['rows']): readonly SampleRow[] {
  const folded: SampleRow[] = [];
  for (const { cells, same } of rows) {
    const last = folded.at(-1);
    if (!same) folded.push({ kind: 'differs', cells });
    else if (last?.kind === 'same') folded[folded.length - 1] = { kind: 'same', count: last.count + 1 };
    else folded.push({ kind: 'same', count: 1 });
  }
  return folded;
}

/** The tokens of `count` entries from `start`; undefined while the outline is loading. */
export const tokensIn = (rows: readonly OutlineRow[] | undefined, start: number, count: number): number | undefined =>
  rows?.slice(start, start + count).reduce((sum, row) => sum + row.tokens, 0);

/** The text of an entry that is compared word by word. */
export function comparable(entry: Entry): string {
  if (entry.kind === 'tool_call') return showValue(entry.arguments ?? '');
  return entry.text ?? (entry.result === undefined ? '' : showValue(entry.result));
}

/** A part of a text that is equal on both sides, or that differs. */
export interface DiffPiece {
  readonly text: string;
  readonly differs: boolean;
}

interface Change {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

/** Up to this total length in characters, even completely different texts are shown with marked words. */
const shortText = 2_000;

/** Whether two long texts have so little in common that marked words would be useless. They are then shown folded, like any long text. */
export function isRewritten(a: string, b: string, changes: readonly Change[]): boolean {
  const length = a.length + b.length;
  const changed = changes.reduce((sum, { fromA, toA, fromB, toB }) => sum + toA - fromA + toB - fromB, 0);
  return length > shortText && changed > length * 0.9;
}

/** Divides both sides of a change into equal and differing pieces. */
export function dividePieces(a: string, b: string, changes: readonly Change[]): { a: readonly DiffPiece[]; b: readonly DiffPiece[] } {
  const side = (text: string, rangeOf: (change: Change) => readonly [from: number, to: number]): DiffPiece[] => {
    const pieces: DiffPiece[] = [];
    let at = 0;
    for (const [from, to] of changes.map(rangeOf)) {
      if (from > at) pieces.push({ text: text.slice(at, from), differs: false });
      if (to > from) pieces.push({ text: text.slice(from, to), differs: true });
      at = to;
    }
    if (at < text.length) pieces.push({ text: text.slice(at), differs: false });
    return pieces;
  };
  return { a: side(a, ({ fromA, toA }) => [fromA, toA]), b: side(b, ({ fromB, toB }) => [fromB, toB]) };
}
