import type { UsageContext, UsageFork } from '../../../core/contract/index.js';

/** The tokens of a fork by the estimates of its entries. */
interface Divided {
  readonly kept: number;
  readonly leaving: number;
}

/** The tokens before and after an edit, and the length of their gauges. `since`: what the figure after the edit starts from. */
export function figuresOf(
  usage: Pick<UsageContext, 'counted' | 'estimated' | 'limit' | 'since'> | undefined,
  planned: Pick<UsageFork, 'estimated' | 'since'> | undefined,
  { kept, leaving }: Divided,
) {
  // A context that was edited already continues from what was counted before that edit.
  const before = usage?.counted ?? (usage?.since ? usage.estimated : kept + leaving);
  const after = planned?.estimated ?? kept;
  return { before, after, whole: Math.max(usage?.limit ?? 0, before, after), since: planned?.since };
}
