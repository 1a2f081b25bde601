// otlp: spans of the GenAI conventions of OpenTelemetry, as OTLP JSON or as the file exporter of the JavaScript SDK writes them.
// Each conversation id is a conversation. parse-spans.ts reads spans, parse-database.ts those of a database, parse-conversation.ts makes records of them, parse.ts reads a record.
// write.ts writes spans.
import type { ImportableFormat } from '../format.js';
import { startsOf } from '../shared/drafts.js';
import { wrappedFormat } from '../shared/wrapped.js';
import { readEntries, roleInTurn } from './parse.js';
import { document, formatId } from './parse-conversation.js';
import { database } from './parse-database.js';
import { packSpans } from './write.js';

export const otlp: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'OpenTelemetry spans', what: 'Spans of the GenAI conventions (OTLP JSON), for any collector.', extension: 'json' },
  template: 'otlp',
  part: roleInTurn,
  entries: readEntries,
  others: startsOf,
  exports: document,
  database,
  pack: packSpans,
});
