import { badRequest, inWords } from '../base/index.js';
import type { Edit } from '../contract/index.js';
import type { ParsedEntry, WritableEntry } from '../formats/index.js';
import { writable } from './assemble.js';

/** Refuses an edit whose fields do not fit its operation. @throws BAD_REQUEST */
export function checkShape({ op, key, entry }: Edit): void {
  if (op === 'append' && key !== undefined) throw badRequest('edits', 'An append adds an entry at the end. Leave out its key.');
  if (op !== 'append' && key === undefined) throw badRequest('edits', `The edit ${inWords(op)} needs the key of an entry.`);
  if (op === 'drop' && entry !== undefined) throw badRequest('edits', 'A drop removes an entry. Leave out the new entry.');
  if (op !== 'drop' && entry === undefined) throw badRequest('edits', `The edit ${inWords(op)} needs a new entry.`);
}

/** Applies the edits that name an entry. */
export function applied(entry: ParsedEntry, edits: readonly Edit[]): WritableEntry[] {
  const inserted = edits.flatMap((edit) => (edit.op === 'insert' && edit.entry ? [edit.entry] : []));
  const replaced = edits.findLast((edit) => edit.op === 'replace');
  const isDropped = edits.some((edit) => edit.op === 'drop');
  const own: WritableEntry[] = isDropped ? [] : replaced?.entry ? [inPlaceOf(entry, replaced.entry)] : [writable(entry)];
  return [...inserted, ...own];
}

/** The new entry at the time of the old one. It stays a part of the same message, so that the calls of a reply are still answered together. */
const inPlaceOf = (old: ParsedEntry, entry: WritableEntry): WritableEntry => ({
  ...entry,
  ...(old.at && { at: old.at }),
  ...(old.messageId !== undefined && old.role === entry.role && { messageId: old.messageId }),
});
