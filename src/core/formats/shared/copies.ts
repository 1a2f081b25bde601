// Lines that a file says twice: an agent or a tool that copies files wrote a line, the last lines or the whole log again.
import { crc32 } from 'node:zlib';
import { isObject, type Json, type JsonObject, parseJson } from '../../base/index.js';

/** Why a line is not read. */
export const saidBefore = 'the line is the same as an earlier one: it is read once';

/** A time with fractions of a second. No agent writes two equal records at one such time. */
const preciseTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d/;
const isTime = (value: Json | undefined): value is string | number =>
  typeof value === 'number' ? value > 1e11 : typeof value === 'string' && preciseTime.test(value);

/** What tells a record from all others in its file: an id or an exact time; undefined without. `shared`: ids of a conversation. */
export function identifyRecord(record: JsonObject, shared: ReadonlySet<Json> = none): string | undefined {
  const { uuid, id, step_index: step, call_id: call, timestamp, time, created_at: createdAt, delta } = record;
  const ofItem = isObject(record.item) ? record.item.id : undefined;
  for (const own of [uuid, id, step, call, ofItem]) if (isId(own) && !shared.has(own)) return `${own}`;
  // Parts of an answer that is streamed can be equal, and arrive at once.
  const at = delta === true ? undefined : [timestamp, time, createdAt].find(isTime);
  return at === undefined ? undefined : `at ${at}`;
}
const none: ReadonlySet<Json> = new Set();
const isId = (value: Json | undefined): value is string | number => (typeof value === 'string' && value !== '') || typeof value === 'number';

/** Records that never follow an equal one directly: the beginning or the end of a turn or a run. */
const standsOnce: ReadonlySet<unknown> = new Set(['result', 'completion', 'turn.started', 'turn.completed', 'turn.failed', 'thread.started']);

/** Finds lines that repeat an earlier line of the file. A record without an identity is a copy only among copies, as prompts can be equal. */
export class CopyFinder {
  /** The number of the line with an identity and content. */
  readonly #seen = new Map<string, number>();
  readonly #prints: number[] = [];
  /** How many lines before a copy its original stands, while lines are copied. */
  #distance = 0;
  #wasOriginal = true;
  #wasCopy = false;

  /** Whether the next record is a copy. `line`: its bytes or text. `identity`: what tells it from others, if anything does. */
  isNext(record: JsonObject, line: string | Uint8Array, identity: string | undefined): boolean {
    const number = this.#prints.length;
    // The length of the line is a part of the print, which has 52 bits.
    const print = crc32(line) * 0x100000 + (line.length & 0xfffff);
    this.#prints.push(print);
    const isCopy = identity === undefined ? this.#isLike(record, print, number) : this.#isKnown(`${identity} ${print}`, number);
    this.#wasCopy = isCopy;
    return isCopy;
  }

  #isKnown(name: string, number: number): boolean {
    const earlier = this.#seen.get(name);
    if (earlier !== undefined) {
      this.#distance = number - earlier;
      this.#wasOriginal = false;
      return true;
    }
    this.#seen.set(name, number);
    if (this.#distance !== 1 || this.#wasOriginal) this.#distance = 0;
    this.#wasOriginal = true;
    return false;
  }

  #isLike(record: JsonObject, print: number, number: number): boolean {
    const isRepeated = this.#distance > 0 && !(this.#distance === 1 && this.#wasCopy) && this.#prints[number - this.#distance] === print;
    return isRepeated || (this.#prints[number - 1] === print && !this.#wasCopy && standsOnce.has(record.type));
  }
}

/** A line of a log that is not blank, with its value if it is JSON. */
export interface NumberedLine {
  readonly line: string;
  readonly value: Json | undefined;
  /** From 1. */
  readonly number: number;
}

/** Divides the lines of a log into those to read and copies of them. */
export function linesOnce(text: string): { readonly read: readonly NumberedLine[]; readonly copies: readonly NumberedLine[] } {
  const all = text.split('\n').flatMap((line, at): NumberedLine[] => (line.trim() === '' ? [] : [{ line, value: parseJson(line), number: at + 1 }]));
  const isCopy = copiesAmong(all);
  return { read: all.filter((_, at) => !isCopy[at]), copies: all.filter((_, at) => isCopy[at]) };
}

/** A log of so many lines does not repeat itself by chance. */
const shortestLog = 4;

function copiesAmong(all: readonly NumberedLine[]): readonly boolean[] {
  const isTwice = all.length > 2 && all.length % 2 === 0 && all.every(({ line }, at) => line === all[at - (at % 2)]?.line);
  if (isTwice) return all.map((_, at) => at % 2 === 1);
  const length = all.findIndex(({ line }, at) => at >= shortestLog && line === all[0]?.line);
  if (length > 0 && all.every(({ line }, at) => line === all[at % length]?.line)) return all.map((_, at) => at >= length);
  const records = all.map(({ value }) => recordIn(value));
  const shared = sharedIds(all, records);
  let copies = new CopyFinder();
  return all.map(({ line }, at) => {
    const record = records[at] ?? {};
    // The items of a run are numbered from 0, and a log can contain several runs of one thread.
    if (record.type === 'thread.started') copies = new CopyFinder();
    return copies.isNext(record, line, identifyRecord(record, shared));
  });
}

/** The record in a line: an object, or the object at the end of a list. */
function recordIn(value: Json | undefined): JsonObject | undefined {
  const last = Array.isArray(value) ? value.at(-1) : value;
  return isObject(last) ? last : undefined;
}

/** Ids that different lines have: they name a conversation and not a line. */
function sharedIds(all: readonly NumberedLine[], records: readonly (JsonObject | undefined)[]): ReadonlySet<Json> {
  const lineOf = new Map<Json, string>();
  const shared = new Set<Json>();
  for (const [at, { line }] of all.entries())
    for (const id of [records[at]?.uuid, records[at]?.id]) {
      if (!isId(id)) continue;
      if ((lineOf.get(id) ?? line) !== line) shared.add(id);
      lineOf.set(id, line);
    }
  return shared;
}
