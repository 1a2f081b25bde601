/** A line of a file on both sides: the same, or only on one of them. Numbers start at 1. */
export interface FileLine {
  readonly op: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly a?: number;
  readonly b?: number;
}

/** Lines that differ, with lines around them; `skipped` equal lines come before them. */
export interface FileHunk {
  readonly skipped: number;
  readonly lines: readonly FileLine[];
}

const around = 3;

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

/** The differing lines with some equal lines around them, and the number of equal lines after the last. */
export function hunksOf(lines: readonly FileLine[]): { readonly hunks: readonly FileHunk[]; readonly rest: number } {
  const shown = new Uint8Array(lines.length);
  lines.forEach(({ op }, at) => {
    if (op !== 'same') shown.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const hunks: { skipped: number; lines: FileLine[] }[] = [];
  let skipped = 0;
  lines.forEach((line, at) => {
    if (!shown[at]) {
      skipped++;
      return;
    }
    if (at === 0 || !shown[at - 1]) hunks.push({ skipped, lines: [] });
    skipped = 0;
    hunks.at(-1)?.lines.push(line);
  });
  return { hunks, rest: skipped };
}
