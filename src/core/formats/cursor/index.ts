// cursor: the histories of Cursor. The editor keeps them in its global database, the command line in a store of blobs for each chat.
// Both write a reduced transcript beside it.
// parse-database.ts reads the databases, parse-transcript.ts the transcripts, parse.ts a record.
import { inWords } from '../../base/index.js';
import { byClass, type ImportableFormat } from '../format.js';
import { oddRole, wrappedFormat } from '../shared/wrapped.js';
import { readEntries, roleInTurn, startsOf } from './parse.js';
import { database, formatId } from './parse-database.js';
import { transcript } from './parse-transcript.js';

const oddRoles = oddRole(['user', 'assistant', 'system', 'tool']);

export const cursor: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'Cursor conversation', what: 'The entries of a conversation of Cursor, as lines.', extension: 'jsonl' },
  template: 'cursor',
  part: roleInTurn,
  entries: readEntries,
  others: startsOf,
  oddities: (record) =>
    record.missing === undefined ? oddRoles(record) : [`the message ${inWords(record.missing)} is named by its chat and not in the database`],
  tools: byClass({
    read: ['read_file', 'read_file_v2'],
    edit: ['edit_file', 'edit_file_v2', 'search_replace'],
    shell: ['run_terminal_cmd', 'run_terminal_command_v2'],
    search: ['list_dir', 'codebase_search', 'grep_search', 'ripgrep_raw_search', 'file_search', 'web_search'],
    plan: ['todo_write'],
  }),
  database,
  exports: transcript,
});
