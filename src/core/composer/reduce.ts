import { inWords, isObject } from '../base/index.js';
import type { MemoryMessage } from '../contract/index.js';
import { refuse } from './refusals.js';

/** A change of `messages`: a message to add or replace, or the id of one to remove. */
export type MessageDelta = MemoryMessage | { readonly remove: string };
/** Removes all messages. */
export const removeAll = { remove: 'ALL' } as const;

export type ResultsDelta = readonly unknown[] | { readonly overwrite: readonly unknown[] };

const isOverwrite = (delta: ResultsDelta): delta is { readonly overwrite: readonly unknown[] } => isObject(delta);
const isRemoval = (delta: MessageDelta): delta is { readonly remove: string } => !('role' in delta);

/**
 * Applies changes to memory: a message with a known id replaces the old one in its place, others are added at the end. Only changes
 * after the last remove-all count.
 * @throws BAD_REQUEST with `data.reason` REMOVE_UNKNOWN_ID.
 */
export function reduceMessages(left: readonly MemoryMessage[], right: readonly MessageDelta[]): readonly MemoryMessage[] {
  const last = right.findLastIndex((delta) => isRemoval(delta) && delta.remove === removeAll.remove);
  const merged = last === -1 ? [...left] : [];
  const places = new Map(merged.flatMap(({ id }, place) => (id === undefined ? [] : [[id, place] as const])));
  const removed = new Set<string>();
  for (const delta of right.slice(last + 1)) {
    if (isRemoval(delta)) {
      if (!places.has(delta.remove)) throw refuse('REMOVE_UNKNOWN_ID', 'messages', `memory has no message ${inWords(delta.remove)} to remove`);
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

/** Adds the results of one parallel step in the order of arrival. An overwrite replaces all others. @throws BAD_REQUEST: CONCURRENT_OVERWRITE */
export function reduceResults(current: readonly unknown[], updates: readonly ResultsDelta[]): readonly unknown[] {
  const overwrites = updates.filter(isOverwrite);
  if (overwrites.length > 1) throw refuse('CONCURRENT_OVERWRITE', 'mapreduce_results', 'a step can overwrite the results only once');
  const [overwrite] = overwrites;
  return overwrite ? overwrite.overwrite : [...current, ...updates.flatMap((update) => (isOverwrite(update) ? [] : update))];
}
