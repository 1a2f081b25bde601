// opencode: the histories of OpenCode. It stores them as rows of a database; here a conversation is one line of {info, parts} for each
// message. parse-database.ts reads the database, parse-document.ts the output of `opencode export`. schema.ts says what a line is,
// plan.ts makes commits, parse.ts reads and write.ts writes lines, resume.ts writes a document that `opencode import` accepts.
import { defined, isObject, stringAt } from '../../base/index.js';
import { byClass, factsWithout, type ImportableFormat, type Peek } from '../format.js';
import { ofLines } from '../shared/jsonl.js';
import { database } from './parse-database.js';
import { document } from './parse-document.js';
import { formatId, parse, planImport } from './plan.js';
import { writeSession } from './resume.js';
import { isMessage, scanLines } from './schema.js';
import { cutLines, writeEntries } from './write.js';

export const opencode: ImportableFormat = {
  id: formatId,
  ...ofLines,
  about: { name: 'OpenCode session', what: 'A session that OpenCode imports.', extension: 'json' },
  seals: { signature: { of: ['text'], broken: '' } },
  tier: 'translated',
  holds: factsWithout('linkedImage', 'block', 'system', 'event', 'serverTool', 'author'),
  tools: byClass({
    read: ['read'],
    write: ['write'],
    edit: ['edit', 'multiedit', 'patch', 'apply_patch'],
    shell: ['bash'],
    search: ['glob', 'grep', 'list', 'websearch'],
    fetch: ['webfetch'],
    task: ['task'],
    plan: ['todowrite'],
  }),
  recognize,
  parse,
  write: writeEntries,
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

/** Reads the lines of a session. Sessions in a database are named by their rows. */
function peek(_head: Uint8Array, tail: Uint8Array): Peek {
  const session = scanLines(tail).pieces.findLast(({ record }) => record?.session !== undefined)?.record?.session;
  return defined({ sessionId: stringAt(session, 'id'), title: stringAt(session, 'title'), cwd: stringAt(session, 'directory') });
}
