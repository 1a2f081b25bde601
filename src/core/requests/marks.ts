import { inWords, isObject, type Json } from '../base/index.js';
import { cacheMark, withBlocks } from './canonical.js';

/** A cache mark as a call recorded it: what stands under `cache_control` at a path in the body. */
export interface Mark {
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** The recorded marks, or why they cannot be read. */
export function marksOf(recorded: readonly Json[]): readonly Mark[] | string {
  const marks: Mark[] = [];
  for (const each of recorded) {
    const path = isObject(each) ? each.path : undefined;
    if (!isObject(each) || !Array.isArray(path) || each.value === undefined) return `its cache mark ${inWords(each)} is not understood`;
    if (!path.every((step) => (typeof step === 'string' && step !== '__proto__') || (Number.isSafeInteger(step) && (step as number) >= 0)))
      return `its cache mark goes by the path ${inWords(path)}, which leads nowhere`;
    marks.push({ path: path as (string | number)[], value: each.value });
  }
  return marks;
}

/** Puts a mark where its path, without its first `from` steps, leads in the value; false where it leads nowhere. */
export function putMark(value: Json, { path, value: mark }: Mark, from: number): boolean {
  let place: Json | undefined = value;
  for (const step of path.slice(from)) {
    place = Array.isArray(place)
      ? typeof step === 'number'
        ? place[step]
        : undefined
      : isObject(place) && typeof step === 'string' && Object.hasOwn(place, step)
        ? place[step]
        : undefined;
  }
  if (!isObject(place)) return false;
  (place as Record<string, Json>)[cacheMark] = mark;
  return true;
}

/** A message with its marks: the text of one whose text is marked is sent as a block. Undefined where a mark has no place. */
export function markedMessage(message: Json, marks: readonly Mark[]): Json | undefined {
  const blocks = marks.some(({ path }) => path[2] === 'content') ? withBlocks(message) : message;
  return marks.every((mark) => putMark(blocks, mark, 2)) ? blocks : undefined;
}

/** The marks on messages, by the message's place in the list. */
export function marksByMessage(marks: readonly Mark[]): ReadonlyMap<number, readonly Mark[]> {
  const byMessage = new Map<number, Mark[]>();
  for (const mark of marks) {
    const [part, index] = mark.path;
    if (part !== 'messages' || typeof index !== 'number') continue;
    byMessage.set(index, [...(byMessage.get(index) ?? []), mark]);
  }
  return byMessage;
}

export const pathInWords = (path: readonly (string | number)[]): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index ? `.${step}` : step)).join('');
