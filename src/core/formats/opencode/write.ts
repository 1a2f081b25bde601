import { badRequest, type EntryKey, isObject, type Json, type JsonObject } from '../../base/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { dataUrlOf, namer, objectInput } from '../shared/groups.js';
import { cutAt, encodeLines } from '../shared/jsonl.js';
import { splitKey } from '../shared/keys.js';
import { boxed } from './parse.js';
import { hasResult, isMessage, type MessageLine, nameMessage, readParts, readType, scanLines, splitResultName, unknownModel } from './schema.js';

type Sort = 'user' | 'answer' | 'summary';
interface Group {
  readonly sort: Sort;
  readonly name: string | undefined;
  readonly messageId: string | undefined;
  readonly entries: { readonly entry: WritableEntry; readonly number: number }[];
}

/** Writes a line for each message, named after its first entry's record, with results in their calls, or alone without a call. */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const nameFor = namer(options.newId);
  const lines = groupEntries(entries).flatMap((group) => {
    const line = writeLine(group, nameFor(group.name), options);
    return group.sort === 'summary' ? [requestFor(line), line] : [line];
  });
  return encodeLines(lines);
}

function groupEntries(entries: readonly WritableEntry[]): Group[] {
  const groups: Group[] = [];
  const calls = new Map<string, Group>();
  for (const entry of entries) {
    const key = splitKey(entry.key);
    const block = { entry, number: key?.number ?? 0 };
    const id = entry.toolCallId ?? '';
    const home = entry.role === 'tool' ? calls.get(id) : undefined;
    const last = groups.at(-1);
    const sort: Sort = entry.kind === 'summary' ? 'summary' : entry.role === 'assistant' ? 'answer' : 'user';
    const group = home ?? (last && belongs(last, sort, entry, key?.name) ? last : undefined);
    const own = group ?? { sort: entry.role === 'tool' ? 'answer' : sort, name: key?.name, messageId: entry.messageId, entries: [] };
    if (!group) groups.push(own);
    own.entries.push(block);
    if (entry.kind === 'tool_call' || (entry.kind === 'tool_result' && !calls.has(id))) calls.set(id, own);
  }
  return groups;
}

function belongs(group: Group, sort: Sort, entry: WritableEntry, name: string | undefined): boolean {
  if (entry.role === 'tool') return false;
  const isNote = entry.kind === 'event' && entry.role === 'system';
  if (name !== undefined && name === group.name) return isNote || sort === group.sort;
  return !isNote && sort === 'answer' && group.sort === 'answer' && entry.messageId !== undefined && entry.messageId === group.messageId;
}

function writeLine({ sort, entries }: Group, key: string, options: WriteOptions): MessageLine {
  const [first] = entries as [Group['entries'][number]];
  const at = first.entry.at ?? options.now;
  const created = Date.parse(at);
  const shared = { id: `msg_${key}`, time: { created } };
  const parts = partsFor(entries, created);
  if (sort === 'user') return { key, info: { ...shared, role: 'user', agent: 'build', model: chooseModel(undefined) }, parts };
  const isOrphan = entries.every(({ entry }) => entry.role === 'tool');
  if (isOrphan) return { key, info: { ...shared, role: 'tool' }, parts };
  const { modelID, providerID } = chooseModel(first.entry);
  const fault = entries.find(({ entry }) => entry.marks?.includes('api-error'))?.entry;
  const hasCalls = entries.some(({ entry }) => entry.kind === 'tool_call');
  return {
    key,
    info: {
      ...shared,
      role: 'assistant',
      time: { created, completed: created },
      mode: sort === 'summary' ? 'compaction' : 'build',
      agent: sort === 'summary' ? 'compaction' : 'build',
      ...(sort === 'summary' ? { summary: true } : {}),
      path: { cwd: options.cwd ?? '/', root: '/' },
      cost: 0,
      tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
      modelID,
      providerID,
      ...(fault ? { error: { name: 'UnknownError', data: { message: fault.text ?? '' } } } : { finish: hasCalls ? 'tool-calls' : 'stop' }),
    },
    parts,
  };
}

/** The message that requests a compaction, which the summary answers. */
function requestFor({ info, key }: MessageLine): MessageLine {
  const name = `${String(key)}-request`;
  return {
    key: name,
    info: { id: `msg_${name}`, role: 'user', time: info.time as Json, agent: 'build', model: chooseModel(undefined) },
    parts: [{ type: 'compaction', auto: false }],
  };
}

function chooseModel(entry: WritableEntry | undefined): { readonly providerID: string; readonly modelID: string } {
  const provider = entry?.marks?.find((mark) => mark.startsWith('via:'))?.slice(4);
  // pi records the interface and the provider.
  return { providerID: provider?.split('/').at(-1) || 'anthropic', modelID: entry?.author ?? unknownModel };
}

/** An empty part replaces a removed part, so that the other parts keep their keys. */
const gap: JsonObject = { type: 'text', text: '', ignored: true };
const maxGaps = 1_000;

function partsFor(entries: Group['entries'], created: number): Json[] {
  const parts: JsonObject[] = [];
  const calls = new Map<string, number>();
  for (const { entry, number } of entries) {
    if (entry.marks?.includes('api-error')) continue;
    const known = entry.role === 'tool' ? calls.get(entry.toolCallId ?? '') : undefined;
    if (known !== undefined) {
      parts[known] = withResult(parts[known] as JsonObject, entry, created);
      continue;
    }
    for (let place = parts.length; entry.role !== 'tool' && place < Math.min(number, maxGaps); place++) parts.push(gap);
    if (entry.role === 'tool') {
      calls.set(entry.toolCallId ?? '', parts.length);
      parts.push(withResult(callPart(entry), entry, created));
      continue;
    }
    if (entry.kind === 'tool_call') calls.set(entry.toolCallId ?? '', parts.length);
    parts.push(writePart(entry, created));
  }
  return parts;
}

function writePart(entry: WritableEntry, created: number): JsonObject {
  const text = entry.text ?? '';
  const sealed = isObject(entry.result) ? entry.result : {};
  switch (entry.kind) {
    case 'tool_call':
      return callPart(entry);
    case 'thinking': {
      const signature: JsonObject | undefined = 'signature' in sealed ? { signature: sealed.signature as Json } : undefined;
      const own: JsonObject | undefined = entry.marks?.includes('redacted') ? { redactedData: sealed.data ?? '' } : signature;
      return { type: 'reasoning', text, time: { start: created, end: created }, ...(own && { metadata: { anthropic: own } }) };
    }
    case 'image':
      return filePart(entry);
    case 'event':
      return typeof sealed.type === 'string' ? sealed : { type: 'text', text: entry.text ?? entry.toolName ?? '', ignored: true };
    default: {
      if (entry.marks?.includes('subtask') && typeof sealed.type === 'string') return sealed;
      const isInjected = entry.role !== 'assistant' && (entry.role === 'system' || entry.marks?.includes('meta'));
      return { type: 'text', text, ...(isInjected && { synthetic: true }), ...(entry.marks?.includes('ignored') && { ignored: true }) };
    }
  }
}

function filePart({ media, result }: WritableEntry): JsonObject {
  if (!media) return isObject(result) ? result : { type: 'text', text: '[image]' };
  return { type: 'file', mime: media.mediaType, url: dataUrlOf(media) };
}

/** A call without a result is written as never run. */
const callPart = (entry: WritableEntry): JsonObject => ({
  type: 'tool',
  callID: entry.toolCallId ?? '',
  tool: entry.toolName ?? '',
  state: { status: 'pending', input: objectInput(entry), raw: '' },
});

function withResult(part: JsonObject, entry: WritableEntry, created: number): JsonObject {
  const state = part.state as JsonObject;
  if (entry.kind !== 'tool_result') {
    const before = Array.isArray(state.attachments) ? state.attachments : [];
    return { ...part, state: { ...state, attachments: [...before, filePart(entry)] } };
  }
  const end = entry.at === undefined ? created : Date.parse(entry.at);
  const shared = { input: state.input ?? {}, metadata: metadataOf(entry), time: { start: created, end } };
  const text = entry.text ?? '';
  if (entry.isError) return { ...part, state: { status: 'error', error: text, ...shared } };
  return { ...part, state: { status: 'completed', output: text, title: String(part.tool ?? ''), ...shared } };
}

function metadataOf({ result }: WritableEntry): JsonObject {
  if (result === undefined) return {};
  return isObject(result) && Object.keys(result).length > 0 ? result : { [boxed]: result as Json };
}

/** The delta up to the entry. A message with more parts is written again without them. @throws BAD_REQUEST if no such entry exists. */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const key = splitKey(lastKept);
  const lines = scanLines(delta).pieces.flatMap(({ record, range }) =>
    record && isMessage(record) ? [{ line: record, range, name: nameMessage(record) }] : [],
  );
  const result = key && splitResultName(key.name);
  const own = key && lines.find(({ name }) => name === key.name);
  const found = own ?? lines.find(({ name }) => name === result?.name);
  if (!key || !found) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  const shorter = own ? upToPart(found.line, found.name, key.number) : upToResult(found.line, found.name, result?.number ?? 0);
  return cutAt(delta, found.range, shorter);
}

function upToPart(line: MessageLine, key: string, last: number): MessageLine | undefined {
  const parts = readParts(line);
  if (line.info.role === 'tool' || (last >= parts.length - 1 && !parts.some(hasResult))) return undefined;
  return { ...line, key, parts: parts.slice(0, last + 1).map(opened) };
}

function upToResult(line: MessageLine, key: string, last: number): MessageLine | undefined {
  const parts = readParts(line);
  if (!parts.slice(last + 1).some(hasResult)) return undefined;
  return { ...line, key, parts: parts.map((part, place) => (place <= last ? part : opened(part))) };
}

const opened = (part: JsonObject): JsonObject =>
  readType(part) === 'tool' && isObject(part.state) ? { ...part, state: { status: 'pending', input: part.state.input ?? {}, raw: '' } } : part;
