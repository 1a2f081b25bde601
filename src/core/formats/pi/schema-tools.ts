import type { ToolClasses } from '../format.js';

export const tools: ToolClasses = {
  bash: 'shell',
  read: 'read',
  write: 'write',
  edit: 'edit',
  grep: 'search',
  find: 'search',
  ls: 'search',
};
