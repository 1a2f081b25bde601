import type { OutlineRow } from '../../../core/contract/index.js';

/** How often each tool was called, most often first. */
export function toolCounts(rows: readonly OutlineRow[]): (readonly [tool: string, calls: number])[] {
  const counts = new Map<string, number>();
  for (const { kind, head = 'tool' } of rows) if (kind === 'tool_call') counts.set(head, (counts.get(head) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
