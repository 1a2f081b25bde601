// vscode-chat: chat sessions of VS Code (Copilot Chat): a document, or a log of operations on it.
// parse-document.ts replays the log and keeps the requests that were cut.
// parse.ts reads a request.
import type { ImportableFormat } from '../format.js';
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
  tools: {
    copilot_readFile: 'read',
    copilot_createFile: 'write',
    copilot_replaceString: 'edit',
    replace_string_in_file: 'edit',
    insert_edit_into_file: 'edit',
    create_file: 'write',
    run_in_terminal: 'shell',
    semantic_search: 'search',
    file_search: 'search',
    fetch_webpage: 'fetch',
    manage_todo_list: 'plan',
    runSubagent: 'task',
  },
  exports: document,
});
