import { badRequest, defined } from '../base/index.js';
import type { Mapping, MappingPreview } from '../contract/index.js';
import { namedFile } from '../files/index.js';
import { type ImportableFormat, mappedBy, reasonForNothing, unreadMark } from '../formats/index.js';
import { ioReason, readWhole } from './files.js';

/** The format of all content that was read by a mapping. */
export const mappedFormat = 'mapped-v1';

/** The format that reads files by a mapping. @throws BAD_REQUEST naming a path that is no JSONPath. */
export function byMapping(mapping: Mapping): ImportableFormat {
  try {
    return mappedBy(mapping);
  } catch (error) {
    throw badRequest('mapping', (error as Error).message);
  }
}

/** The number of entries that a preview shows. */
const maxShown = 200;

/** The entries that a mapping finds in a file, without importing it. @throws BAD_REQUEST for a path that is no JSONPath. */
export function previewMapping(path: string, mapping: Mapping): MappingPreview {
  const format = byMapping(mapping);
  const nothing = { sessions: [], entries: [], unread: 0, broken: [] };
  let bytes: Uint8Array;
  try {
    bytes = readWhole(namedFile(path));
  } catch (error) {
    return { ...nothing, problem: ioReason(error, path) };
  }
  const members = format.exports?.members(bytes, path) ?? [];
  if (members.length === 0) return { ...nothing, problem: reasonForNothing(mapping, bytes) };
  const read = members.map((member) => {
    const { bytes } = member.lines();
    const lines = bytes.subarray(0, bytes.length);
    const entries = format.parse(lines).entries.filter(({ marks }) => !marks?.includes(unreadMark));
    // The first line is no record, and the text ends with a line break.
    const records = Math.max(0, Buffer.from(lines).toString().split('\n').length - 2);
    return { member, entries, records, made: new Set(entries.map(({ messageId }) => messageId)).size };
  });
  return {
    sessions: read.map(({ member: { id, title }, entries, records }) => ({ id, ...defined({ title }), records, entries: entries.length })),
    entries: (read[0]?.entries ?? [])
      .slice(0, maxShown)
      .map(({ key: _, raw: __, media: ___, messageId: ____, marks: _____, usage: ______, ...entry }) => entry),
    broken: (format.exports?.unread?.(bytes) ?? []).slice(0, maxShown).map(({ line }) => line),
    unread: read.reduce((sum, { records, made }) => sum + Math.max(0, records - made), 0),
  };
}
