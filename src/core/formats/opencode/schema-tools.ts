import type { ToolClasses } from '../format.js';

/** The tools of OpenCode. */
export const tools: ToolClasses = {
  bash: 'shell',
  read: 'read',
  write: 'write',
  edit: 'edit',
  multiedit: 'edit',
  patch: 'edit',
  apply_patch: 'edit',
  glob: 'search',
  grep: 'search',
  list: 'search',
  websearch: 'search',
  webfetch: 'fetch',
  task: 'task',
  todowrite: 'plan',
};
