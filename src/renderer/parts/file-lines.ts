/** A line of a file on both sides: the same, or only on one of them. Numbers start at 1. */
export interface FileLine {
  readonly op: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly a?: number;
  readonly b?: number;
}

type Ranges = readonly { readonly fromA: number; readonly toA: number; readonly fromB: number; readonly toB: number }[];

/** Compares two texts as strings with one character for each line. Returns the ranges that differ. */
export type CompareLines = (a: string, b: string) => Ranges;

const linesIn = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Compares two files line by line. `compare` compares strings character by character. */
export function fileLines(before: string, after: string, compare: CompareLines): readonly FileLine[] {
  const [a, b] = [linesIn(before), linesIn(after)];
  // Each distinct line becomes a character of its own. Surrogates are left out, because a pair of them would count as one.
  const names = new Map<string, string>();
  const nameOf = (line: string): string => {
    const known = names.get(line);
    if (known !== undefined) return known;
    const code = names.size + 1;
    const name = String.fromCodePoint(code < 0xd800 ? code : code + 0x2000);
    names.set(line, name);
    return name;
  };
  const [left, right] = [a.map(nameOf).join(''), b.map(nameOf).join('')];
  if (left.length !== a.length || right.length !== b.length) return [...a.map(removed), ...b.map(added)];
  const lines: FileLine[] = [];
  let [atA, atB] = [0, 0];
  const same = (upTo: number): void => {
    for (; atA < upTo; atA++, atB++) lines.push({ op: 'same', text: a[atA] as string, a: atA + 1, b: atB + 1 });
  };
  for (const { fromA, toA, fromB, toB } of compare(left, right)) {
    same(fromA);
    for (; atA < toA; atA++) lines.push(removed(a[atA] as string, atA));
    for (atB = fromB; atB < toB; atB++) lines.push(added(b[atB] as string, atB));
  }
  same(a.length);
  return lines;
}

const removed = (text: string, at: number): FileLine => ({ op: 'removed', text, a: at + 1 });
const added = (text: string, at: number): FileLine => ({ op: 'added', text, b: at + 1 });

/** Lines that are shown together. A stretch is folded if it contains no change and is not next to a change. */
export interface Stretch<Line> {
  readonly folded: boolean;
  readonly lines: readonly Line[];
}

const around = 3;

/** Divides lines into stretches: changes with their surroundings, and the equal lines between them. */
export function stretchesOf<Line extends { readonly op: string }>(lines: readonly Line[]): readonly Stretch<Line>[] {
  const near = new Uint8Array(lines.length);
  lines.forEach(({ op }, at) => {
    if (op !== 'same') near.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const stretches: { folded: boolean; lines: Line[] }[] = [];
  lines.forEach((line, at) => {
    const folded = !near[at];
    const last = stretches.at(-1);
    if (last?.folded === folded) last.lines.push(line);
    else stretches.push({ folded, lines: [line] });
  });
  return stretches;
}
