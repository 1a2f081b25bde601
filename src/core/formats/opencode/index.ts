// opencode: the histories of OpenCode. It keeps them as rows of a database; here a conversation is lines of {info, parts}, one a message.
// rows.ts reads sessions out of the database and document.ts out of what `opencode export` prints; lines.ts says what a line is and what
// the project calls it, plan.ts makes commits, entries.ts reads and write.ts writes lines, session.ts makes what `opencode import` takes.
import { isObject } from '../../base/index.js';
import type { ImportableFormat, Peek } from '../format.js';
import { concatLines } from '../jsonl.js';
import { document } from './document.js';
import { isMessage, scanLines, sessionIn } from './lines.js';
import { formatId, parse, planImport } from './plan.js';
import { database } from './rows.js';
import { writeSession } from './session.js';
import { cutLines, writeEntries } from './write.js';

export const opencode: ImportableFormat = {
  id: formatId,
  contentType: 'application/jsonl',
  about: { name: 'OpenCode session', what: 'A session that OpenCode imports.', extension: 'json' },
  seals: { signature: { of: ['text'], broken: '' } },
  tier: 'translated',
  holds: [
    'thinking',
    'unsignedThinking',
    'sealedThinking',
    'signature',
    'image',
    'resultImage',
    'error',
    'blank',
    'summary',
    'injected',
    'resultData',
    'model',
    'time',
  ],
  recognize,
  parse,
  write: writeEntries,
  concat: concatLines,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  peek,
  database,
  exports: document,
};

function recognize(head: Uint8Array): number {
  const first = scanLines(head).pieces.find(({ record }) => record !== undefined)?.record;
  return first && isMessage(first) && isObject(first.info) && typeof first.info.role === 'string' ? 1 : 0;
}

/** Of a session's lines; sessions in a database are named by their rows. */
function peek(_head: Uint8Array, tail: Uint8Array): Peek {
  const session = sessionIn(scanLines(tail).pieces.findLast(({ record }) => record?.session !== undefined)?.record)?.session ?? {};
  const { id, title, directory } = session;
  return {
    ...(typeof id === 'string' ? { sessionId: id } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof directory === 'string' ? { cwd: directory } : {}),
  };
}
