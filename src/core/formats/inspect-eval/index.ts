// inspect-eval: logs of Inspect AI, an archive (`.eval`) or one JSON document. Each sample and epoch is a conversation.
// parse-archive.ts reads archives, parse-sample.ts makes the records of a sample, parse-events.ts sorts its calls by branches and agents,
// parse.ts reads a record, write.ts writes an archive.
import type { ImportableFormat } from '../format.js';
import { startsOf } from '../shared/drafts.js';
import { wrappedFormat } from '../shared/wrapped.js';
import { readEntries, roleInTurn } from './parse.js';
import { document, formatId } from './parse-archive.js';
import { packLog } from './write.js';

export const inspectEval: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'Inspect log', what: 'An .eval archive that Inspect AI opens (inspect view).', extension: 'eval' },
  template: 'inspect-eval',
  part: roleInTurn,
  entries: readEntries,
  others: startsOf,
  exports: document,
  pack: packLog,
});
