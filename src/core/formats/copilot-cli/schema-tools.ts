import type { ToolClasses } from '../format.js';

/** The tools of Copilot CLI 1.0.102. */
export const tools: ToolClasses = {
  view: 'read',
  create: 'write',
  edit: 'edit',
  apply_patch: 'edit',
  bash: 'shell',
  read_bash: 'shell',
  write_bash: 'shell',
  stop_bash: 'shell',
  list_bash: 'shell',
  shell: 'shell',
  powershell: 'shell',
  grep: 'search',
  rg: 'search',
  glob: 'search',
  web_fetch: 'fetch',
  web_search: 'search',
  fetch_copilot_cli_documentation: 'fetch',
  task: 'task',
  read_agent: 'task',
  update_todo: 'plan',
  report_intent: 'plan',
};
