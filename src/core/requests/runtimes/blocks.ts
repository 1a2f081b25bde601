import type { Json, JsonObject } from '../../base/index.js';
import type { CallPlace } from './runtime.js';

/** An entry that a call was sent. */
export type SentEntry = ReturnType<CallPlace['entries']>[number];

/** A block of a message to the Messages API. */
export type SentBlock = JsonObject & { readonly type: string };

/** A message to the Messages API. */
export interface SentMessage {
  readonly role: 'user' | 'assistant';
  readonly content: SentBlock[];
}

/** The provider and the API that an entry's answer came through, without its prefix `via:`. */
export const viaOf = ({ marks }: SentEntry): string | undefined => marks?.find((mark) => mark.startsWith('via:'))?.slice('via:'.length);

/** A text as a block. White space alone is not sent. */
export const textBlocks = (text = ''): SentBlock[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

/** An image or a document as a block. */
export function mediaBlocks({ media }: SentEntry): SentBlock[] {
  if (!media) return [];
  const { mediaType, bytes } = media;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return [{ type: mediaType.startsWith('image/') ? 'image' : 'document', source: { type: 'base64', media_type: mediaType, data } }];
}

/** A call of a tool as a block. */
export const callBlock = ({ toolCallId = '', toolName = '', arguments: given }: SentEntry): SentBlock => ({
  type: 'tool_use',
  id: toolCallId,
  name: toolName,
  input: (given ?? {}) as Json,
});

/** Thinking that the provider signed or encrypted, which it takes back, as a block. */
export function signedBlocks({ text = '', result }: SentEntry): SentBlock[] {
  const { data, signature } = (result ?? {}) as { readonly data?: string; readonly signature?: string };
  if (data !== undefined) return [{ type: 'redacted_thinking', data }];
  return signature ? [{ type: 'thinking', thinking: text, signature }] : [];
}
