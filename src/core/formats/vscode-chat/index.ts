// vscode-chat: chat sessions of VS Code (Copilot Chat): a document, or a log of operations on it.
// parse-document.ts replays the log and keeps the requests that were cut.
// parse.ts reads a request.
import { byClass, type ImportableFormat } from '../format.js';
import { wrappedFormat } from '../shared/wrapped.js';
import { oddities, readEntries } from './parse.js';
import { document, formatId } from './parse-document.js';

export const vscodeChat: ImportableFormat = wrappedFormat({
  id: formatId,
  about: { name: 'VS Code chat', what: 'The entries of a chat session of VS Code, as lines.', extension: 'jsonl' },
  template: 'vscode-chat',
  part: () => 'prompt',
  isTurn: true,
  entries: readEntries,
  oddities,
  tools: byClass({
    read: ['copilot_readFile'],
    write: ['copilot_createFile', 'create_file'],
    edit: ['copilot_replaceString', 'replace_string_in_file', 'insert_edit_into_file'],
    shell: ['run_in_terminal'],
    search: ['semantic_search', 'file_search'],
    fetch: ['fetch_webpage'],
    task: ['runSubagent'],
    plan: ['manage_todo_list'],
  }),
  exports: document,
});
