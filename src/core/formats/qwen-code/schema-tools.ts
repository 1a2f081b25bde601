import type { ToolClasses } from '../format.js';

/** The tools of Qwen Code 0.24.4. */
export const tools: ToolClasses = {
  read_file: 'read',
  read_many_files: 'read',
  list_directory: 'search',
  write_file: 'write',
  edit: 'edit',
  replace: 'edit',
  run_shell_command: 'shell',
  grep_search: 'search',
  search_file_content: 'search',
  glob: 'search',
  web_fetch: 'fetch',
  web_search: 'search',
  agent: 'task',
  task: 'task',
  todo_write: 'plan',
  exit_plan_mode: 'plan',
};
