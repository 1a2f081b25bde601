import { canonicalJson, isObject, type Json } from '../base/index.js';
import type { FieldChange } from '../contract/index.js';
import { align } from './align.js';

/**
 * The structural differences between two values. Members are compared by name, list items by content and then by position. Paths are as
 * in JavaScript (`edits[0].text`); the value itself has the empty path. Equal values have no differences.
 */
export function changedFields(a: Json | undefined, b: Json | undefined, path = ''): FieldChange[] {
  if (a === undefined && b === undefined) return [];
  if (a === undefined) return [{ op: 'added', path, b }];
  if (b === undefined) return [{ op: 'removed', path, a }];
  if (isObject(a) && isObject(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => changedFields(own(a, name), own(b, name), memberPath(path, name)));
  if (Array.isArray(a) && Array.isArray(b)) return changedItems(a, b, path);
  return canonicalJson(a) === canonicalJson(b) ? [] : [{ op: 'changed', path, a, b }];
}

const own = (value: { readonly [key: string]: Json }, name: string): Json | undefined => (Object.hasOwn(value, name) ? value[name] : undefined);

const memberPath = (path: string, name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? (path ? `${path}.${name}` : name) : `${path}[${JSON.stringify(name)}]`;

function changedItems(a: readonly Json[], b: readonly Json[], path: string): FieldChange[] {
  const alignables = (items: readonly Json[]) =>
    items.map((item) => {
      const text = canonicalJson(item);
      // An object can be an edit of another object. A plain value cannot.
      return { key: text, content: text, likeness: isObject(item) ? 'object' : Array.isArray(item) ? 'list' : 'value' };
    });
  return align(alignables(a), alignables(b)).flatMap(({ op, aStart, aCount, bStart, bCount }): FieldChange[] => {
    const places = (count: number, start: number): number[] => Array.from({ length: count }, (_, at) => start + at);
    if (op === 'same') return [];
    if (op === 'removed') return places(aCount, aStart).map((at) => ({ op, path: `${path}[${at}]`, a: a[at] }));
    if (op === 'added') return places(bCount, bStart).map((at) => ({ op, path: `${path}[${at}]`, b: b[at] }));
    return places(aCount, 0).flatMap((at) => changedFields(a[aStart + at], b[bStart + at], `${path}[${bStart + at}]`));
  });
}
