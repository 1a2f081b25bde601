import type { DiffLine } from '../../../core/contract/index.js';

/** Lines that are shown together; folded where nothing of them or near them changed. */
export interface Stretch {
  readonly folded: boolean;
  readonly lines: readonly DiffLine[];
}

/** Lines of the same that stay in sight before and after a change. */
const around = 3;

/** The lines in stretches: changes with some lines around them, and what lies between, folded where that is worth a click. */
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
