import { badRequest, bytesOf, type EntryKey, type JsonObject } from '../../base/index.js';
import type { WritableEntry, WriteOptions } from '../format.js';
import { blockOfNumber } from './entries.js';
import { type Piece, scanLines } from './lines.js';
import { isChained, uuidOf } from './record.js';

/** The uuid and the place of the block in its record, as an entry's key names them. */
export function splitKey(key: string): { readonly uuid: string; readonly block: number } | undefined {
  const match = /^(.+)\.(\d+)$/.exec(key);
  return match ? { uuid: match[1] as string, block: blockOfNumber(Number(match[2])) } : undefined;
}

/**
 * A delta of new records that holds the entries, one after the other. Entries of one record (by key), and answers of one message, keep
 * together; a key that is no `<uuid>.<block>` of this format is replaced by a new id.
 */
export function writeEntries(entries: readonly WritableEntry[], options: WriteOptions): Uint8Array {
  const lines: string[] = [];
  let parentUuid = options.parentRecord ?? null;
  const used = new Set<string>();
  const images = new Map<WritableEntry, WritableEntry[]>();
  const roots: WritableEntry[] = [];
  for (const entry of entries) {
    const owner = roots.at(-1);
    if (entry.kind === 'image' && entry.role === 'tool' && owner?.kind === 'tool_result' && owner.toolCallId === entry.toolCallId)
      images.set(owner, [...(images.get(owner) ?? []), entry]);
    else roots.push(entry);
  }
  for (let at = 0; at < roots.length; ) {
    const first = roots[at] as WritableEntry;
    const uuid = keptUuid(first, used) ?? options.newId();
    used.add(uuid);
    const group = [first];
    for (at++; at < roots.length && sameRecord(first, roots[at] as WritableEntry, uuid); at++) group.push(roots[at] as WritableEntry);
    lines.push(JSON.stringify(recordOf(group, uuid, parentUuid, options, images)));
    parentUuid = uuid;
  }
  return bytesOf(lines.map((line) => `${line}\n`).join(''));
}

const keptUuid = (entry: WritableEntry, used: ReadonlySet<string>): string | undefined => {
  const uuid = entry.key === undefined ? undefined : splitKey(entry.key)?.uuid;
  return uuid !== undefined && !used.has(uuid) ? uuid : undefined;
};

const sideOf = (entry: WritableEntry): 'assistant' | 'user' => (entry.role === 'assistant' ? 'assistant' : 'user');
function sameRecord(first: WritableEntry, next: WritableEntry, uuid: string): boolean {
  return (
    next.key !== undefined && splitKey(next.key)?.uuid === uuid && sideOf(first) === sideOf(next) && first.kind !== 'summary' && next.kind !== 'event'
  );
}

function recordOf(
  group: readonly WritableEntry[],
  uuid: string,
  parentUuid: string | null,
  options: WriteOptions,
  images: ReadonlyMap<WritableEntry, readonly WritableEntry[]>,
): JsonObject {
  const first = group[0] as WritableEntry;
  const envelope = {
    parentUuid,
    isSidechain: false,
    userType: 'external',
    cwd: options.cwd ?? '/',
    ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId }),
    version: '2.1.329',
    gitBranch: '',
  };
  const tail = { uuid, timestamp: first.at ?? options.now };
  if (first.kind === 'event' || (first.role === 'system' && first.kind === 'text')) {
    return {
      ...envelope,
      type: 'system',
      subtype: first.toolName ?? 'informational',
      content: first.text ?? '',
      level: 'info',
      isMeta: false,
      ...tail,
    } as JsonObject;
  }
  if (sideOf(first) === 'assistant') {
    const id = first.messageId ?? `msg_${uuid.replaceAll('-', '').slice(0, 24)}`;
    const content = group.map((entry) => assistantBlock(entry));
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: options.model ?? '<synthetic>',
      content,
      stop_reason: group.some((entry) => entry.kind === 'tool_call') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    };
    return { ...envelope, type: 'assistant', message, ...tail } as unknown as JsonObject;
  }
  const summary = first.kind === 'summary' ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : {};
  const meta = group.every((entry) => entry.marks?.includes('meta')) ? { isMeta: true } : {};
  const plain = group.length === 1 && first.kind !== 'tool_result' && first.kind !== 'image';
  const content = plain ? (first.text ?? '') : group.map((entry) => userBlock(entry, images.get(entry) ?? []));
  const structured = group.length === 1 && first.kind === 'tool_result' && first.result !== undefined ? { toolUseResult: first.result } : {};
  return { ...envelope, type: 'user', message: { role: 'user', content }, ...summary, ...meta, ...structured, ...tail } as unknown as JsonObject;
}

function assistantBlock(entry: WritableEntry): object {
  const { result } = entry;
  switch (entry.kind) {
    case 'thinking':
      return entry.marks?.includes('redacted')
        ? { type: 'redacted_thinking', ...(result as object) }
        : { type: 'thinking', thinking: entry.text ?? '', signature: '', ...(result as object | undefined) };
    case 'tool_call':
      return {
        type: entry.marks?.includes('server') ? 'server_tool_use' : 'tool_use',
        id: entry.toolCallId ?? '',
        name: entry.toolName ?? '',
        input: entry.arguments ?? {},
      };
    default:
      return { type: 'text', text: entry.text ?? '' };
  }
}

function userBlock(entry: WritableEntry, images: readonly WritableEntry[]): object {
  if (entry.kind === 'image') return imageBlock(entry);
  if (entry.kind !== 'tool_result') return { type: 'text', text: entry.text ?? '' };
  const text = entry.text ?? '';
  const content = images.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...images.map(imageBlock)];
  return { type: 'tool_result', tool_use_id: entry.toolCallId ?? '', content, ...(entry.isError ? { is_error: true } : {}) };
}

function imageBlock(entry: WritableEntry): object {
  if (!entry.media) return typeof entry.result === 'object' && entry.result !== null ? entry.result : { type: 'text', text: entry.text ?? '[image]' };
  const { mediaType, bytes } = entry.media;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return { type: mediaType === 'application/pdf' ? 'document' : 'image', source: { type: 'base64', media_type: mediaType, data } };
}

/** Deltas one after the other, each ended by a newline: one is added where it is missing, none where it is there (decisions, rule 8). */
export function concatLines(deltas: readonly Uint8Array[]): Uint8Array {
  const present = deltas.filter((delta) => delta.length > 0);
  const size = present.reduce((sum, delta) => sum + delta.length + 1, 0);
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  present.forEach((delta, index) => {
    whole.set(delta, at);
    at += delta.length;
    if (delta[delta.length - 1] !== 0x0a && index < present.length - 1) whole[at++] = 0x0a;
  });
  return whole.subarray(0, at);
}

/**
 * The delta up to and including the entry. A record that holds more blocks than are kept is written again with the kept ones: all other
 * bytes stay as they are.
 * @throws BAD_REQUEST when the delta has no such entry.
 */
export function cutLines(delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const key = splitKey(lastKept);
  const { pieces } = scanLines(delta);
  const found =
    key && pieces.find(({ record, sort }) => sort === 'record' && record !== undefined && isChained(record) && uuidOf(record) === key.uuid);
  if (!key || !found?.record) throw badRequest('at', `at is ${lastKept}, which is no entry of this delta`);
  const shorter = shorten(found, key.block);
  return shorter === undefined
    ? delta.slice(0, found.range.end)
    : concatLines([delta.slice(0, found.range.start), bytesOf(`${JSON.stringify(shorter)}\n`)]);
}

function shorten({ record }: Piece, last: number): JsonObject | undefined {
  const message = record?.message;
  if (!record || typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  const { content } = message as JsonObject;
  if (!Array.isArray(content) || last >= content.length - 1) return undefined;
  return { ...record, message: { ...message, content: content.slice(0, last + 1) } };
}
