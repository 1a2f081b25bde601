import type { ToolClasses } from '../format.js';

/** The tools of Gemini CLI. */
export const tools: ToolClasses = {
  run_shell_command: 'shell',
  read_file: 'read',
  read_many_files: 'read',
  write_file: 'write',
  replace: 'edit',
  glob: 'search',
  list_directory: 'search',
  search_file_content: 'search',
  grep_search: 'search',
  google_web_search: 'search',
  web_fetch: 'fetch',
  write_todos: 'plan',
};
