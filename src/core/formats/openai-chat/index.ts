// openai-chat: a conversation as the JSON of the chat completions API, { messages }, with tool calls and images.
// A delta is a document of its own. Documents are joined by joining their lists.
// It has no place for thinking. parse-functions.ts maps the form of 2023, which called functions.
import {
  canonicalJson,
  decodeText,
  type EntryKey,
  encodeText,
  isObject,
  type Json,
  type JsonObject,
  stringAt,
  wellFormed,
} from '../../base/index.js';
import { digest } from '../digest.js';
import type { Format, ParsedDelta, ParsedEntry, Problem, WritableEntry } from '../format.js';
import { answered, called, pictured, said, type UnplacedEntry } from '../shared/drafts.js';
import { dataUrlOf } from '../shared/groups.js';
import { parseShallow } from '../shared/jsonl.js';
import { entriesUpTo } from '../shared/keys.js';
import { isTooLarge, leftOutImage } from '../shared/losses.js';
import { noResult } from '../shared/paired.js';
import { countTokens } from '../shared/tokens.js';
import { withToolCalls } from './parse-functions.js';

export const openaiChat: Format = {
  id: 'openai-chat-v1',
  contentType: 'application/json',
  about: { name: 'OpenAI chat', what: 'The messages array that the chat completions API accepts.', extension: 'json' },
  tier: 'translated',
  isRequest: true,
  holds: ['image', 'blank', 'system'],
  recognize,
  parse,
  write: (entries, { keepsOpen }) => stored(writeMessages(entries, keepsOpen)),
  close: (conversation) => stored(writeMessages(parse(conversation).entries)),
  older: [
    {
      id: 'openai-chat-v0',
      upgrade: (delta) => stored(read(delta).messages),
      concat: (deltas) => stored(deltas.flatMap((delta) => listed(delta).messages)),
    },
  ],
  concat: (deltas) => stored(deltas.flatMap((delta) => read(delta).messages)),
  cut: (delta, lastKept) => stored(writeMessages(entriesUpTo(parse(delta).entries, lastKept), true)),
};

const stored = (messages: readonly Json[]): Uint8Array => encodeText(`${JSON.stringify({ messages }, null, 1)}\n`);

type Message = { role: string; content: string | null | Json[]; tool_calls?: Json[]; tool_call_id?: string };

function writeMessages(entries: readonly WritableEntry[], keepsOpen = false): Json[] {
  const messages: Message[] = [];
  /** The entry of the last message, to decide which entries join it. */
  let last: WritableEntry | undefined;
  for (const entry of entries) {
    if (entry.marks?.includes('hidden')) continue;
    const before = messages.at(-1);
    const isSameMessage = last?.messageId !== undefined && last.messageId === entry.messageId;
    const home = isSameMessage ? before : undefined;
    switch (entry.kind) {
      case 'text':
      case 'summary':
        addText(messages, home, entry);
        break;
      case 'tool_call':
        addCall(messages, last?.role === 'assistant' && (isSameMessage || last.kind === 'tool_call') ? before : undefined, entry);
        break;
      case 'tool_result':
        messages.push({ role: 'tool', tool_call_id: entry.toolCallId ?? '', content: entry.text ?? '' });
        break;
      case 'image':
        if (!entry.media) continue;
        if (isTooLarge(entry)) addText(messages, home, { ...entry, kind: 'text', text: leftOutImage });
        else addImage(messages, home, entry.media);
        break;
      case 'thinking':
      case 'event':
        continue;
    }
    last = entry;
  }
  const paired = answersFirst(messages, keepsOpen) as unknown as Json[];
  return keepsOpen ? paired : paired.map(wellFormed);
}

/** Adds a text to the message that holds the blocks before it, if there is one and it can hold the text. */
function addText(messages: Message[], home: Message | undefined, entry: WritableEntry): void {
  const text = entry.text ?? '';
  const role = writeRole(entry);
  const isSameRole = home?.role === role;
  if (isSameRole && role === 'assistant' && !home.tool_calls && typeof home.content === 'string') home.content += text;
  else if (isSameRole && role === 'user' && Array.isArray(home.content)) home.content.push({ type: 'text', text });
  else messages.push({ role, content: text });
}

function addCall(messages: Message[], home: Message | undefined, { toolCallId = '', toolName = '', arguments: given }: WritableEntry): void {
  const call: Json = { id: toolCallId, type: 'function', function: { name: toolName, arguments: JSON.stringify(wellFormed((given ?? {}) as Json)) } };
  if (home?.role === 'assistant') home.tool_calls = [...(home.tool_calls ?? []), call];
  else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
}

/** A tool message holds text only, so its image follows in a user message. */
function addImage(messages: Message[], home: Message | undefined, media: NonNullable<WritableEntry['media']>): void {
  const part: Json = { type: 'image_url', image_url: { url: dataUrlOf(media) } };
  if (home?.role === 'user') home.content = [...asParts(home.content), part];
  else messages.push({ role: 'user', content: [part] });
}

const writeRole = (entry: WritableEntry): string => (entry.role === 'assistant' || entry.role === 'system' ? entry.role : 'user');
const asParts = (content: Message['content']): Json[] =>
  Array.isArray(content) ? content : content === null ? [] : [{ type: 'text', text: content }];

const idsOfCalls = ({ tool_calls: calls = [] }: Message): string[] => calls.map((call) => stringAt(call, 'id') ?? '');

/** Each call is answered once and directly after it. Texts of the agent in between move after the answers. */
function answersFirst(messages: readonly Message[], keepsOpen: boolean): Message[] {
  const answers = new Map<string, Message[]>();
  const called = new Set(messages.flatMap(idsOfCalls));
  for (const message of messages) {
    if (message.role !== 'tool' || message.tool_call_id === undefined) continue;
    answers.set(message.tool_call_id, [...(answers.get(message.tool_call_id) ?? []), message]);
  }
  const made = (id: string): Message[] => (keepsOpen ? [] : [{ role: 'tool', tool_call_id: id, content: noResult }]);
  return messages.flatMap((message): Message[] => {
    // The call of an answer that begins a commit is in an earlier commit.
    if (message.role === 'tool') return keepsOpen && !called.has(message.tool_call_id ?? '') ? [message] : [];
    return [
      message,
      ...idsOfCalls(message).flatMap((id) => {
        const answer = answers.get(id)?.shift();
        return answer ? [answer] : made(id);
      }),
    ];
  });
}

function recognize(head: Uint8Array): number {
  const text = decodeText(head);
  if (!/^\s*[[{][\s\S]*"role"\s*:/.test(text)) return 0;
  return /"(tool_calls|tool_call_id|image_url)"\s*:/.test(text) ? 0.9 : /"type"\s*:\s*"(tool_use|tool_result|thinking)"/.test(text) ? 0.1 : 0.4;
}

/** The messages in the current form, from either form. */
function read(delta: Uint8Array): ReturnType<typeof listed> {
  const { messages, problems } = listed(delta);
  return { messages: withToolCalls(messages), problems };
}

function listed(delta: Uint8Array): { messages: readonly Json[]; problems: readonly Problem[] } {
  const value = delta.length === 0 ? [] : parseShallow(decodeText(delta));
  const messages = Array.isArray(value) ? value : isObject(value) && Array.isArray(value.messages) ? value.messages : undefined;
  if (!messages) return { messages: [], problems: [{ line: 0, reason: value === undefined ? 'not JSON' : 'JSON without a list of messages' }] };
  const problems = messages.flatMap((message: Json, at): Problem[] =>
    isObject(message) && typeof message.role === 'string' ? [] : [{ line: at + 1, reason: 'a message without a role' }],
  );
  return { messages, problems };
}

function parse(delta: Uint8Array): ParsedDelta {
  const { messages, problems } = read(delta);
  return { entries: messages.flatMap((message, at) => (isObject(message) ? readEntries(message, at) : [])), elisions: [], problems };
}

function readEntries(message: JsonObject, at: number): readonly ParsedEntry[] {
  const name = `m${at}-${digest(canonicalJson(message))}`;
  const role =
    message.role === 'assistant' || message.role === 'tool'
      ? message.role
      : message.role === 'system' || message.role === 'developer'
        ? 'system'
        : 'user';
  const placed = (draft: UnplacedEntry, block: number): ParsedEntry => ({ ...draft, key: `${name}.${block}` as EntryKey, messageId: name });
  const parts: readonly Json[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : Array.isArray(message.content) ? message.content : [];
  if (role === 'tool') {
    const text = parts.flatMap((part) => stringAt(part, 'text') ?? []).join('\n');
    return [placed(answered(stringAt(message, 'tool_call_id') ?? '', text), 0)];
  }
  const contents = parts.map((part, block): ParsedEntry => {
    const text = stringAt(part, 'text') ?? stringAt(part, 'refusal');
    if (text !== undefined) return placed(said(role, text), block);
    const url = isObject(part) ? stringAt(part.image_url, 'url') : undefined;
    if (url === undefined) return placed({ role, kind: 'event', result: part, tokens: 0 }, block);
    const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
    return placed(pictured(role, inline ? { mediaType: inline[1] as string, base64: inline[2] as string } : { link: part }), block);
  });
  const calls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).map((call: Json, number): ParsedEntry => {
    const given = isObject(call) && isObject(call.function) ? call.function : {};
    const text = stringAt(given, 'arguments') ?? '{}';
    const toolName = stringAt(given, 'name') ?? '';
    const draft = called(toolName, stringAt(call, 'id') ?? '', parseShallow(text) ?? text);
    // The arguments are sent as this text.
    return placed({ ...draft, role, tokens: countTokens(toolName) + countTokens(text) }, parts.length + number);
  });
  return [...contents, ...calls];
}
