import type { ToolClasses } from '../format.js';

/** The tools of Cline 3.0 and of task folders. */
export const tools: ToolClasses = {
  read_files: 'read',
  read_file: 'read',
  list_files: 'read',
  editor: 'edit',
  replace_in_file: 'edit',
  apply_diff: 'edit',
  write_to_file: 'write',
  run_commands: 'shell',
  execute_command: 'shell',
  search_codebase: 'search',
  search_files: 'search',
  fetch_web_content: 'fetch',
  spawn_agent: 'task',
  new_task: 'task',
};
