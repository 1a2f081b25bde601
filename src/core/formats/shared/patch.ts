import { isObject, stringAt } from '../../base/index.js';

/** The files that a patch in the form of Codex names. `given` is the input of a tool. */
export function patchedFiles(given: unknown): string[] {
  const text = typeof given === 'string' ? given : isObject(given) ? (stringAt(given, 'input') ?? stringAt(given, 'patch') ?? '') : '';
  if (!text.startsWith('*** Begin Patch')) return [];
  return [...new Set(Array.from(text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm), ([, path = '']) => path.trim()))];
}
