import { type Json, parseJson } from '../../base/index.js';
import { endOfValue } from './line-values.js';

/** Why the rest of a list is not read. */
export const cutOff = 'the list is cut off or broken here: what comes before is read';

/**
 * Reads a list of objects that is not JSON, up to the first value that is not whole. `cutAt` is the number of the line in which the list is cut off or
 * broken. Undefined for any other text.
 */
export function listBegun(text: string) {
  const opening = /^\ufeff?\s*\[\s*(?=\{)/.exec(text);
  if (!opening) return undefined;
  const values: { readonly value: Json; readonly line: number }[] = [];
  let at = opening[0].length;
  let line = text.slice(0, at).split('\n').length;
  while (text[at] === '{') {
    const end = endOfValue(text, at);
    const value = end < 0 ? undefined : parseJson(text.slice(at, end));
    if (value === undefined) break;
    values.push({ value, line });
    const next = /[\s,]*/y;
    next.lastIndex = end;
    next.exec(text);
    line += text.slice(at, next.lastIndex).split('\n').length - 1;
    at = next.lastIndex;
  }
  return values.length > 0 ? { values, cutAt: line } : undefined;
}
