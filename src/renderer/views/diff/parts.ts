import type { Entry, Hunk, Moved, OutlineRow, SideBySide } from '../../../core/contract/index.js';
import { textOf } from '../../parts';

/** Two columns, or one under the other. */
export type Layout = 'split' | 'unified';

/** A row of the comparison. Numbers are places in the context of the side. */
export type DiffRow =
  | { readonly kind: 'same'; readonly aStart: number; readonly bStart: number; readonly count: number }
  /** `to` and `from`: the place on the other side of what only moved. */
  | { readonly kind: 'removed'; readonly a: number; readonly to?: number }
  | { readonly kind: 'added'; readonly b: number; readonly from?: number }
  | { readonly kind: 'changed'; readonly a: number; readonly b: number };

/** Hunks as rows: what is the same folded to one, what differs entry by entry. */
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

/** A row of several contexts beside each other: what all have alike is folded to one. */
export type SampleRow = { readonly kind: 'same'; readonly count: number } | { readonly kind: 'differs'; readonly cells: readonly (number | null)[] };

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

export const tokensIn = (rows: readonly OutlineRow[] | undefined, start: number, count: number): number | undefined =>
  rows?.slice(start, start + count).reduce((sum, row) => sum + row.tokens, 0);

/** An entry as one text, to be compared with another. */
export function comparable(entry: Entry): string {
  if (entry.kind === 'tool_call') return textOf(entry.arguments ?? '');
  return entry.text ?? (entry.result === undefined ? '' : textOf(entry.result));
}

export interface Piece {
  readonly text: string;
  readonly differs: boolean;
}

interface Change {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

/** Both sides of a change as pieces that are the same and pieces that are not. */
export function piecesOf(a: string, b: string, changes: readonly Change[]): { a: readonly Piece[]; b: readonly Piece[] } {
  const side = (text: string, ranges: readonly (readonly [from: number, to: number])[]): Piece[] => {
    const pieces: Piece[] = [];
    let at = 0;
    for (const [from, to] of ranges) {
      if (from > at) pieces.push({ text: text.slice(at, from), differs: false });
      if (to > from) pieces.push({ text: text.slice(from, to), differs: true });
      at = to;
    }
    if (at < text.length) pieces.push({ text: text.slice(at), differs: false });
    return pieces;
  };
  return {
    a: side(
      a,
      changes.map((change) => [change.fromA, change.toA] as const),
    ),
    b: side(
      b,
      changes.map((change) => [change.fromB, change.toB] as const),
    ),
  };
}
