import { inWords, isObject } from '../base/index.js';
import type { MemoryMessage } from '../contract/index.js';
import { refuse } from './refusals.js';

/** What a patch says about `messages`: a message to add or to put in another's place, or what to remove. */
export type MessageDelta = MemoryMessage | { readonly remove: string };
export const removeAll = { remove: 'ALL' } as const;

export type ResultsDelta = readonly unknown[] | { readonly overwrite: readonly unknown[] };

const isOverwrite = (delta: ResultsDelta): delta is { readonly overwrite: readonly unknown[] } => isObject(delta);
const isRemoval = (delta: MessageDelta): delta is { readonly remove: string } => !('role' in delta);

/**
 * Memory after a delta: a known id is replaced in its place, an unknown one is added at the end; only what follows
 * the last remove-all remains. A message without an id is always a new one.
 * @throws BAD_REQUEST with `data.reason` REMOVE_UNKNOWN_ID.
 */
export function reduceMessages(left: readonly MemoryMessage[], right: readonly MessageDelta[]): readonly MemoryMessage[] {
  const last = right.findLastIndex((delta) => isRemoval(delta) && delta.remove === removeAll.remove);
  const merged = last === -1 ? [...left] : [];
  const places = new Map(merged.flatMap(({ id }, place) => (id === undefined ? [] : [[id, place] as const])));
  const removed = new Set<string>();
  for (const delta of right.slice(last + 1)) {
    if (isRemoval(delta)) {
      if (!places.has(delta.remove)) throw refuse('REMOVE_UNKNOWN_ID', 'messages', `there is no message ${inWords(delta.remove)} to remove`);
      removed.add(delta.remove);
      continue;
    }
    const place = delta.id === undefined ? undefined : places.get(delta.id);
    if (delta.id !== undefined) {
      removed.delete(delta.id);
      places.set(delta.id, place ?? merged.length);
    }
    if (place === undefined) merged.push(delta);
    else merged[place] = delta;
  }
  return merged.filter(({ id }) => id === undefined || !removed.has(id));
}

/**
 * Results after one parallel step: the deltas in the order of their arrival; an overwrite hides the others.
 * @throws BAD_REQUEST with `data.reason` CONCURRENT_OVERWRITE.
 */
export function reduceResults(current: readonly unknown[], updates: readonly ResultsDelta[]): readonly unknown[] {
  const overwrites = updates.filter(isOverwrite);
  if (overwrites.length > 1) throw refuse('CONCURRENT_OVERWRITE', 'mapreduce_results', 'one step may overwrite the results once');
  const [overwrite] = overwrites;
  return overwrite ? overwrite.overwrite : [...current, ...updates.flatMap((update) => (isOverwrite(update) ? [] : update))];
}

/**
 * A plain field after one parallel step: it has one writer.
 * @throws BAD_REQUEST with `data.reason` CONCURRENT_UPDATE.
 */
export function reducePlain(field: string, current: unknown, updates: readonly unknown[]): unknown {
  if (updates.length > 1) throw refuse('CONCURRENT_UPDATE', field, `${field} takes one writer a step; ${updates.length} wrote it`);
  return updates.length === 1 ? updates[0] : current;
}
