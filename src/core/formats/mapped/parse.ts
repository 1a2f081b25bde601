import { isObject, type JsonObject } from '../../base/index.js';
import type { Part } from '../shared/branches.js';
import { type Numbered, objectsIn } from '../shared/drafts.js';
import { entryIn } from '../shared/entry-lines.js';

/** The entries that a mapping made of a record stand in the record, so that it is read without the mapping. */
export function entriesOf(record: JsonObject): readonly Numbered[] {
  return objectsIn(record.entries).map((line, number): Numbered => {
    const { key: _, ...entry } = entryIn(line);
    return [number, entry];
  });
}

/** What a record means for its turn. */
export function partOf(record: JsonObject): Part {
  const entries = objectsIn(record.entries);
  const has = (test: (entry: JsonObject) => boolean): boolean => entries.some((entry) => isObject(entry) && test(entry));
  if (has(({ kind }) => kind === 'summary')) return 'compaction';
  if (has(({ role, kind }) => role === 'user' && (kind === 'text' || kind === 'image'))) return 'prompt';
  if (has(({ kind }) => kind === 'tool_result') && !has(({ role }) => role === 'assistant')) return 'result';
  return 'round';
}
