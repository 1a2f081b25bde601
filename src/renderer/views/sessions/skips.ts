import type { Skip } from '../../../core/contract/index.js';
import { say } from '../../parts';

/** Groups skipped lines by file and reason. */
export function groupSkips(skips: readonly Skip[]) {
  const groups = new Map<string, { path: string; reason: string; lines: number[] }>();
  for (const { path, line, reason } of skips) {
    const key = `${path}\n${reason}`;
    const group = groups.get(key) ?? { path, reason, lines: [] };
    group.lines.push(line);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Line numbers beyond this limit are counted instead of listed. */
const listedLines = 12;

/** Lines by number, as words. */
export function lineNumbers(lines: readonly number[]): string {
  const more = lines.length - listedLines;
  return `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, listedLines).join(', ')}${more > 0 ? ` and ${say.exact(more)} more` : ''}`;
}
