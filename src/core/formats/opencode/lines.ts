import { hash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject, stringAt, type Timestamp, timestampOf } from '../../base/index.js';
import { type Dialect, type Scan, type ScanOptions, scanJsonl } from '../jsonl.js';

/**
 * OpenCode keeps messages as rows, and hands them out as `{info, parts}`. One such object a line is a conversation here; the last line
 * says what the session is. Where a line has a `key`, it was written or cut here, and goes on being called by it.
 */
export interface MessageLine extends JsonObject {
  readonly info: JsonObject;
  readonly parts: readonly Json[];
}

/** What the last line says. */
export interface SessionLine {
  readonly session: JsonObject;
  /** Messages that a revert took back; their texts are known from the journal of events. */
  readonly removed: ReadonlySet<string>;
  /** What a message follows, where that is not the one before it. */
  readonly parents: ReadonlyMap<string, string | null>;
  /** The tool call of another session that started this one. */
  readonly startedBy?: string;
}

/** Of what was written here and says no model. */
export const unknownModel = 'unknown';

const dialect: Dialect = { beginning: /\{"(?:info|session|row|key)":/g, isWhole: (record) => isMessage(record) || isObject(record.session) };

export const scanLines = (bytes: Uint8Array, options?: ScanOptions): Scan => scanJsonl(bytes, dialect, options);

export const isMessage = (record: JsonObject): record is MessageLine => isObject(record.info) && Array.isArray(record.parts);

export const partsOf = ({ parts }: MessageLine): readonly JsonObject[] => parts.filter(isObject);
export const idOf = ({ info }: MessageLine): string => stringAt(info, 'id') ?? '';
export const roleOf = ({ info }: MessageLine): string => stringAt(info, 'role') ?? '';
export const typeOf = (part: JsonObject): string => stringAt(part, 'type') ?? '';
const at = (value: Json | undefined, key: string): Json | undefined => (isObject(value) ? value[key] : undefined);

/** Milliseconds since 1970. */
export const createdAt = ({ info }: MessageLine): number | undefined => msOf(at(info.time, 'created'));
const msOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= latestTime ? Math.floor(value) : undefined;
/** The last millisecond of the year 9999: what is later has no time stamp of four digits. */
const latestTime = 253_402_300_799_999;

export const timeOf = (line: MessageLine): Timestamp | undefined => instantOf(at(line.info.time, 'created'));

/** A number of milliseconds since 1970 as an instant; undefined for what is none. */
export function instantOf(value: Json | undefined): Timestamp | undefined {
  const ms = msOf(value);
  return ms === undefined ? undefined : timestampOf(ms);
}

/** An answer that is still being written: neither its end nor a fault is noted. */
export const isOpen = (line: MessageLine): boolean =>
  roleOf(line) === 'assistant' && typeof at(line.info.time, 'completed') !== 'number' && line.info.error === undefined;

export function hasResult({ type, state }: JsonObject): boolean {
  const status = type === 'tool' ? stringAt(state, 'status') : undefined;
  return status === 'completed' || status === 'error';
}

/**
 * Call and result are one part here, and records of two messages elsewhere: what part number n of a message gave is called by its name and
 * this behind, with attachments as further entries.
 */
export const resultName = (number: number): string => `-r${number}`;

/** The message and the number of its part that the name of a result means. */
export function resultOf(name: string): { readonly name: string; readonly number: number } | undefined {
  const match = /^(.+)-r(\d+)$/.exec(name);
  return match ? { name: match[1] as string, number: Number(match[2]) } : undefined;
}

/** What the results in a message of that name are called. */
export const resultNames = (line: MessageLine, name: string): readonly string[] =>
  roleOf(line) === 'assistant' ? partsOf(line).flatMap((part, number) => (hasResult(part) ? [`${name}${resultName(number)}`] : [])) : [];

/** A summary that stands for what came before it; one that failed stands for nothing. */
export const isSummary = ({ info }: MessageLine): boolean =>
  info.role === 'assistant' && info.summary === true && typeof info.finish === 'string' && info.error === undefined;
export const compactionOf = (line: MessageLine): JsonObject | undefined =>
  roleOf(line) === 'user' ? partsOf(line).find((part) => typeOf(part) === 'compaction') : undefined;

/**
 * What the project calls a message: by who said what and when. A fork has new ids and the same of these, so that what it shares is
 * found; what the agent notes later (a diff, that an old result was pruned) does not make another message of it.
 */
export function nameOf(line: MessageLine): string {
  if (typeof line.key === 'string' && line.key !== '') return line.key;
  const content = canonicalJson([roleOf(line), createdAt(line) ?? null, partsOf(line).map(contentOf)]);
  return `oc-${hash('sha256', content).slice(0, 20)}`;
}

function contentOf({ id: _, messageID: __, sessionID: ___, tail_start_id: ____, ...part }: JsonObject): Json {
  if (!isObject(part.state) || !isObject(part.state.time)) return part;
  const { compacted: _____, ...time } = part.state.time;
  return { ...part, state: { ...part.state, time } };
}

export function sessionIn(record: JsonObject | undefined): SessionLine | undefined {
  if (!record || !isObject(record.session)) return undefined;
  const startedBy = stringAt(record, 'startedBy');
  return {
    session: record.session,
    removed: new Set(Array.isArray(record.removed) ? record.removed.filter((id) => typeof id === 'string') : []),
    parents: new Map(
      isObject(record.parents)
        ? Object.entries(record.parents).filter((one): one is [string, string | null] => one[1] === null || typeof one[1] === 'string')
        : [],
    ),
    ...(startedBy === undefined ? {} : { startedBy }),
  };
}
