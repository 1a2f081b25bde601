import { isObject } from '../../base/index.js';
import { replaceInBytes, textsInBytes } from './bytes.js';
import { namesBeside } from './json.js';
import { doesNameNext, nameBeside } from './rules/index.js';
import type { NamedText, Replacing } from './texts.js';

/** Every text in a value, each with the name of its member; names of members are texts themselves. */
export function* textsIn(value: unknown, name?: string): Generator<NamedText> {
  if (typeof value === 'string') yield { text: value, name };
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield* textsIn(item, nameInList(value, at));
  } else if (value instanceof Uint8Array) yield* textsInBytes(value, name);
  else if (isObject(value))
    for (const [key, member] of Object.entries(value)) {
      yield { text: key };
      yield* textsIn(member, nameInObject(value, key));
    }
}

/** Replaces the texts in a value and the names of its members. An unchanged value is returned as it is. */
export function replaceIn<T>(value: T, redact: Replacing, name?: string): T {
  if (typeof value === 'string') return redact.replace(value, name) as T;
  if (Array.isArray(value)) {
    const list = value.map((item: unknown, at) => replaceIn(item, redact, nameInList(value, at)));
    return list.some((item, at) => item !== value[at]) ? (list as T) : value;
  }
  if (value instanceof Uint8Array) return replaceInBytes(value, redact, name) as T & Uint8Array;
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => ({
    key,
    member,
    newKey: redact.replace(key),
    newMember: replaceIn(member, redact, nameInObject(value, key)),
  }));
  if (!members.some(({ key, member, newKey, newMember }) => key !== newKey || member !== newMember)) return value;
  return Object.fromEntries(members.map(({ newKey, newMember }) => [newKey, newMember])) as T;
}

/** `{ name: 'DB_PASSWORD', value: 'hunter2' }`: another member names the value. */
function nameInObject(value: Readonly<Record<string, unknown>>, key: string): string {
  if (key !== 'value') return key;
  const beside = namesBeside.map((name) => value[name]).find((one) => typeof one === 'string');
  return typeof beside === 'string' ? nameBeside(beside) : key;
}

/** `['--password', 'hunter2']`: the flag or header before a value is its name. */
function nameInList(list: readonly unknown[], at: number): string | undefined {
  const before = list[at - 1];
  return typeof before === 'string' && doesNameNext(before, typeof list[at] === 'string' ? list[at] : '') ? before : undefined;
}
