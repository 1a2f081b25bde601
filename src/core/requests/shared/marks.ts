import { inWords, isObject, type Json } from '../../base/index.js';
import { cacheMark, withBlocks } from './canonical.js';

/** A recorded cache mark: the value of `cache_control` at a path in the body. */
export interface CacheMark {
  readonly path: readonly (string | number)[];
  readonly value: Json;
}

/** The recorded marks, or the reason why they cannot be read. */
export function marksOf(recorded: readonly Json[]): readonly CacheMark[] | string {
  const marks: CacheMark[] = [];
  for (const each of recorded) {
    const path = isObject(each) ? each.path : undefined;
    if (!isObject(each) || !Array.isArray(path) || each.value === undefined) return `the cache mark ${inWords(each)} is invalid`;
    if (!path.every((step) => (typeof step === 'string' && step !== '__proto__') || (Number.isSafeInteger(step) && (step as number) >= 0)))
      return `the cache mark has the path ${inWords(path)}, which does not exist`;
    marks.push({ path: path as (string | number)[], value: each.value });
  }
  return marks;
}

/** Puts a mark at its path in the value, skipping the first `from` steps. Returns false if the path does not exist. */
export function putMark(value: Json, { path, value: mark }: CacheMark, from: number): boolean {
  let place: Json | undefined = value;
  for (const step of path.slice(from)) {
    if (Array.isArray(place)) place = typeof step === 'number' ? place[step] : undefined;
    else place = isObject(place) && typeof step === 'string' && Object.hasOwn(place, step) ? place[step] : undefined;
  }
  if (!isObject(place)) return false;
  (place as Record<string, Json>)[cacheMark] = mark;
  return true;
}

/** A message with its marks. A marked string content becomes a block. Undefined if the path of a mark does not exist. */
export function markedMessage(message: Json, marks: readonly CacheMark[]): Json | undefined {
  const blocks = marks.some(({ path }) => path[2] === 'content') ? withBlocks(message) : message;
  return marks.every((mark) => putMark(blocks, mark, 2)) ? blocks : undefined;
}

/** The marks on messages, by position in the list. */
export function marksByMessage(marks: readonly CacheMark[]): ReadonlyMap<number, readonly CacheMark[]> {
  const onMessages = marks.filter(({ path: [part, index] }) => part === 'messages' && typeof index === 'number');
  return Map.groupBy(onMessages, ({ path }) => path[1] as number);
}

/** A path as `a.b[0]`. */
export const pathInWords = (path: readonly (string | number)[]): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index ? `.${step}` : step)).join('');
