import { decodeText, defined, type EntryKey, encodeText, type Json, parseInstant, toTimestamp } from '../../base/index.js';
import { kinds, roles } from '../../contract/index.js';
import { digest } from '../digest.js';
import type { ParsedEntry, WritableEntry } from '../format.js';
import { type Cbor, toJson } from '../shared/cbor.js';
import { answered, called, said, thought, type UnplacedEntry } from '../shared/drafts.js';
import { parseShallow } from '../shared/jsonl.js';
import { countTokens, imageTokens } from '../shared/tokens.js';

const types = ['prompt', 'tool_call', 'tool_result', 'response', 'metric', 'output', 'error', 'system', 'thinking'] as const;
type EventType = (typeof types)[number];
type Members = Readonly<Record<string, Cbor | undefined>>;

const readMembers = (value: Cbor | undefined): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array) ? (value as Members) : {};
const textAt = (members: Members, name: string): string | undefined => {
  const value = members[name];
  return typeof value === 'string' ? value : value instanceof Uint8Array ? decodeText(value) : undefined;
};
/** JSON in a byte string, or as CBOR. */
const jsonAt = (members: Members, name: string): Json | undefined => {
  const value = members[name];
  if (value === undefined || value === null) return undefined;
  return value instanceof Uint8Array ? (parseShallow(decodeText(value)) ?? decodeText(value)) : toJson(value);
};
const rawJson = (value: unknown): Uint8Array => encodeText(JSON.stringify(value ?? {}));

/** Whether the value has a known event type. */
export const isEvent = (value: Cbor): boolean => types.includes(readMembers(value).type as EventType);

/** The entry of one event. Its key comes from `bytes` and the event's position. */
export function entryOf(value: Cbor, bytes: Uint8Array, place: number): ParsedEntry {
  const event = readMembers(value);
  const type = event.type as EventType;
  const instant = parseInstant(textAt(event, 'timestamp') ?? '');
  return {
    ...(type === 'system' ? systemEntry(readMembers(event.system)) : plainEntry(type, readMembers(event[type]))),
    key: `e${place}-${digest(bytes)}.0` as EntryKey,
    ...(instant !== undefined && { at: toTimestamp(instant) }),
  };
}

const runtime = 'runtime';

function plainEntry(type: Exclude<EventType, 'system'>, member: Members): UnplacedEntry {
  switch (type) {
    case 'prompt': {
      const source = textAt(member, 'source');
      return said('user', textAt(member, 'content') ?? '', source === runtime ? { marks: ['meta'] } : source ? { author: source } : {});
    }
    case 'response':
      return said('assistant', textAt(member, 'content') ?? '');
    case 'thinking':
      return thought(textAt(member, 'content') ?? '', { signature: textAt(member, 'signature') });
    case 'tool_call': {
      const marks = member.server_tool === true ? { marks: ['server'] } : {};
      return called(textAt(member, 'name') ?? '', textAt(member, 'id') ?? '', jsonAt(member, 'input'), marks);
    }
    case 'tool_result':
      return answered(textAt(member, 'id') ?? '', textAt(member, 'output') ?? '', member.is_error === true ? { isError: true } : {});
    case 'error':
      return hidden(type, textAt(member, 'message') ?? '', { isError: true });
    case 'output':
      return hidden(type, textAt(member, 'raw') ?? '');
    case 'metric':
      return hidden(type, JSON.stringify(toJson(member as Cbor)), { result: toJson(member as Cbor) });
  }
}

const hidden = (type: string, text: string, rest: Partial<UnplacedEntry> = {}): UnplacedEntry => ({
  role: 'system',
  kind: 'event',
  toolName: type,
  text,
  tokens: 0,
  marks: ['hidden', type],
  ...rest,
});

/** Entries without an event type (an image, a summary, a system text) are stored in the metadata of a system event. */
const kept = 'entry';

function systemEntry(member: Members): UnplacedEntry {
  const subtype = textAt(member, 'subtype') ?? 'system';
  const text = textAt(member, 'message') ?? '';
  const metadata = jsonAt(member, 'metadata');
  const said = subtype === kept ? keptEntry(metadata) : undefined;
  if (!said) return hidden(subtype, text, metadata === undefined ? {} : { result: metadata });
  const { data, mediaType, ...rest } = said;
  if (data !== undefined) return { ...rest, tokens: imageTokens, media: { mediaType: mediaType ?? '', bytes: Buffer.from(data, 'base64') } };
  return { ...rest, ...(text === '' && rest.kind !== 'text' ? {} : { text }), tokens: countTokens(text) };
}

type Kept = Omit<UnplacedEntry, 'tokens' | 'media'> & { readonly data?: string; readonly mediaType?: string };

function keptEntry(metadata: Json | undefined): Kept | undefined {
  const given = metadata as unknown as Partial<Kept> | undefined;
  return roles.some((role) => role === given?.role) && kinds.some((kind) => kind === given?.kind) ? (given as Kept) : undefined;
}

/** Writes the entry as one event. */
export const eventOf = (entry: WritableEntry): Cbor => ({ ...defined({ timestamp: entry.at }), ...writeEvent(entry) });

function writeEvent(entry: WritableEntry): { readonly type: EventType; readonly [member: string]: Cbor | undefined } {
  const { role, kind, text = '', toolCallId = '', toolName = '', marks, author } = entry;
  const isInjected = marks?.includes('meta') === true;
  if (kind === 'text' && role === 'user') {
    const source = isInjected ? runtime : author;
    return { type: 'prompt', prompt: { content: text, ...defined({ source }) } };
  }
  if (kind === 'text' && role === 'assistant' && !isInjected) return { type: 'response', response: { content: text } };
  if (kind === 'thinking' && !marks?.includes('redacted')) {
    const signature = (entry.result as { signature?: string } | undefined)?.signature;
    return { type: 'thinking', thinking: { content: text, ...(signature ? { signature } : {}) } };
  }
  if (kind === 'tool_call')
    return {
      type: 'tool_call',
      tool_call: { id: toolCallId, name: toolName, input: rawJson(entry.arguments), ...(marks?.includes('server') ? { server_tool: true } : {}) },
    };
  if (kind === 'tool_result')
    return { type: 'tool_result', tool_result: { id: toolCallId, output: text, ...(entry.isError ? { is_error: true } : {}) } };
  const metadata = {
    role,
    kind,
    ...defined({ toolCallId: entry.toolCallId, toolName: entry.toolName, arguments: entry.arguments, result: entry.result, author }),
    ...(marks?.length ? { marks } : {}),
    ...(entry.media ? { mediaType: entry.media.mediaType, data: Buffer.from(entry.media.bytes).toString('base64') } : {}),
  };
  return { type: 'system', system: { subtype: kept, ...(text === '' ? {} : { message: text }), metadata: rawJson(metadata) } };
}
