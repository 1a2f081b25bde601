// langgraph: threads of a LangGraph checkpointer. It keeps each state whole, as rows of a database; here a thread is lines, one a checkpoint,
// with what each changed. rows.ts reads them out of the database and values.ts what stands in its columns; lines.ts says what a line and a
// message is, plan.ts makes commits, entries.ts reads and write.ts writes messages, session.ts makes a database that LangGraph goes on with.
import { stringAt } from '../../base/index.js';
import type { ImportableFormat, Peek } from '../format.js';
import { concatLines } from '../jsonl.js';
import { isCheckpoint, scanLines } from './lines.js';
import { formatId, parse, planImport } from './plan.js';
import { database, titleIn } from './rows.js';
import { sessionTables } from './session.js';
import { cutLines, writeEntries } from './write.js';

export const langgraph: ImportableFormat = {
  id: formatId,
  about: { name: 'LangGraph thread', what: 'A checkpointer’s database (SQLite) that LangGraph opens and goes on with.', extension: 'db' },
  contentType: 'application/jsonl',
  seals: { signature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: [
    'thinking',
    'unsignedThinking',
    'sealedThinking',
    'signature',
    'image',
    'resultImage',
    'block',
    'error',
    'blank',
    'summary',
    'system',
    'resultData',
    'model',
    'author',
    'time',
  ],
  recognize,
  parse,
  write: writeEntries,
  concat: concatLines,
  cut: cutLines,
  sessionTables,
  plan: planImport,
  peek,
  database,
};

/** Of a thread's lines: the first says which thread it is. */
function recognize(head: Uint8Array): number {
  const [first, second] = scanLines(head).pieces.flatMap(({ record }) => (record ? [record] : []));
  if (!first) return 0;
  if (isCheckpoint(first)) return 0.8;
  return typeof first.thread === 'string' && (second === undefined || isCheckpoint(second)) ? 1 : 0;
}

function peek(head: Uint8Array): Peek {
  const records = scanLines(head).pieces.flatMap(({ record }) => (record ? [record] : []));
  const sessionId = records.map((record) => stringAt(record, 'thread')).find((thread) => thread !== undefined);
  const title = titleIn(records.flatMap((record) => (isCheckpoint(record) ? record.messages : [])));
  return { ...(sessionId === undefined ? {} : { sessionId }), ...(title === undefined ? {} : { title }) };
}
