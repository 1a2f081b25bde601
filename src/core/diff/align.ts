import { firstWhere } from '../base/index.js';
import type { Hunk, Moved } from '../contract/index.js';

/** The parts of an entry that alignment compares. Entries with the same key are the same entry; otherwise entries with equal content are. */
export interface Alignable {
  readonly key: string;
  /** Equal for entries with equal content. */
  readonly content: string;
  /** Role, kind and tool: only entries of equal likeness can be edits of each other. */
  readonly likeness: string;
}

/** A range of each list, to be aligned. */
type Span = Readonly<Record<'aStart' | 'aEnd' | 'bStart' | 'bEnd', number>>;

/** A pair of equal entries, one of each list. */
type Match = Readonly<Record<'a' | 'b', number>>;

/**
 * Aligns two lists by their unique common entries (patience diff), first by key, then by content within the gaps. `changed` pairs
 * entries of equal likeness in a gap, in order. Memory is linear, time n log n.
 */
export const align = (a: readonly Alignable[], b: readonly Alignable[]): Hunk[] => alignment(a, b).hunks;

/** The hunks, and the moves: removed and added entries that are the same entry. Moved entries are never paired as `changed`. */
export function alignment(a: readonly Alignable[], b: readonly Alignable[]): { readonly hunks: Hunk[]; readonly moved: Moved[] } {
  const whole = { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length };
  const [aKeys, bKeys] = [a.map((entry) => entry.key), b.map((entry) => entry.key)];
  const [aContents, bContents] = [a.map((entry) => entry.content), b.map((entry) => entry.content)];
  const byKey = matches(aKeys, bKeys, whole);
  const all = gapsOf(byKey, whole).flatMap(({ gap, before }) => [...before, ...matches(aContents, bContents, gap)]);
  const moves = movesOf(a, b, all);
  return { hunks: hunksOf(a, b, all, moves), moved: joinMoves(moves) };
}

/** Moved entries: unmatched ones with exactly one counterpart on the other side, by key or else by content. In the order of `a`. */
function movesOf(a: readonly Alignable[], b: readonly Alignable[], found: readonly Match[]): Match[] {
  const gaps = gapsOf(found, { aStart: 0, aEnd: a.length, bStart: 0, bEnd: b.length });
  let aLeft = gaps.flatMap(({ gap }) => range(gap.aStart, gap.aEnd));
  let bLeft = gaps.flatMap(({ gap }) => range(gap.bStart, gap.bEnd));
  const moves: Match[] = [];
  for (const by of ['key', 'content'] as const) {
    const values = (list: readonly Alignable[], places: readonly number[]): string[] => places.map((at) => (list[at] as Alignable)[by]);
    const pairs = uniqueCommon(values(a, aLeft), values(b, bLeft), { aStart: 0, aEnd: aLeft.length, bStart: 0, bEnd: bLeft.length });
    if (pairs.length === 0) continue;
    for (const pair of pairs) moves.push({ a: aLeft[pair.a] as number, b: bLeft[pair.b] as number });
    const [aMoved, bMoved] = [new Set(moves.map((move) => move.a)), new Set(moves.map((move) => move.b))];
    aLeft = aLeft.filter((at) => !aMoved.has(at));
    bLeft = bLeft.filter((at) => !bMoved.has(at));
  }
  return moves.sort((x, y) => x.a - y.a);
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, step) => from + step);

/** Joins moves that are adjacent on both sides. */
function joinMoves(moves: readonly Match[]): Moved[] {
  const runs: Moved[] = [];
  for (const { a, b } of moves) {
    const last = runs.at(-1);
    if (last && last.aStart + last.count === a && last.bStart + last.count === b) runs[runs.length - 1] = { ...last, count: last.count + 1 };
    else runs.push({ aStart: a, bStart: b, count: 1 });
  }
  return runs;
}

/** Matches entries of a span in an order valid for both lists: first at its ends, then unique entries, then recursively between those. */
function matches(a: readonly string[], b: readonly string[], span: Span): Match[] {
  const found: Match[] = [];
  const open = [span];
  for (let next = open.pop(); next; next = open.pop()) {
    let { aStart, aEnd, bStart, bEnd } = next;
    while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) found.push({ a: aStart++, b: bStart++ });
    while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) found.push({ a: --aEnd, b: --bEnd });
    if (aStart === aEnd || bStart === bEnd) continue;
    const anchors = increasing(uniqueCommon(a, b, { aStart, aEnd, bStart, bEnd }));
    let [aFrom, bFrom] = [aStart, bStart];
    for (const anchor of anchors) {
      open.push({ aStart: aFrom, aEnd: anchor.a, bStart: bFrom, bEnd: anchor.b });
      found.push(anchor);
      [aFrom, bFrom] = [anchor.a + 1, anchor.b + 1];
    }
    if (anchors.length) open.push({ aStart: aFrom, aEnd, bStart: bFrom, bEnd });
  }
  return found.sort((x, y) => x.a - y.a);
}

/** Pairs of values that occur once on each side. */
function uniqueCommon(a: readonly string[], b: readonly string[], span: Span): Match[] {
  const places = new Map<string, { a: number; b: number }>();
  const note = (value: string, side: 'a' | 'b', at: number): void => {
    const place = places.get(value) ?? { a: -1, b: -1 };
    // A value that occurs twice on a side is not an anchor.
    place[side] = place[side] === -1 ? at : -2;
    places.set(value, place);
  };
  for (let at = span.aStart; at < span.aEnd; at++) note(a[at] as string, 'a', at);
  for (let at = span.bStart; at < span.bEnd; at++) note(b[at] as string, 'b', at);
  return [...places.values()].filter((place) => place.a >= 0 && place.b >= 0).sort((x, y) => x.a - y.a);
}

/** The longest subsequence of matches that is in order on both sides. */
function increasing(candidates: readonly Match[]): Match[] {
  const ends: number[] = [];
  const before: number[] = [];
  candidates.forEach((candidate, at) => {
    const place = firstWhere(0, ends.length, (end) => (candidates[ends[end] as number] as Match).b >= candidate.b);
    before[at] = place > 0 ? (ends[place - 1] as number) : -1;
    ends[place] = at;
  });
  const result: Match[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) result.push(candidates[at] as Match);
  return result.reverse();
}

/** The gaps between matches, each with the matches before it. */
function gapsOf(found: readonly Match[], span: Span): { gap: Span; before: Match[] }[] {
  const gaps: { gap: Span; before: Match[] }[] = [];
  let before: Match[] = [];
  let [aFrom, bFrom] = [span.aStart, span.bStart];
  for (const match of [...found, { a: span.aEnd, b: span.bEnd }]) {
    if (match.a > aFrom || match.b > bFrom) {
      gaps.push({ gap: { aStart: aFrom, aEnd: match.a, bStart: bFrom, bEnd: match.b }, before });
      before = [];
    }
    before.push(match);
    [aFrom, bFrom] = [match.a + 1, match.b + 1];
  }
  // The last item of `before` is the end of the span, not a match.
  gaps.push({ gap: { aStart: span.aEnd, aEnd: span.aEnd, bStart: span.bEnd, bEnd: span.bEnd }, before: before.slice(0, -1) });
  return gaps;
}

function hunksOf(a: readonly Alignable[], b: readonly Alignable[], found: readonly Match[], moves: readonly Match[]): Hunk[] {
  const [aMoved, bMoved] = [new Set(moves.map((move) => move.a)), new Set(moves.map((move) => move.b))];
  const hunks: Hunk[] = [];
  const add = (op: Hunk['op'], aStart: number, aCount: number, bStart: number, bCount: number): void => {
    const last = hunks.at(-1);
    if (last?.op === op) hunks[hunks.length - 1] = { ...last, aCount: last.aCount + aCount, bCount: last.bCount + bCount };
    else hunks.push({ op, aStart, aCount, bStart, bCount });
  };
  let [aAt, bAt] = [0, 0];
  for (const match of [...found, { a: a.length, b: b.length }]) {
    while (aAt < match.a || bAt < match.b) {
      const [inA, inB] = [aAt < match.a, bAt < match.b];
      const isPair = inA && inB && a[aAt]?.likeness === b[bAt]?.likeness && !aMoved.has(aAt) && !bMoved.has(bAt);
      if (isPair) add('changed', aAt++, 1, bAt++, 1);
      // Entries that moved here are added first, so that edited entries still meet their counterpart.
      else if (inA && !(inB && bMoved.has(bAt) && !aMoved.has(aAt))) add('removed', aAt++, 1, bAt, 0);
      else add('added', aAt, 0, bAt++, 1);
    }
    if (match.a < a.length) add('same', aAt++, 1, bAt++, 1);
  }
  return hunks;
}
