import { canonicalJson, decodeText, type EntryKey, encodeText, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { digest } from '../digest.js';
import type { ParsedDelta, ParsedEntry, Problem, WritableEntry, WriteOptions } from '../format.js';
import { answered, called, pictured, said, thought, type UnplacedEntry } from '../shared/drafts.js';
import { parseShallow } from '../shared/jsonl.js';
import { entriesUpTo } from '../shared/keys.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens } from '../shared/tokens.js';
import { acceptable } from './acceptable.js';
import { isHidden, isSystemPrompt, wireMessages } from './write-messages.js';

interface Document {
  readonly system: readonly Json[];
  readonly messages: readonly Json[];
}

/** Writes { system?, messages } for the entries. An empty delta has no messages. */
export function writeDocument(
  entries: readonly WritableEntry[],
  { keepsOpen = false, isWhole = false }: Pick<WriteOptions, 'keepsOpen'> & { readonly isWhole?: boolean } = {},
): Uint8Array {
  const system = entries.filter((entry) => isSystemPrompt(entry) && !isHidden(entry)).map((entry) => ({ type: 'text', text: entry.text ?? '' }));
  const messages = wireMessages(entries, keepsOpen);
  return stored({ system, messages: (keepsOpen ? messages : acceptable(messages, isWhole)) as unknown as Json[] });
}

const stored = ({ system, messages }: Document): Uint8Array =>
  encodeText(`${JSON.stringify({ ...(system.length > 0 ? { system } : {}), messages }, null, 1)}\n`);

/** Reads a document. Never throws for its content. */
export function parseDocument(delta: Uint8Array): ParsedDelta {
  const { document, problems } = read(delta);
  return { entries: readEntries(document), elisions: [], problems };
}

/** Joins the lists of all deltas. */
export function concatDocuments(deltas: readonly Uint8Array[]): Uint8Array {
  const documents = deltas.map((delta) => read(delta).document);
  return stored({ system: documents.flatMap(({ system }) => system), messages: documents.flatMap(({ messages }) => messages) });
}

/** The document up to and including the entry. @throws BAD_REQUEST where the delta has no such entry. */
export const cutDocument = (delta: Uint8Array, lastKept: EntryKey): Uint8Array =>
  writeDocument(entriesUpTo(parseDocument(delta).entries, lastKept), { keepsOpen: true });

/** 1 if the bytes begin like such a document, else 0. */
export function recognizeDocument(head: Uint8Array): number {
  const text = decodeText(head);
  if (!/^\s*\{[\s\S]*"messages"\s*:/.test(text)) return 0;
  return /"type"\s*:\s*"(tool_use|tool_result|thinking)"/.test(text) ? 0.9 : /"(tool_calls|tool_call_id)"/.test(text) ? 0.1 : 0.5;
}

function read(delta: Uint8Array): { document: Document; problems: readonly Problem[] } {
  const value = delta.length === 0 ? { messages: [] } : parseShallow(decodeText(delta));
  const messages = Array.isArray(value) ? value : isObject(value) && Array.isArray(value.messages) ? value.messages : undefined;
  const reason = value === undefined ? 'not JSON' : 'JSON without a list of messages';
  if (!messages) return { document: { system: [], messages: [] }, problems: [{ line: 0, reason }] };
  const told = isObject(value) ? value.system : undefined;
  const system = typeof told === 'string' ? [{ type: 'text', text: told }] : Array.isArray(told) ? told : [];
  const odd = messages.flatMap((message: Json, at): Problem[] =>
    isObject(message) && (message.role === 'user' || message.role === 'assistant' || message.role === 'system')
      ? []
      : [{ line: at + 1, reason: 'a message without a known role' }],
  );
  return { document: { system, messages }, problems: odd };
}

function readEntries({ system, messages }: Document): readonly ParsedEntry[] {
  const prompts = system.flatMap((block, at): ParsedEntry[] => {
    const text = typeof block === 'string' ? block : stringAt(block, 'text');
    return text === undefined ? [] : [{ key: `${nameOf('system', at, block)}.0` as EntryKey, ...said('system', text) }];
  });
  return [...prompts, ...messages.flatMap((message, at) => (isObject(message) ? messageEntries(message, at) : []))];
}

/** The name of a message from its position and content, so that entries of the same document have the same keys. */
const nameOf = (sort: string, at: number, content: Json): string => `${sort}${at}-${digest(canonicalJson(content))}`;

function messageEntries(message: JsonObject, at: number): readonly ParsedEntry[] {
  const role = message.role === 'assistant' ? 'assistant' : message.role === 'system' ? 'system' : 'user';
  const name = nameOf('m', at, message);
  const { content } = message;
  const blocks: readonly Json[] = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
  let number = 0;
  return blocks.flatMap((block) =>
    isObject(block) ? blockEntries(block, role).map((entry) => ({ ...entry, key: `${name}.${number++}` as EntryKey, messageId: name })) : [],
  );
}

function blockEntries(block: JsonObject, role: 'user' | 'assistant' | 'system'): readonly UnplacedEntry[] {
  switch (block.type) {
    case 'text':
      return [said(role, stringAt(block, 'text') ?? '')];
    case 'thinking':
      return [{ ...thought(stringAt(block, 'thinking') ?? '', { signature: stringAt(block, 'signature') }), role }];
    case 'redacted_thinking':
      return [{ ...thought('', { data: stringAt(block, 'data') ?? '' }), role }];
    case 'tool_use':
    case 'server_tool_use': {
      const marks = block.type === 'server_tool_use' ? { marks: ['server'] } : {};
      return [{ ...called(stringAt(block, 'name') ?? '', stringAt(block, 'id') ?? '', block.input, marks), role }];
    }
    case 'tool_result': {
      const toolCallId = stringAt(block, 'tool_use_id') ?? '';
      const parts: readonly Json[] = Array.isArray(block.content) ? block.content : [];
      const texts = parts.map((part) => (isObject(part) && part.type !== 'text' ? null : (stringAt(part, 'text') ?? '')));
      const text = typeof block.content === 'string' ? block.content : joinParts(texts);
      const marks = partsMark(texts);
      const others = parts.filter((part): part is JsonObject => isObject(part) && part.type !== 'text');
      return [
        answered(toolCallId, text, { ...(marks.length > 0 ? { marks } : {}), ...(block.is_error === true ? { isError: true } : {}) }),
        ...others.map((part): UnplacedEntry => ({ ...media(part, 'tool'), toolCallId })),
      ];
    }
    default:
      return [media(block, role)];
  }
}

function media(block: JsonObject, role: UnplacedEntry['role']): UnplacedEntry {
  const data = stringAt(block.source, 'data');
  const mediaType = stringAt(block.source, 'media_type');
  if (block.type !== 'image' && block.type !== 'document')
    return { role, kind: 'event', toolName: String(block.type), result: block, tokens: countTokens(JSON.stringify(block)) };
  return pictured(role, data !== undefined && mediaType !== undefined ? { mediaType, base64: data } : { link: block });
}
