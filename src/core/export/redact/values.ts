import { bytesOf, isObject, parseJson } from '../../base/index.js';
import { namedStrings, namesBeside, namesNext, replaceStrings } from './json.js';
import type { NamedText, Redactor } from './redactor.js';

/** Every text in a value, each with the name of its member; names of members are texts themselves. */
export function* textsIn(value: unknown, name?: string): Generator<NamedText> {
  if (typeof value === 'string') yield { text: value, name };
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) yield* textsIn(item, nameInList(value, at));
  } else if (value instanceof Uint8Array) {
    const content = textIn(value);
    if (content?.isJson) yield* namedStrings(content.text);
    else if (content) yield { text: content.text, name };
  } else if (isObject(value))
    for (const [key, member] of Object.entries(value)) {
      yield { text: key };
      yield* textsIn(member, nameInObject(value, key));
    }
}

/** Replaces the texts in a value and the names of its members. An unchanged value is returned as it is. */
export function replaceIn<T>(value: T, redact: Redactor, name?: string): T {
  if (typeof value === 'string') return redact.replace(value, name) as T;
  if (Array.isArray(value)) {
    const list = value.map((item: unknown, at) => replaceIn(item, redact, nameInList(value, at)));
    return list.some((item, at) => item !== value[at]) ? (list as T) : value;
  }
  if (value instanceof Uint8Array) {
    const content = textIn(value);
    const left = content && (content.isJson ? replaceStrings(content.text, redact) : redact.replace(content.text, name));
    return left === content?.text || left === undefined ? value : (bytesOf(left) as T);
  }
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

/** The text in bytes, if they are UTF-8. CBOR formats store the input of a call as the bytes of its JSON. */
function textIn(bytes: Uint8Array): { readonly text: string; readonly isJson: boolean } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isJson: parseJson(text) !== undefined };
  } catch {
    return undefined;
  }
}

/** `{ name: 'DB_PASSWORD', value: 'hunter2' }`: another member names the value. */
function nameInObject(value: Readonly<Record<string, unknown>>, key: string): string {
  if (key !== 'value') return key;
  const beside = namesBeside.map((name) => value[name]).find((one) => typeof one === 'string');
  return typeof beside === 'string' ? beside : key;
}

/** `['--password', 'hunter2']`: the flag or header before a value is its name. */
function nameInList(list: readonly unknown[], at: number): string | undefined {
  const before = list[at - 1];
  return typeof before === 'string' && namesNext.test(before) ? before : undefined;
}
