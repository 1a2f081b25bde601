import { decodeText, defined, type Json, type JsonObject, parseJson } from '../../base/index.js';
import { digest } from '../digest.js';
import type { DocumentReader, Member, Problem } from '../format.js';
import { linesOnce, type NumberedLine, saidBefore } from '../shared/copies.js';
import { cutOff, listBegun } from '../shared/cut-list.js';
import { objectsIn } from '../shared/drafts.js';
import { clip } from '../shared/headline.js';
import { isDeep } from '../shared/jsonl.js';
import { scalarsFirst } from '../shared/top-members.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { type Applied, applied, asRecord } from './apply.js';
import { joinRecords } from './join-records.js';
import { unreadMark } from './parse.js';
import type { MappingRules } from './rules.js';

export const formatId = 'mapped-v1';

/** The document that a mapping reads: the value of a JSON file, or the values of the lines of a JSONL file. Lines that are not JSON are skipped. */
export function documentIn(bytes: Uint8Array): Json | undefined {
  const text = decodeText(bytes);
  const whole = parseJson(text);
  if (whole !== undefined) return isDeep(whole) ? undefined : whole;
  const begun = listBegun(text);
  if (begun) return begun.values.flatMap(({ value }) => (isDeep(value) ? [] : [value]));
  const lines = linesToRead(text).flatMap(({ value }): Json[] => (value === undefined || isDeep(value) ? [] : [value]));
  return lines.length > 0 ? lines : undefined;
}

/** The first line of a log that names its session. A line without a name may be said twice. */
const namesSession = /"\w*(?:session|thread|conversation)_?id"\s*:/i;

/** The number of lines after which a log begins again with the same session; undefined if it stands in the file once. */
function lengthOfCopy(lines: readonly NumberedLine[]): number | undefined {
  const first = lines[0]?.line;
  const again = first !== undefined && namesSession.test(first) ? lines.findIndex(({ line }, at) => at > 0 && line === first) : -1;
  return again > 1 && lines.every(({ line }, at) => line === lines[at % again]?.line) ? again : undefined;
}

/** The lines of a log without copies. If a file repeats its log, the log is read once. */
function linesToRead(text: string): readonly NumberedLine[] {
  const { read } = linesOnce(text);
  return read.slice(0, lengthOfCopy(read));
}

const textToRead = (document: Uint8Array): string =>
  linesToRead(decodeText(document))
    .map(({ line }) => line)
    .join('\n');

/** The lines that are no JSON, of a document that is not one JSON value, copies of lines, and the line at which a log begins again. */
export function linesUnread(bytes: Uint8Array): readonly Problem[] {
  const text = decodeText(bytes);
  if (parseJson(text) !== undefined) return [];
  const begun = listBegun(text);
  if (begun) return [{ line: begun.cutAt, reason: cutOff }];
  const { read, copies } = linesOnce(text);
  const length = lengthOfCopy(read);
  const again = length === undefined ? [] : [{ line: read[length]?.number ?? 0, reason: 'the same log stands in this file again: it is read once' }];
  const broken = read.flatMap(({ value, number }) => (value === undefined ? [{ line: number, reason: 'not JSON' }] : []));
  return [...broken, ...copies.map(({ number }) => ({ line: number, reason: saidBefore })), ...again];
}

/** Why a mapping finds no entries in a document: the first selector that selects nothing. */
export function reasonForNothing(mapping: MappingRules, bytes: Uint8Array): string {
  const document = documentIn(bytes);
  if (document === undefined) return 'the file is neither JSON nor lines of JSON';
  const prepared = applied(mapping);
  const selectsNothing = (name: 'recognize' | 'sessions' | 'records', path = ''): string => `${name} (${path}) selects nothing in this file`;
  if (!prepared.recognizes(document)) return selectsNothing('recognize', mapping.recognize);
  const sessions = prepared.sessions(document);
  if (sessions.length === 0) return selectsNothing('sessions', mapping.sessions);
  const records = sessions.reduce<number>((sum, session) => sum + prepared.records(session).length, 0);
  if (records === 0) return selectsNothing('records', mapping.records ?? '$[*]');
  return `no rule of entries finds an entry in the ${records === 1 ? 'record' : `${records} records`}`;
}

/** The conversations of a document by a mapping; undefined if the mapping does not recognize the document. */
export function membersIn(mapping: MappingRules, document: Json | undefined, path = ''): readonly Member[] | undefined {
  const prepared = applied(mapping);
  if (document === undefined || !prepared.recognizes(document)) return undefined;
  const sessions = prepared.sessions(document);
  const fileName = nameByFile(path);
  const taken = new Set<string>();
  return sessions.flatMap((session, number): Member[] => {
    const own = prepared.about(session, 'id') ?? (sessions.length === 1 && fileName !== '' ? fileName : `${fileName}${number + 1}`);
    const id = taken.has(own) ? `${own}-${number + 1}` : own;
    taken.add(id);
    const records = readRecords(prepared, session, id);
    if (!records.some(({ record }) => objectsIn(record.entries).some(isRead))) return [];
    const [title, cwd, machine] = (['title', 'cwd', 'machine'] as const).map((fact) => prepared.about(session, fact));
    const clipped = title === undefined ? undefined : (clip(title) ?? title.slice(0, 100));
    const about: JsonObject = { sessionId: id, agent: mapping.name, ...defined({ title: clipped, cwd, machine }) };
    return [{ id, lines: () => wrapLines(formatId, id, about, records), ...defined({ title, cwd }) }];
  });
}

const isRead = ({ marks }: JsonObject): boolean => !(Array.isArray(marks) && marks.includes(unreadMark));

/** File names that many conversations share. */
const commonNames = new Set(['conversation', 'events', 'history', 'log', 'messages', 'session', 'trajectory', 'transcript', 'wire']);

/** The name of a conversation whose file contains no id: the name of the file, with its folders if many conversations have the same file name. */
function nameByFile(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== '');
  const name = (parts.pop() ?? '').replace(/(?:\.(?:jsonl?|traj))+$/, '');
  return commonNames.has(name) ? [...parts.slice(-3), name].join('/') : name;
}

/** Each record of a session with the entries that the mapping makes of it. Repeated ids get a number. */
function readRecords(prepared: Applied, session: Json, sessionId: string): readonly Wrapped[] {
  let before = '';
  const values = prepared.records(session).map((value, position): Unmapped => {
    const { id, parent, at } = prepared.place(value);
    if (id !== undefined) return { id, source: value, parent, at };
    // The print of all content up to here, so that files with the same name never share different records.
    before = digest(`${before}${JSON.stringify(value)}`);
    return { id: `${position}-${before}`, source: value, parent, at };
  });
  return wrapRecords(prepared, values, sessionId);
}

/** A record of a file or database before the mapping is applied. */
export interface Unmapped {
  readonly id: string;
  readonly source: Json;
  readonly parent?: string | null | undefined;
  readonly at?: unknown;
}

/** Applies the mapping to records. Ids that repeat get a number. */
export function wrapRecords(prepared: Applied, records: readonly Unmapped[], sessionId: string): readonly Wrapped[] {
  const seen = new Map<string, number>();
  const named = records.map((record) => {
    const count = seen.get(record.id) ?? 0;
    seen.set(record.id, count + 1);
    return { ...record, id: count === 0 ? record.id : `${record.id}~${count}` };
  });
  const entries = joinRecords(
    named.map(({ id, source }) => ({ id, entries: prepared.entries(source), ...prepared.callOf(source) })),
    sessionId,
  );
  return named.map(
    ({ id, source, parent, at }, number): Wrapped => ({
      id,
      record: { entries: entries[number] ?? [], source: asRecord(source) } as JsonObject,
      ...defined({ parent, at }),
    }),
  );
}

/** A built-in mapping, and a pattern for the beginning of its tool's files. */
export interface BuiltIn {
  readonly mapping: MappingRules;
  readonly begins: (head: string, path: string) => boolean;
  /** Reads a text that is no JSON, or whose records say the same twice. `beside` is the text of the document next to it. */
  readonly read?: (text: string, beside: string | undefined) => Json | undefined;
  /** The text that `read` reads has a JSON record on each line. */
  readonly ofLines?: true;
  /** The name of a document next to it that is read together with a document of this name. */
  readonly beside?: { readonly name: string; readonly other: string };
}

/** A reader of the documents of these mappings. */
export function readerOfMappings(mappings: readonly BuiltIn[], endings: readonly string[]): DocumentReader {
  return {
    keeps: true,
    endings,
    unread: (document) => {
      const head = decodeText(document.subarray(0, 4_096));
      const one = mappings.find(({ begins }) => begins(head, ''));
      if (!one?.read || one.ofLines) return linesUnread(document);
      const isEmpty = applied(one.mapping).sessions(one.read(decodeText(document), undefined) ?? []).length === 0;
      return isEmpty ? [{ line: 1, reason: `a history of ${one.mapping.name} without a prompt or an answer: nothing of it was read` }] : [];
    },
    together: (path) => {
      const [, folder = '', name = ''] = /^(.*?)([^/\\]*)$/s.exec(path) ?? [];
      const beside = mappings.find((one) => one.beside?.name === name)?.beside;
      return beside && { main: path, others: [`${folder}${beside.other}`] };
    },
    recognize: (head, path = '') => {
      const text = decodeText(head);
      return mappings.some(({ begins }) => begins(text, path));
    },
    members(document, path = '', beside) {
      const head = decodeText(document.subarray(0, 4_096));
      const readers = mappings.filter(({ begins }) => begins(head, path));
      let isText = false;
      const sorted = readers.length === 0 ? scalarsFirst(decodeText(document)) : undefined;
      for (const one of sorted === undefined ? readers : mappings.filter(({ begins }) => begins(sorted.slice(0, 4_096), path))) {
        const other = [...(beside ?? new Map<string, Uint8Array>())].find(([name]) => one.beside && name.endsWith(one.beside.other))?.[1];
        const value = one.read
          ? one.read(one.ofLines ? textToRead(document) : decodeText(document), other && decodeText(other))
          : documentIn(document);
        const members = membersIn(one.mapping, value, path);
        if (members && members.length > 0) return members;
        isText ||= one.read !== undefined && one.ofLines === undefined;
      }
      // A text of a known tool that says nothing is in no other format.
      return isText ? [] : undefined;
    },
  };
}
