// Entries as separate lines, in any format of lines. A fork writes them if it cuts inside a record, and formats that no agent resumes write nothing
// else. The line contains every fact of its entry.
import { type EntryKey, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { kinds, roles } from '../../contract/index.js';
import type { Mutable, ParsedEntry, TokenUsage, WritableEntry, WriteOptions } from '../format.js';
import { type Numbered, noCall, readMember, unknownUsage, usageIn, withUsage } from './drafts.js';
import { base64Of, namer } from './groups.js';
import { encodeLines, readTime } from './jsonl.js';
import { countTokens, imageTokens } from './tokens.js';

/** Whether a line holds one entry. Its member `stemma` names the format, so that such a file is recognized. */
export const isEntryLine = (record: JsonObject): boolean => typeof record.stemma === 'string' && typeof record.key === 'string' && record.key !== '';

/** Writes entries as lines. An entry without a key, or whose key came before, gets a new one. */
export function writeEntryLines(formatId: string): (entries: readonly WritableEntry[], options: WriteOptions) => Uint8Array {
  return (entries, options) => {
    const keyFor = namer(() => `${options.newId()}.0`);
    return encodeLines(entries.map((entry) => writeLine(formatId, { ...entry, key: keyFor(entry.key) as EntryKey })));
  };
}

/** The line of an entry. */
export function writeLine(formatId: string, entry: WritableEntry & { readonly key: EntryKey }): object {
  const { key, role, kind, text, toolName, toolCallId, arguments: input, result, isError, media, at, author, marks, messageId, usage } = entry;
  return {
    stemma: formatId,
    key,
    role,
    kind,
    ...{ text, toolName, toolCallId, arguments: input, result },
    ...(isError === true && { isError }),
    ...(media && { media: { mediaType: media.mediaType, data: base64Of(media) } }),
    ...{ timestamp: at, author },
    ...(marks && marks.length > 0 && { marks }),
    ...{ messageId, usage },
  };
}

/** The entries that Stemma wrote beside a foreign record; edited ones may lack keys. `usage` has the counts for agents that count calls apart. */
export function entriesBeside(lines: readonly JsonObject[], usage: TokenUsage | undefined): readonly Numbered[] {
  const entries = lines.map((line, at): Numbered => {
    const { key, ...entry } = entryIn(line);
    return [key === '' ? at : key, entry];
  });
  return entries.some(([, entry]) => entry.usage) ? entries : withUsage(entries, usage);
}

/** The entry of such a line, without its place in the delta. */
export function entryIn(record: JsonObject): Omit<ParsedEntry, 'raw'> {
  const [key, text, at] = [stringAt(record, 'key') ?? '', stringAt(record, 'text'), readTime(record)];
  const [mediaType, data] = [stringAt(record.media, 'mediaType'), stringAt(record.media, 'data')];
  const kind = kinds.find((one) => one === record.kind) ?? 'event';
  const entry: Mutable<Omit<ParsedEntry, 'raw'>> = {
    key: key as EntryKey,
    role: roles.find((one) => one === record.role) ?? 'system',
    kind,
    tokens: 0,
  };
  if (text !== undefined) entry.text = text;
  for (const name of ['toolName', 'toolCallId', 'author', 'messageId'] as const) {
    const value = stringAt(record, name);
    if (value !== undefined) entry[name] = value;
  }
  const input = readMember(record, 'arguments');
  if (input !== undefined) entry.arguments = input;
  const result = readMember(record, 'result');
  if (result !== undefined) entry.result = result;
  if (record.isError === true) entry.isError = true;
  if (mediaType !== undefined && data !== undefined) entry.media = { mediaType, bytes: Buffer.from(data, 'base64') };
  if (at !== undefined) entry.at = at;
  if (Array.isArray(record.marks)) entry.marks = record.marks.filter((mark): mark is string => typeof mark === 'string');
  const usage = readUsage(record.usage);
  if (usage) entry.usage = usage;
  return entry.marks?.includes('hidden') ? entry : { ...entry, tokens: countEntry(entry, text) };
}

function countEntry(entry: Pick<ParsedEntry, 'kind' | 'toolName' | 'arguments'>, text: string | undefined): number {
  if (entry.kind === 'image') return imageTokens;
  if (entry.kind !== 'tool_call') return countTokens(text ?? '');
  return countTokens(entry.toolName ?? '') + countTokens(JSON.stringify(entry.arguments ?? {}));
}

function readUsage(value: Json | undefined): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning } = value;
  const countFlaw = stringAt(value, 'countFlaw');
  if (readMember(value, 'isCopy') === true) return noCall;
  const usage = usageIn({ input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning }, 'beside');
  return countFlaw === undefined ? usage : { ...(usage ?? unknownUsage), countFlaw };
}

/** The records with lines of entries written by the format's own writer. */
export function inRecords(
  records: readonly JsonObject[],
  write: (entries: readonly WritableEntry[]) => readonly JsonObject[],
): readonly JsonObject[] {
  const all: JsonObject[] = [];
  let waiting: WritableEntry[] = [];
  for (const record of [...records, undefined]) {
    if (record && isEntryLine(record)) {
      const { tokens: _, ...entry } = entryIn(record);
      waiting.push(entry);
      continue;
    }
    if (waiting.length > 0) all.push(...write(waiting));
    waiting = [];
    if (record) all.push(record);
  }
  return all;
}
