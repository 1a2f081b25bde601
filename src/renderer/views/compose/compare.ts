import type { ComposedMessage } from '../../../core/contract/index.js';

/** A message of either list: in both, only in the first (gone), or only in the second (new). */
export interface Compared {
  readonly change: 'same' | 'gone' | 'new';
  readonly message: ComposedMessage;
  /** Its number in the second list, where it is in it. */
  readonly place: number | undefined;
}

const sameness = ({ layer, role, id, content }: ComposedMessage): string => `${layer}\n${role}\n${id ?? ''}\n${content}`;

/**
 * The two lists as one. Both stand in the one order that composing has, so whatever is in both is in the same order,
 * and a walk along both finds every difference.
 */
export function compareMessages(before: readonly ComposedMessage[], after: readonly ComposedMessage[]): readonly Compared[] {
  const counts = new Map<string, number>();
  for (const message of after) counts.set(sameness(message), (counts.get(sameness(message)) ?? 0) + 1);
  const rows: Compared[] = [];
  let place = 0;
  const takeNew = (until: string | undefined): void => {
    for (;;) {
      const message = after[place];
      if (!message || sameness(message) === until) return;
      counts.set(sameness(message), (counts.get(sameness(message)) ?? 1) - 1);
      rows.push({ change: 'new', message, place });
      place += 1;
    }
  };
  for (const message of before) {
    const key = sameness(message);
    if ((counts.get(key) ?? 0) === 0) {
      rows.push({ change: 'gone', message, place: undefined });
      continue;
    }
    takeNew(key);
    counts.set(key, (counts.get(key) ?? 1) - 1);
    rows.push({ change: 'same', message: after[place] ?? message, place });
    place += 1;
  }
  takeNew(undefined);
  return rows;
}
