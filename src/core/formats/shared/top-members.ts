// The members of a document by its beginning, in any order: some programs sort them, or write them in an order of their own.
import { isObject, type Json, parseJson } from '../../base/index.js';
import { lastRead } from './last-read.js';
import { endOfString, endOfValue, isDeep } from './line-values.js';

/** The beginning of a value that a text contains only in part, or that is not a scalar. */
interface Begun {
  readonly begins: string;
}

/** Returns the last members: each format asks about the beginning of the same file. */
const lastMembers = lastRead<ReadonlyMap<string, Json | Begun>>();

/** The members of the object that begins a text; lists and objects by their text. The last member of a cut text is incomplete. */
function readTopMembers(text: string): ReadonlyMap<string, Json | Begun> {
  const found = new Map<string, Json | Begun>();
  const opening = /^\ufeff?\s*\{/.exec(text);
  for (const { name, start } of membersAt(text, opening?.[0].length ?? text.length)) {
    const value = text.slice(start, endAfter(text, start));
    found.set(name, /^[[{]/.test(value) ? { begins: value } : (parseJson(value) ?? { begins: value }));
  }
  return found;
}

/** The members of an object from a position inside of it: their names as they are written, and where their values begin. */
export function* membersAt(text: string, from: number): Generator<{ readonly name: string; readonly start: number }> {
  const before = /[\s,]*"/y;
  const after = /\s*:\s*/y;
  for (let at = from; at < text.length; ) {
    before.lastIndex = at;
    if (!before.test(text)) return;
    const open = before.lastIndex;
    // Not found by a regular expression, which would run out of stack in a very long name.
    const close = endOfString(text, open);
    after.lastIndex = close + 1;
    if (close < 0 || !after.test(text)) return;
    const start = after.lastIndex;
    yield { name: text.slice(open, close), start };
    at = endAfter(text, start);
  }
}

/** The end of the value that begins at `start`, or of the text. */
function endAfter(text: string, start: number): number {
  const first = text[start];
  const scalar = /[^\s,\]}]*/y;
  scalar.lastIndex = start;
  const end =
    first === '"'
      ? endOfString(text, start + 1) + 1
      : first === '{' || first === '['
        ? endOfValue(text, start)
        : start + (scalar.exec(text)?.[0].length ?? 0);
  return end > start ? end : text.length;
}

/** Whether a text begins with an object that has these members, each with a value whose text matches the pattern. A list or object may be cut off. */
export function hasMembers(text: string, members: Readonly<Record<string, RegExp>>): boolean {
  if (!/^\ufeff?\s*\{/.test(text)) return false;
  const found = lastMembers(text, () => readTopMembers(text));
  return Object.entries(members).every(([name, pattern]) => {
    const value = found.get(name);
    return value !== undefined && pattern.test(isBegun(value) ? value.begins : `${value}`);
  });
}

const isBegun = (value: Json | Begun): value is Begun => isObject(value) && 'begins' in value;

/** A document, or the first of some lines, with scalars first and lists last, to recognize it by its beginning. Undefined if it is no JSON. */
export function scalarsFirst(text: string): string | undefined {
  const value = parseJson(text) ?? parseJson(text.slice(0, text.indexOf('\n') + 1));
  return typeof value === 'object' && value !== null && !isDeep(value) ? JSON.stringify(sorted(value)) : undefined;
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [name, sorted(one)] as const);
  return Object.fromEntries(members.sort(([, a], [, b]) => weightOf(a) - weightOf(b)));
}

const weightOf = (value: Json): number => (Array.isArray(value) ? 2 : isObject(value) ? 1 : 0);
