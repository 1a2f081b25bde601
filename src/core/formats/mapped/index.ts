// mapped: histories of tools that no other format reads, by a mapping of JSONPath selectors.
// A person wrote the mapping, or it is one of built-in.ts. apply.ts makes entries of a record by it, parse-document.ts conversations of a
// document, parse-database.ts those of a database. parse.ts reads what was stored, without the mapping.
import { isObject } from '../../base/index.js';
import type { Mapping } from '../../contract/index.js';
import type { ImportableFormat, Member } from '../format.js';
import { runDuration } from '../shared/durations.js';
import { wrappedFormat } from '../shared/wrapped.js';
import { applied } from './apply.js';
import { builtInDatabases, builtInEndings, builtIns } from './built-in.js';
import { readEntries, roleInTurn } from './parse.js';
import { readerOfDatabases } from './parse-database.js';
import { documentIn, formatId, linesUnread, membersIn, readerOfMappings } from './parse-document.js';

export { unreadMark } from './parse.js';
export { reasonForNothing } from './parse-document.js';

export const mapped: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'Mapped history', what: 'The entries of a history that a mapping read, as lines.', extension: 'jsonl' },
  part: roleInTurn,
  entries: readEntries,
  lasted: ({ source }) => (isObject(source) ? runDuration(source) : undefined),
  exports: readerOfMappings(builtIns, builtInEndings),
  database: readerOfDatabases(builtInDatabases),
});

const distinctMappings = new Set([...builtIns, ...builtInDatabases].map(({ mapping }) => mapping));
export const builtInMappings: readonly Mapping[] = [...distinctMappings].map((mapping) => ({ stemmaMapping: 1, ...mapping }));

/** The format with this mapping in place of the built-in mappings. @throws Error that names an invalid JSONPath. */
export function mappedBy(mapping: Mapping): ImportableFormat {
  // Refuses an invalid mapping now.
  applied(mapping);
  return {
    ...mapped,
    exports: {
      keeps: true,
      unread: linesUnread,
      recognize: () => true,
      members: (document, path): readonly Member[] => membersIn(mapping, documentIn(document), path) ?? [],
    },
  };
}
