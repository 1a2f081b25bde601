// Turns of a rollout that a person rolled back.
import type { LineFact } from './plan-facts.js';

export type Ref = { readonly plan: number } | { readonly record: string };

/** Takes back the last `count` turns of the user. The tip moves to the start of the first of these turns. */
export function goBack(turns: (Ref | null)[], count: number, tip: Ref | null): { readonly tip: Ref | null; readonly isWhole: boolean } {
  const wanted = Math.max(0, Math.floor(count));
  if (wanted === 0) return { tip, isWhole: true };
  const taken = turns.splice(Math.max(0, turns.length - wanted));
  const [first] = taken;
  return { tip: first === undefined ? tip : first, isWhole: taken.length === wanted };
}

/** The prompts at which a rollback starts again. Each begins a turn, and the lines before it stay in the context. */
export function promptsTakenBack(facts: readonly LineFact[]): ReadonlySet<number> {
  const found = new Set<number>();
  const prompts: number[] = [];
  for (const [at, { item, rolledBack, compaction }] of facts.entries()) {
    if (item?.prompt !== undefined) prompts.push(at);
    if (compaction) prompts.length = 0;
    if (rolledBack === undefined || rolledBack < 1) continue;
    const [first] = prompts.splice(Math.max(0, prompts.length - Math.floor(rolledBack)));
    if (first !== undefined) found.add(first);
  }
  return found;
}
