import type { ToolClasses } from '../format.js';

/** The tools of Claude Code. */
export const tools: ToolClasses = {
  Bash: 'shell',
  Read: 'read',
  NotebookRead: 'read',
  Write: 'write',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Glob: 'search',
  Grep: 'search',
  LS: 'search',
  WebSearch: 'search',
  WebFetch: 'fetch',
  Task: 'task',
  Agent: 'task',
  TodoWrite: 'plan',
  TaskCreate: 'plan',
  TaskUpdate: 'plan',
};
