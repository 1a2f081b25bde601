import { decodeText, type EntryKey, encodeText, type Json } from '../../base/index.js';
import { digest } from '../digest.js';
import type { ParsedEntry, WritableEntry } from '../format.js';
import { type Cbor, toJson } from '../shared/cbor.js';
import { answered, called, said, thought, type UnplacedEntry } from '../shared/drafts.js';
import { parseShallow } from '../shared/jsonl.js';
import { countTokens } from '../shared/tokens.js';

type Fields = Readonly<Record<string, Cbor | undefined>>;

/** The fields of a struct by their names, ignoring case and underscores: `ToolUseID` equals `tool_use_id`. */
function readFields(value: Cbor | undefined): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.replaceAll('_', '').toLowerCase(), member]));
}
const textAt = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name];
  return typeof value === 'string' ? value : value instanceof Uint8Array ? decodeText(value) : undefined;
};

/** Whether the value has the fields of a message. */
export function isMessage(value: Cbor): boolean {
  const message = readFields(value);
  return typeof message?.role === 'string' && (Array.isArray(message.content) || typeof message.content === 'string');
}

/** The entries of one message. Their keys come from `bytes` and the message's position. */
export function messageEntries(value: Cbor, bytes: Uint8Array, place: number): readonly ParsedEntry[] {
  const message = readFields(value);
  if (!message || !isMessage(value)) return [];
  const name = `b${place}-${digest(bytes)}`;
  const role = textAt(message, 'role') === 'assistant' ? 'assistant' : 'user';
  const blocks: readonly Cbor[] =
    typeof message.content === 'string' ? [{ Type: 'text', Text: message.content }] : (message.content as readonly Cbor[]);
  return blocks.map((block, number) => ({ ...blockEntry(block, role), key: `${name}.${number}` as EntryKey, messageId: name }));
}

function blockEntry(value: Cbor, role: 'user' | 'assistant'): UnplacedEntry {
  const block = readFields(value);
  const type = textAt(block, 'type') ?? '';
  switch (type) {
    case 'text':
      return said(role, textAt(block, 'text') ?? '');
    case 'thinking': {
      const thinking = readFields(block?.thinking);
      return { ...thought(textAt(thinking, 'content') ?? '', { signature: textAt(thinking, 'signature') }), role };
    }
    case 'tool_use':
    case 'server_tool_use': {
      const use = readFields(type === 'tool_use' ? block?.tooluse : block?.servertooluse);
      return called(
        textAt(use, 'name') ?? '',
        textAt(use, 'id') ?? '',
        readInput(use?.input),
        type === 'server_tool_use' ? { marks: ['server'] } : {},
      );
    }
    case 'tool_result':
    case 'server_tool_result': {
      const given = readFields(type === 'tool_result' ? block?.toolresult : block?.servertoolresult);
      const text = textAt(given, 'content') ?? (given?.content == null ? '' : JSON.stringify(toJson(given.content)));
      return answered(textAt(given, 'tooluseid') ?? '', text, {
        ...(given?.iserror === true ? { isError: true } : {}),
        ...(type === 'server_tool_result' ? { marks: ['server'] } : {}),
      });
    }
    default: {
      const result = toJson(value);
      return { role, kind: 'event', toolName: type || 'unknown', result, tokens: countTokens(JSON.stringify(result)) };
    }
  }
}

/** The JSON in a byte string, which is how Go's raw messages are encoded. Text that is not JSON stays text. */
function readInput(value: Cbor | undefined): Json {
  if (value instanceof Uint8Array) {
    const text = decodeText(value);
    return text === '' ? {} : (parseShallow(text) ?? text);
  }
  return value == null ? {} : toJson(value);
}

const empty = { Text: '', ToolUse: null, ToolResult: null, ServerToolUse: null, ServerToolResult: null, Thinking: null };

/** Writes messages for the entries. Blocks of one answer are one message, and so are consecutive results. */
export function writeMessages(entries: readonly WritableEntry[]): Cbor[] {
  const messages: { Role: string; Content: Cbor[]; readonly from: WritableEntry }[] = [];
  for (const entry of entries) {
    const block = entry.marks?.includes('hidden') ? undefined : writeBlock(entry);
    if (block === undefined) continue;
    const Role = entry.role === 'assistant' ? 'assistant' : 'user';
    const last = messages.at(-1);
    const joins =
      last?.Role === Role && (last.from.messageId === entry.messageId || (last.from.kind === 'tool_result' && entry.kind === 'tool_result'));
    if (joins) last.Content.push(block);
    else messages.push({ Role, Content: [block], from: entry });
  }
  return messages.map(({ Role, Content }) => ({ Role, Content }));
}

function writeBlock(entry: WritableEntry): Cbor | undefined {
  const isServers = entry.marks?.includes('server') === true;
  switch (entry.kind) {
    case 'text':
    case 'summary':
      return { ...empty, Type: 'text', Text: entry.text ?? '' };
    case 'thinking': {
      const { signature = '', data } = (entry.result ?? {}) as { signature?: string; data?: string };
      return data === undefined ? { ...empty, Type: 'thinking', Thinking: { Content: entry.text ?? '', Signature: signature } } : undefined;
    }
    case 'tool_call': {
      const use = { ID: entry.toolCallId ?? '', Name: entry.toolName ?? '', Input: encodeText(JSON.stringify(entry.arguments ?? {})) };
      return isServers ? { ...empty, Type: 'server_tool_use', ServerToolUse: use } : { ...empty, Type: 'tool_use', ToolUse: use };
    }
    case 'tool_result': {
      const given = { ToolUseID: entry.toolCallId ?? '', Content: entry.text ?? '', IsError: entry.isError === true };
      return isServers ? { ...empty, Type: 'server_tool_result', ServerToolResult: given } : { ...empty, Type: 'tool_result', ToolResult: given };
    }
    case 'image':
    case 'event':
      return undefined;
  }
}
