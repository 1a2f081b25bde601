// langgraph: threads of a LangGraph checkpointer. Its database holds each state whole; here a thread is one line for each checkpoint,
// with its changes. parse-database.ts reads the database and parse-values.ts its columns. schema.ts says what a line and a message are,
// plan.ts makes commits, parse.ts reads and write.ts writes messages, resume.ts writes a database that LangGraph can continue.
import { defined, stringAt } from '../../base/index.js';
import { factsWithout, type ImportableFormat, type Peek } from '../format.js';
import { ofLines, recordsOf } from '../shared/jsonl.js';
import { firstIn } from '../shared/plans.js';
import { database, titleIn } from './parse-database.js';
import { formatId, parse, planImport } from './plan.js';
import { sessionTables } from './resume.js';
import { isCheckpoint, scanLines } from './schema.js';
import { cutLines, writeEntries } from './write.js';

export const langgraph: ImportableFormat = {
  id: formatId,
  about: { name: 'LangGraph thread', what: 'A checkpointer’s database (SQLite) that LangGraph can open and continue.', extension: 'db' },
  ...ofLines,
  seals: { signature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: factsWithout('linkedImage', 'event', 'serverTool', 'injected'),
  recognize,
  parse,
  write: writeEntries,
  cut: cutLines,
  sessionTables,
  plan: planImport,
  peek,
  database,
};

function recognize(head: Uint8Array): number {
  const [first, second] = recordsOf(scanLines(head).pieces);
  if (!first) return 0;
  if (isCheckpoint(first)) return 0.8;
  return typeof first.thread === 'string' && (second === undefined || isCheckpoint(second)) ? 1 : 0;
}

function peek(head: Uint8Array): Peek {
  const records = recordsOf(scanLines(head).pieces);
  const title = titleIn(records.flatMap((record) => (isCheckpoint(record) ? record.messages : [])));
  return defined({ sessionId: firstIn(records, (record) => stringAt(record, 'thread')), title });
}
