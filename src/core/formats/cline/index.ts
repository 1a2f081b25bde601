// cline: the histories of Cline: the messages document of a session (Cline 3), its compaction, and the API history of a task folder.
// Roo Code and older versions of Kilo have such task folders too.
// parse.ts reads documents and messages.
import { byClass, type ImportableFormat } from '../format.js';
import { oddRole, wrappedFormat } from '../shared/wrapped.js';
import { callsOfSubagents, document, formatId, keptBy, readEntries, roleInTurn } from './parse.js';

export const cline: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'Cline session', what: 'The entries of a session of Cline, Roo Code or Kilo, as lines.', extension: 'jsonl' },
  template: 'cline',
  part: roleInTurn,
  entries: readEntries,
  oddities: oddRole(['user', 'assistant', 'system']),
  keeps: keptBy,
  others: callsOfSubagents,
  // The tools of Cline 3.0 and of task folders.
  tools: byClass({
    read: ['read_files', 'read_file', 'list_files'],
    write: ['write_to_file'],
    edit: ['editor', 'replace_in_file', 'apply_diff'],
    shell: ['run_commands', 'execute_command'],
    search: ['search_codebase', 'search_files'],
    fetch: ['fetch_web_content'],
    task: ['spawn_agent', 'new_task'],
  }),
  exports: document,
});
