// openclaw: the histories of OpenClaw: pi's records as rows of a database for each agent.
// parse-database.ts reads the rows.
// The format pi reads the records.
import { encodeText } from '../../base/index.js';
import { byClass, type ImportableFormat } from '../format.js';
import { pi } from '../pi/index.js';
import { isHeader, scanLines } from '../pi/schema.js';
import { concatLines } from '../shared/jsonl.js';
import { renamed } from '../shared/renamed.js';
import { database, formatId } from './parse-database.js';

const { session: _, tools: __, recognize: ___, ...rest } = pi;

const version = 4;

/** The header names version 4; pi's own files are older. */
function isOurs(head: Uint8Array): boolean {
  const header = scanLines(head).pieces.find(({ record }) => record !== undefined)?.record;
  return header !== undefined && isHeader(header) && header.version === version && typeof header.id === 'string';
}

export const openclaw: ImportableFormat = {
  ...rest,
  id: formatId,
  about: { name: 'OpenClaw session', what: 'The records of a session of OpenClaw, as lines.', extension: 'jsonl' },
  tools: byClass({
    read: ['read'],
    write: ['write'],
    edit: ['edit'],
    shell: ['bash', 'exec', 'process'],
    search: ['grep', 'web_search'],
    fetch: ['web_fetch'],
  }),
  recognize: (head) => (isOurs(head) ? 1 : 0),
  // A context without its first record has no header, so a header is added by which its lines are recognized.
  pack: (lines, { sessionId: id, now: timestamp, cwd }) =>
    isOurs(lines) ? lines : concatLines([encodeText(`${JSON.stringify({ type: 'session', version, id, timestamp, cwd: cwd ?? '/' })}\n`), lines]),
  plan: (file, context) => renamed(rest.plan(file, context), { format: formatId, from: 'pi', to: 'openclaw' }),
  database,
};
