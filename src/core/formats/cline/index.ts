// cline: the histories of Cline: the messages document of a session (Cline 3), its compaction, and the API history of a task folder.
// Roo Code and older versions of Kilo have such task folders too.
// parse.ts reads documents and messages.
import type { ImportableFormat } from '../format.js';
import { oddRole, wrappedFormat } from '../shared/wrapped.js';
import { callsOfSubagents, document, formatId, keptBy, readEntries, roleInTurn } from './parse.js';
import { tools } from './schema-tools.js';

export const cline: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'Cline session', what: 'The entries of a session of Cline, Roo Code or Kilo, as lines.', extension: 'jsonl' },
  template: 'cline',
  part: roleInTurn,
  entries: readEntries,
  oddities: oddRole(['user', 'assistant', 'system']),
  keeps: keptBy,
  others: callsOfSubagents,
  tools,
  exports: document,
});
