// The outline of a delta: its entries without their content, enough for counts, bars and navigation.
import { type EntryKey, isObject, parseJson } from '../../base/index.js';
import { type Kind, kinds, type Role, roles } from '../../contract/index.js';
import { type Elision, isHidden, type ParsedDelta, type ParsedEntry } from '../parsed.js';
import type { CallCount, CallPart } from './calls.js';
import { recordOfKey } from './keys.js';

export { isHidden } from '../parsed.js';

export interface OutlineEntry extends Pick<ParsedEntry, 'key' | 'role' | 'kind' | 'tokens'> {
  readonly hidden: boolean;
  readonly isError: boolean;
  readonly head: string | undefined;
  readonly toolCallId: string | undefined;
  readonly messageId: string | undefined;
}

/** All entries of a delta in order, hidden ones included, and its effect on earlier entries. */
export interface DeltaOutline {
  readonly entries: readonly OutlineEntry[];
  readonly elisions: readonly Elision[];
}

/** Counts of what a delta sends to the model. Consecutive entries of one wire message are one message. */
export interface OutlineCounts {
  readonly messages: number;
  readonly tokens: number;
  readonly errors: number;
  /** Hidden entries included. */
  readonly entries: number;
}

/** An outline as it is stored, with its counts. It is made from parts, so that the entries of a delta need not be in memory. */
export interface StoredOutline {
  readonly data: string;
  readonly counts: OutlineCounts;
  /** The calls whose replies the delta contains, if the planner read them with the outline. */
  readonly calls?: readonly CallCount[] | undefined;
}

export interface OutlinePart extends OutlineCounts {
  /** Entries and elisions as JSON list members, without the brackets. */
  readonly entriesJson: string;
  readonly elisionsJson: string;
  /** The wire messages of the first and the last visible entry. */
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly call?: CallPart | undefined;
}

export type StoredEntry = readonly [
  key: string,
  role: number,
  kind: number,
  tokens: number,
  flags: number,
  head: string | 0,
  toolCallId: string | 0,
  messageId: string | 0,
];
const hiddenFlag = 1;
const errorFlag = 2;
const headLength = 120;

/** An entry without its content. An empty name or id counts as missing. The beginnings of texts are most of an outline's cost, so counts and numbers go without a head. */
const outlineEntry = (entry: ParsedEntry, head?: string): OutlineEntry => ({
  key: entry.key,
  role: entry.role,
  kind: entry.kind,
  tokens: entry.tokens,
  hidden: isHidden(entry),
  isError: entry.isError ?? false,
  head: head || undefined,
  toolCallId: entry.toolCallId || undefined,
  messageId: entry.messageId || undefined,
});

/** The outline of parsed entries. */
export const outlineOfParsed = ({ entries, elisions }: Pick<ParsedDelta, 'entries' | 'elisions'>): DeltaOutline => ({
  elisions,
  entries: entries.map((entry) => outlineEntry(entry, writeHead(entry))),
});

/** The head of an outline row: the beginning of a prompt or summary, the tool of a call or result. */
function writeHead(entry: ParsedEntry): string | undefined {
  if (entry.toolName !== undefined) return entry.toolName;
  const text = entry.text && spaced(entry.text.slice(0, headLength * 2)).trim();
  // A cut can fall between the two halves of a character.
  return text ? text.slice(0, headLength).toWellFormed() : undefined;
}

/** Replaces each run of white space by one space. */
const spaced = (text: string): string => text.replace(/\s\s+|[^\S ]/g, ' ');

/** The counts without an outline. */
export const countsOfParsed = ({ entries }: Pick<ParsedDelta, 'entries'>): OutlineCounts =>
  countOutline({ entries: entries.map((entry) => outlineEntry(entry)) });

/** The counts of an outline. */
export function countOutline({ entries }: Pick<DeltaOutline, 'entries'>): OutlineCounts {
  const { first: _, last: __, ...counts } = countsWithEnds(entries);
  return counts;
}

function countsWithEnds(counted: readonly OutlineEntry[]): Omit<OutlinePart, 'entriesJson' | 'elisionsJson'> {
  let messages = 0;
  let tokens = 0;
  let errors = 0;
  let first: string | undefined;
  let last: string | undefined;
  for (const entry of counted) {
    if (entry.hidden) continue;
    const message = entry.messageId ?? recordOfKey(entry.key);
    if (message !== last) messages += 1;
    first ??= message;
    last = message;
    tokens += entry.tokens;
    if (entry.isError) errors += 1;
  }
  return { messages, tokens, errors, entries: counted.length, first, last };
}

/** The outline of one record; undefined if it has no entries and no elisions. */
export function outlinePart(parsed: Pick<ParsedDelta, 'entries' | 'elisions'>, call?: CallPart): OutlinePart | undefined {
  const { entries, elisions } = outlineOfParsed(parsed);
  if (entries.length === 0 && elisions.length === 0 && !call) return undefined;
  const { messages, tokens, errors, first, last } = countsWithEnds(entries);
  return {
    call,
    entriesJson: entries.length > 0 ? JSON.stringify(entries.map(stored)).slice(1, -1) : '',
    elisionsJson: elisions.length > 0 ? JSON.stringify(elisions).slice(1, -1) : '',
    messages,
    tokens,
    errors,
    entries: entries.length,
    first,
    last,
  };
}

/** Joins the outlines of records that follow each other in a delta. */
export function outlineOfParts(parts: Iterable<OutlinePart>): StoredOutline {
  const entriesJson: string[] = [];
  const elisionsJson: string[] = [];
  let [messages, tokens, errors, entries] = [0, 0, 0, 0];
  let last: string | undefined;
  for (const part of parts) {
    if (part.entriesJson !== '') entriesJson.push(part.entriesJson);
    if (part.elisionsJson !== '') elisionsJson.push(part.elisionsJson);
    messages += part.messages - (last !== undefined && part.first === last ? 1 : 0);
    tokens += part.tokens;
    errors += part.errors;
    entries += part.entries;
    last = part.last ?? last;
  }
  return { data: `[[${entriesJson.join(',')}],[${elisionsJson.join(',')}]]`, counts: { messages, tokens, errors, entries } };
}

/** The outline of a whole delta, as it is stored. */
export const outlined = (parsed: Pick<ParsedDelta, 'entries' | 'elisions'>): StoredOutline =>
  outlineOfParts([outlinePart(parsed)].filter((part) => part !== undefined));

/** The stored form of an outline. */
export const encodeOutline = ({ entries, elisions }: DeltaOutline): string => JSON.stringify([entries.map(stored), elisions]);

const stored = (entry: OutlineEntry): StoredEntry => [
  entry.key,
  roles.indexOf(entry.role),
  kinds.indexOf(entry.kind),
  entry.tokens,
  (entry.hidden ? hiddenFlag : 0) | (entry.isError ? errorFlag : 0),
  entry.head || 0,
  entry.toolCallId || 0,
  entry.messageId || 0,
];

/** A number for each entry, as a JSON list: tokens, flags, role and kind. SQLite sorts numbers in a tenth of the memory of texts. */
export const entryNumbers = (entries: readonly StoredEntry[]): string =>
  JSON.stringify(entries.map(([, role, kind, tokens, flags]) => tokens * 65_536 + (flags & 255) * 256 + (role & 15) * 16 + (kind & 15)));

/** The same for the entries of a parsed delta. */
export const parsedNumbers = (entries: readonly ParsedEntry[]): string => entryNumbers(entries.map((entry) => stored(outlineEntry(entry))));

/** The entries of an encoded outline, as they are stored. */
export const storedEntries = (data: string): readonly StoredEntry[] => (JSON.parse(data) as [StoredEntry[]])[0];

/** Reads the stored form of an outline. */
export function decodeOutline(data: string): DeltaOutline {
  const [entries, elisions] = JSON.parse(data) as [StoredEntry[], Elision[]];
  return {
    elisions,
    entries: entries.map(([key, role, kind, tokens, flags, head, toolCallId, messageId]) => ({
      key: key as EntryKey,
      role: roles[role] as Role,
      kind: kinds[kind] as Kind,
      tokens,
      hidden: (flags & hiddenFlag) !== 0,
      isError: (flags & errorFlag) !== 0,
      head: head || undefined,
      toolCallId: toolCallId || undefined,
      messageId: messageId || undefined,
    })),
  };
}

/** The elisions of an encoded outline. Most have none, and these are not parsed. */
export const storedElisions = (data: string): readonly Elision[] => (data.endsWith(',[]]') ? [] : decodeOutline(data).elisions);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isName = (value: unknown): boolean => value === 0 || (typeof value === 'string' && value.length <= maxReceivedName);
const maxReceivedName = 4_096;

/** Reads the stored form of an outline from another machine. Undefined if it is none: its content says the same, and is checked. */
export function receivedOutline(data: string): DeltaOutline | undefined {
  const value = parseJson(data);
  const [entries, elisions] = Array.isArray(value) ? value : [];
  const isEntry = (entry: unknown): boolean => {
    if (!Array.isArray(entry) || entry.length !== 8) return false;
    const [key, role, kind, tokens, flags, head, toolCallId, messageId] = entry as unknown[];
    const isPlace = (value: unknown, list: readonly unknown[]): boolean => isCount(value) && (value as number) < list.length;
    return (
      typeof key === 'string' &&
      key.length <= maxReceivedName &&
      isPlace(role, roles) &&
      isPlace(kind, kinds) &&
      [tokens, flags].every(isCount) &&
      [head, toolCallId, messageId].every(isName)
    );
  };
  const isElision = (elision: unknown): boolean =>
    isObject(elision) &&
    typeof elision.text === 'string' &&
    Array.isArray(elision.toolCallIds) &&
    elision.toolCallIds.every((id) => typeof id === 'string');
  return Array.isArray(entries) && Array.isArray(elisions) && entries.every(isEntry) && elisions.every(isElision) ? decodeOutline(data) : undefined;
}
