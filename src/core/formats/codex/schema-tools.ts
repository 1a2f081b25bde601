import type { ToolClasses } from '../format.js';

export const tools: ToolClasses = {
  shell: 'shell',
  local_shell: 'shell',
  local_shell_call: 'shell',
  shell_command: 'shell',
  exec_command: 'shell',
  read_file: 'read',
  view_image: 'read',
  apply_patch: 'edit',
  grep_files: 'search',
  list_dir: 'search',
  web_search: 'search',
  spawn_agent: 'task',
  update_plan: 'plan',
};
