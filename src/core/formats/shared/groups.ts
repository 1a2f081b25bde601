import { isObject, type Json, type JsonObject } from '../../base/index.js';
import type { WritableEntry } from '../format.js';
import { bufferOf } from './jsonl.js';

/** Entries that a writer puts into one record, with the record's name from their keys. */
export interface EntryGroup<Entry = WritableEntry> {
  readonly entries: readonly [Entry, ...Entry[]];
  readonly name: string | undefined;
}

/** The record that an entry's key names. Its name may have line breaks. */
const recordNamed = ({ key }: WritableEntry): string | undefined => /^(.+)\.\d+$/s.exec(key ?? '')?.[1];

/** Groups entries of one role and one record, or one message of the agent. `fits`: whether the format allows the entry in the group. */
export function groupMessages<Entry extends WritableEntry>(
  entries: readonly Entry[],
  fits: (entry: Entry, group: readonly Entry[]) => boolean = () => true,
): readonly EntryGroup<Entry>[] {
  const groups: { entries: [Entry, ...Entry[]]; name: string | undefined }[] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const name = recordNamed(entry);
    const first = last?.entries[0];
    const together =
      last !== undefined &&
      first?.role === entry.role &&
      ((name !== undefined && name === last.name) || (entry.messageId !== undefined && entry.messageId === first.messageId));
    if (together && fits(entry, last.entries)) last.entries.push(entry);
    else groups.push({ entries: [entry], name });
  }
  return groups;
}

/** Gives each record the name of its group, if that name is free. */
export function namer(newId: () => string): (name: string | undefined) => string {
  const used = new Set<string>();
  return (name) => {
    const id = name === undefined || used.has(name) ? newId() : name;
    used.add(id);
    return id;
  };
}

/** The texts of a group's entries of one kind, joined. */
export const textsOf = (entries: readonly WritableEntry[], kind: WritableEntry['kind']): string =>
  entries
    .filter((entry) => entry.kind === kind)
    .map(({ text }) => text ?? '')
    .join('\n');

/** The arguments of a call as an object, for formats that hold nothing else. */
export const objectInput = ({ arguments: input }: Pick<WritableEntry, 'arguments'>): JsonObject =>
  isObject(input) ? input : input === undefined || input === null ? {} : { input: input as Json };

/** Media as base64. */
export const base64Of = ({ bytes }: NonNullable<WritableEntry['media']>): string => bufferOf(bytes).toString('base64');

/** Media as a data URL. */
export const dataUrlOf = (media: NonNullable<WritableEntry['media']>): string => `data:${media.mediaType};base64,${base64Of(media)}`;
