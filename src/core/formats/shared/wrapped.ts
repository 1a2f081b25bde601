// Conversations of containers (documents and databases) as lines: a first line about the conversation, then one line for each record in the
// container's own form. The formats of such conversations only define the meaning of a record; everything else is here.
import { defined, inWords, isObject, type Json, type JsonObject, parseInstant, stringAt, type Timestamp, toTimestamp } from '../../base/index.js';
import type { AboutFormat, DatabaseReader, DocumentReader, ImportableFormat, Lines, ParsedEntry, SessionOptions, ToolClasses } from '../format.js';
import { facts } from '../format.js';
import type { RecordRole, TreeRecord } from './branches.js';
import { type Numbered, noted } from './drafts.js';
import { type Dialect, isDeep, tooDeep, writeLines } from './jsonl.js';
import { linesOnDemand } from './lazy-lines.js';
import { type About, beginsAsEntry, fromRules, type RecordRules, scanRecords } from './records.js';

/** A record of a container with its place in the conversation. */
export interface Wrapped {
  /** Unique in the conversation, and the same in every state of the container. */
  readonly id: string;
  readonly record: JsonObject;
  /** The id of the parent. Without it, the record follows the previous record. */
  readonly parent?: string | null | undefined;
  /** ISO 8601, or milliseconds since 1970. */
  readonly at?: unknown;
}

const dialect: Dialect = { beginning: /\{"source":/g, isWhole: (record) => typeof record.source === 'string' && typeof record.in === 'string' };

/**
 * The lines of a conversation. `about` names its title, folder, subagent (`agent`; `subagent` where `agent` is the tool), and the call (`startedBy`)
 * or session (`startedIn`) that started it. For a conversation that does not fit into memory, each `record` is a getter that reads it from the file.
 */
export function wrapLines(formatId: string, session: string, about: JsonObject, records: readonly Wrapped[], isLarge = false): Lines {
  const envelope = { source: formatId, in: session };
  const wrapLine = ({ id, record, parent, at }: Wrapped): JsonObject => {
    const time = instant(at);
    return {
      ...envelope,
      id,
      ...(parent !== undefined && { parent }),
      ...(time !== undefined && { timestamp: time }),
      record: isDeep(record) ? unread(JSON.stringify(Object.keys(record)), tooDeep) : record,
    };
  };
  const first = { ...envelope, about };
  if (isLarge) return linesOnDemand(records.length + 1, (number) => (number === 0 ? first : wrapLine(records[number - 1] as Wrapped)));
  return writeLines([first, ...records.map(wrapLine)]);
}

/** The record for a value that cannot be read, with the reason. It becomes an event, in every format. */
const unread = (value: Json, why: string): JsonObject => ({ unread: value, why });
/** Why a record was not read; undefined for all others. */
const whyUnread = (record: JsonObject): string | undefined => (record.unread === undefined ? undefined : stringAt(record, 'why'));

/** The values of a list as records. A value that is not an object is kept and named. */
export const recordsIn = (list: Json | undefined): readonly JsonObject[] =>
  (Array.isArray(list) ? list : []).map((value) =>
    isObject(value) ? value : unread(value, `the record is ${inWords(value)} instead of an object: it is kept as an event`),
  );

/** Names the role of a message with an unknown role. Such a message is read as a message of the user. */
export const oddRole =
  (known: readonly string[]) =>
  ({ role }: JsonObject): readonly string[] =>
    typeof role !== 'string' || known.includes(role)
      ? []
      : [`the message has the role ${inWords(role)} instead of ${known.join(', ')}: it is read as user`];

/** A time as a container writes it: text, or a number of seconds, milliseconds, microseconds or nanoseconds. */
export function instant(value: unknown): Timestamp | undefined {
  if (typeof value === 'string' && !/^\d{9,}$/.test(value)) {
    const ms = parseInstant(value) ?? Number.NaN;
    return Number.isFinite(ms) ? toTimestamp(ms) : undefined;
  }
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  if (!(number > 0)) return undefined;
  const ms = number < 1e11 ? number * 1e3 : number < 1e14 ? number : number < 1e17 ? number / 1e3 : number / 1e6;
  return ms < latest ? toTimestamp(Math.floor(ms)) : undefined;
}
const latest = 8.64e15;

export interface WrappedRules {
  readonly id: string;
  readonly about: AboutFormat;
  /** The name of the agent in templates and principals. Undefined if `agent` names the tool of each conversation. */
  readonly template?: string;
  readonly part: (record: JsonObject) => RecordRole;
  /** True if each record is a whole turn, with its prompt and its answers. */
  readonly isTurn?: true;
  readonly entries: (record: JsonObject) => readonly Numbered[];
  readonly oddities?: RecordRules['oddities'];
  readonly lasted?: RecordRules['lasted'];
  readonly keeps?: (record: JsonObject, before: readonly TreeRecord[]) => readonly TreeRecord[];
  /** Further names of a record, such as those of the calls that start subagents. */
  readonly others?: (record: JsonObject, session: string) => readonly string[];
  readonly tools?: ToolClasses;
  readonly exports?: DocumentReader;
  readonly database?: DatabaseReader;
  /** Writes the file of the program itself. */
  readonly pack?: (id: string, entries: readonly ParsedEntry[], options: SessionOptions) => Uint8Array;
  /** Other files of the format, whose lines are not wrapped: how certain their beginning makes it. */
  readonly recognize?: (head: Uint8Array, path: string) => number;
}

const recordIn = ({ record }: JsonObject): JsonObject | undefined => (isObject(record) ? record : undefined);

/** A format of wrapped records. No agent resumes it, so it writes entries as separate lines and keeps every fact. */
export function wrappedFormat(given: WrappedRules): ImportableFormat {
  const { id, about, template, entries, oddities, lasted, keeps, others, pack } = given;
  const rules: RecordRules = {
    formatId: id,
    template: template ?? 'mapped',
    dialect,
    about: (lines): About => {
      const told = lines.map((line) => line.about).find(isObject);
      const call = stringAt(told, 'startedBy');
      const parent = stringAt(told, 'startedIn');
      return {
        sessionId: stringAt(told, 'sessionId') ?? stringAt(lines[0], 'in'),
        title: stringAt(told, 'title'),
        cwd: stringAt(told, 'cwd'),
        machine: stringAt(told, 'machine'),
        ...(template === undefined ? { tool: stringAt(told, 'agent'), agent: stringAt(told, 'subagent') } : { agent: stringAt(told, 'agent') }),
        ...(parent !== undefined && { startedBy: { sessionId: parent } }),
        ...(call !== undefined && { startedBy: { toolCallId: call } }),
      };
    },
    place: (line) => {
      const record = recordIn(line);
      const [session, own] = [stringAt(line, 'in'), stringAt(line, 'id')];
      if (!record || session === undefined || own === undefined) return undefined;
      const { parent } = line;
      const name = (of: string): string => `${session}:${of}`;
      const more = others?.(record, session) ?? [];
      return {
        name: name(own),
        part: whyUnread(record) === undefined ? given.part(record) : 'quiet',
        ...(more.length > 0 && { others: more }),
        ...(typeof parent === 'string' ? { parent: name(parent) } : parent === null && { parent }),
      };
    },
    entries: (line) => {
      const record = recordIn(line);
      if (!record) return [];
      return whyUnread(record) === undefined ? entries(record) : [[0, noted('record', record.unread)]];
    },
    oddities: (line) => {
      const record = recordIn(line) ?? {};
      const why = whyUnread(record);
      return why === undefined ? (oddities?.(record) ?? []) : [why];
    },
    ...(lasted && { lasted: (line) => lasted(recordIn(line) ?? {}) }),
    gather: () => undefined,
    continues: true,
    ...(given.isTurn && { mark: () => ({ is: 'last' }) }),
    ...(keeps && { keeps: (line: JsonObject, before: readonly TreeRecord[]) => keeps(recordIn(line) ?? {}, before) }),
  };
  const read = fromRules(rules);
  return {
    ...read,
    id,
    about,
    tier: 'translated',
    holds: facts,
    ...(pack && { pack: (lines: Uint8Array, options: SessionOptions) => pack(id, read.parse(lines).entries, options) }),
    ...defined({ tools: given.tools, exports: given.exports, database: given.database }),
    recognize: (head, path) => {
      if (beginsAsEntry(head, rules)) return 1;
      const first = scanRecords(rules, head).pieces.find(({ record }) => record !== undefined)?.record;
      return first?.source === id && typeof first.in === 'string' ? 1 : (given.recognize?.(head, path) ?? 0);
    },
  };
}
