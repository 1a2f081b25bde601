// openclaw: the histories of OpenClaw: pi's records as rows of a database for each agent.
// parse-database.ts reads the rows.
// The format pi reads the records.
import type { ImportableFormat } from '../format.js';
import { pi } from '../pi/index.js';
import { isHeader, scanLines } from '../pi/schema.js';
import { renamed } from '../shared/renamed.js';
import { database, formatId } from './parse-database.js';

const { session: _, tools: __, recognize: ___, ...rest } = pi;

export const openclaw: ImportableFormat = {
  ...rest,
  id: formatId,
  about: { name: 'OpenClaw session', what: 'The records of a session of OpenClaw, as lines.', extension: 'jsonl' },
  tools: {
    read: 'read',
    write: 'write',
    edit: 'edit',
    bash: 'shell',
    exec: 'shell',
    process: 'shell',
    grep: 'search',
    web_fetch: 'fetch',
    web_search: 'search',
  },
  // The header names version 4; pi's own files are older.
  recognize: (head) => {
    const header = scanLines(head).pieces.find(({ record }) => record !== undefined)?.record;
    return header && isHeader(header) && header.version === 4 && typeof header.id === 'string' ? 1 : 0;
  },
  plan: (file, context) => renamed(rest.plan(file, context), { format: formatId, from: 'pi', to: 'openclaw' }),
  database,
};
