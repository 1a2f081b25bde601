import { isObject, type Json, type JsonObject, parseJson, textOf } from '../../base/index.js';
import type { Provider, Wire } from '../../contract/index.js';
import { formatOf, geminiContents, responsesItems, type WritableEntry, type WriteOptions, wireMessages } from '../../formats/index.js';

/** The wire format of a conversation for one kind of server that Stemma itself calls. */
interface Words {
  readonly provider: Provider;
  /** The member of the body that holds the conversation. */
  readonly list: 'messages' | 'input' | 'contents';
  readonly write: (entries: readonly WritableEntry[], options: WriteOptions) => readonly Json[];
}

export const wordsOf: Readonly<Record<Wire, Words>> = {
  anthropic: { provider: 'anthropic', list: 'messages', write: (entries) => wireMessages(entries) as unknown as readonly Json[] },
  openai: { provider: 'openai', list: 'messages', write: chatMessages },
  responses: { provider: 'openai', list: 'input', write: responsesItems },
  gemini: { provider: 'gemini', list: 'contents', write: contents },
};

/** The kind of server that accepts a body. */
export function wireOf(provider: Provider, body: JsonObject): Wire {
  return provider === 'openai' && Array.isArray(body.input) ? 'responses' : provider;
}

function chatMessages(entries: readonly WritableEntry[], options: WriteOptions): readonly Json[] {
  const document = parseJson(textOf(formatOf('openai-chat-v1').write(entries, options)));
  return isObject(document) && Array.isArray(document.messages) ? document.messages : [];
}

/** Given instead of an answer's id, because all messages of the conversation are sent. */
const noAnswer = '';
function contents(entries: readonly WritableEntry[], options: WriteOptions): readonly Json[] {
  return geminiContents([formatOf('gemini-v1').write(entries, options)], noAnswer).contents;
}
