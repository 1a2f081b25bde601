import { decodeText, isObject, type Json, type JsonObject, parseJson, stringAt, wellFormed } from '../../base/index.js';
import type { Provider, Wire } from '../../contract/index.js';
import {
  geminiContents,
  isTooLarge,
  leftOutImage,
  requireFormat,
  responsesItems,
  type WritableEntry,
  type WriteOptions,
  wireMessages,
} from '../../formats/index.js';

/** The wire format of a conversation for one kind of server that Stemma itself calls. */
interface Words {
  readonly provider: Provider;
  /** The member of the body that holds the conversation. */
  readonly list: 'messages' | 'input' | 'contents';
  readonly write: (entries: readonly WritableEntry[], options: WriteOptions) => readonly Json[];
}

export const wordsOf: Readonly<Record<Wire, Words>> = {
  anthropic: { provider: 'anthropic', list: 'messages', write: sound((entries) => wireMessages(entries) as unknown as readonly Json[]) },
  openai: { provider: 'openai', list: 'messages', write: sound(chatMessages) },
  responses: { provider: 'openai', list: 'input', write: sound(responsesItems) },
  gemini: { provider: 'gemini', list: 'contents', write: sound(contents) },
};

/** Writes without what every provider refuses: images that are too large and halves of characters. */
function sound(write: Words['write']): Words['write'] {
  return (entries, options) => write(entries.map(withoutLarge), options).map(wellFormed);
}

function withoutLarge(entry: WritableEntry): WritableEntry {
  if (!isTooLarge(entry)) return entry;
  const { media: _, result: __, ...rest } = entry;
  return { ...rest, kind: 'text', text: leftOutImage };
}

/** The kind of server that accepts a body. */
export function wireOf(provider: Provider, body: JsonObject): Wire {
  return provider === 'openai' && Array.isArray(body.input) ? 'responses' : provider;
}

function chatMessages(entries: readonly WritableEntry[], options: WriteOptions): readonly Json[] {
  const document = parseJson(decodeText(requireFormat('openai-chat-v1').write(entries, options)));
  const messages = isObject(document) && Array.isArray(document.messages) ? document.messages : [];
  const reasons = reasoningOf(entries);
  return messages.map((message: Json) => {
    const [call] = isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : [];
    const text = reasons.get(stringAt(call, 'id') ?? '');
    return isObject(message) && text !== undefined ? { ...message, reasoning_content: text } : message;
  });
}

/** The reasoning before each call since the last message of a person. Models that give reasoning without a signature need it back with the results. */
function reasoningOf(entries: readonly WritableEntry[]): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  let text = '';
  for (const entry of entries.slice(entries.findLastIndex(({ role }) => role === 'user') + 1)) {
    if (entry.role !== 'assistant') text = '';
    else if (entry.kind === 'thinking' && entry.result === undefined) text += entry.text ?? '';
    else if (entry.kind === 'tool_call' && text !== '') reasons.set(entry.toolCallId ?? '', text);
  }
  return reasons;
}

/** Given instead of an answer's id, because all messages of the conversation are sent. */
const noAnswer = '';
function contents(entries: readonly WritableEntry[], options: WriteOptions): readonly Json[] {
  // A call that another provider answered itself has no result here, so the provider would refuse it.
  const own = entries.filter(({ kind, marks }) => kind !== 'tool_call' || !marks?.includes('server'));
  return geminiContents([requireFormat('gemini-v1').write(answeredAtOnce(own), options)], noAnswer).contents;
}

/** Results that come after a later reply move before it: Gemini refuses a content with calls unless the next one has the results of all of them. */
function answeredAtOnce(entries: readonly WritableEntry[]): readonly WritableEntry[] {
  const isResult = ({ role, toolCallId, marks }: WritableEntry): boolean => role === 'tool' && toolCallId !== undefined && !marks?.includes('hidden');
  const results = Map.groupBy(entries.filter(isResult), ({ toolCallId = '' }) => toolCallId);
  const open = new Set<string>();
  const moved = new Set<string>();
  let isReply = true;
  return entries.flatMap((entry) => {
    const { role, kind, toolCallId: id = '' } = entry;
    if (entry.marks?.includes('hidden')) return [entry];
    if (isResult(entry) && moved.has(id)) return [];
    if (kind === 'tool_result') open.delete(id);
    const late = role === 'assistant' && !isReply ? [...open] : [];
    isReply = role === 'assistant';
    for (const call of late) {
      moved.add(call);
      open.delete(call);
    }
    if (kind === 'tool_call') open.add(id);
    return [...late.flatMap((call) => results.get(call) ?? []), entry];
  });
}
