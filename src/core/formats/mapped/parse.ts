import { isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { RecordRole } from '../shared/branches.js';
import { type Numbered, noted, objectsIn } from '../shared/drafts.js';
import { entryIn } from '../shared/entry-lines.js';

/** A record contains the entries that the mapping made of it, so that it can be read without the mapping. */
export function readEntries(record: JsonObject): readonly Numbered[] {
  const lines = objectsIn(record.entries);
  // Nothing is lost without a trace: a record that no rule reads is an event.
  if (lines.length === 0 && isObject(record.source)) return [[0, noted(typeNameOf(record.source), record.source, { marks: [unreadMark] })]];
  return lines.map((line, number): Numbered => {
    const { key: _, ...entry } = entryIn(line);
    return [number, entry];
  });
}

/** Marks an event for a record, or a part of one, that no rule reads. */
export const unreadMark = 'unread';

/** The type that a value without a matching rule states. */
export const typeNameOf = (value: Json): string =>
  ['type', 'kind', 'part_kind', 'role', 'event'].map((name) => stringAt(value, name)).find((name) => name !== undefined) ?? 'record';

/** The role of a record in its turn. A record without entries, or with only notes, belongs to the turn around it. */
export function roleInTurn(record: JsonObject): RecordRole {
  const entries = objectsIn(record.entries).filter(({ kind }) => kind !== 'event');
  const has = (test: (entry: JsonObject) => boolean): boolean => entries.some((entry) => test(entry));
  if (entries.length === 0) return 'quiet';
  if (entries.every(({ role, marks }) => role === 'system' || isAdded(marks))) return entries.some(({ marks }) => isAdded(marks)) ? 'quiet' : 'lead';
  if (has(({ kind }) => kind === 'summary')) return 'compaction';
  if (has(({ role, kind }) => role === 'user' && (kind === 'text' || kind === 'image'))) return 'prompt';
  if (has(({ kind }) => kind === 'tool_result') && !has(({ role }) => role === 'assistant')) return 'result';
  return 'round';
}

const isAdded = (marks: JsonObject[string] | undefined): boolean => Array.isArray(marks) && marks.includes('meta');
