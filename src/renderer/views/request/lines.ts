import type { DiffLine } from '../../../core/contract/index.js';

/** Lines that are shown together. A stretch is folded if it contains no change and is not next to a change. */
export interface Stretch {
  readonly folded: boolean;
  readonly lines: readonly DiffLine[];
}

const around = 3;

/** Divides lines into stretches: changes with their surroundings, and the unchanged lines between them, folded if longer than two. */
export function stretchesOf(lines: readonly DiffLine[]): Stretch[] {
  const near = new Set<number>();
  lines.forEach(({ op }, at) => {
    if (op !== 'same') for (let place = at - around; place <= at + around; place += 1) near.add(place);
  });
  const stretches: { folded: boolean; lines: DiffLine[] }[] = [];
  lines.forEach((line, at) => {
    const folded = !near.has(at);
    const last = stretches.at(-1);
    if (last && last.folded === folded) last.lines.push(line);
    else stretches.push({ folded, lines: [line] });
  });
  return stretches.map((stretch) => (stretch.lines.length > 2 ? stretch : { ...stretch, folded: false }));
}
