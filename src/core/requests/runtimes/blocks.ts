import type { Json, JsonObject } from '../../base/index.js';
import type { CallPlace } from './runtime.js';

/** An entry that a call was sent. */
export type Entry = ReturnType<CallPlace['entries']>[number];

/** A block of a message to the Messages API. */
export type Block = JsonObject & { readonly type: string };

/** A text as a block. White space alone is not sent. */
export const textBlocks = (text = ''): Block[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

/** An image or a document as a block. */
export function mediaBlocks({ media }: Entry): Block[] {
  if (!media) return [];
  const { mediaType, bytes } = media;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return [{ type: mediaType.startsWith('image/') ? 'image' : 'document', source: { type: 'base64', media_type: mediaType, data } }];
}

/** A call of a tool as a block. */
export const callBlock = ({ toolCallId = '', toolName = '', arguments: given }: Entry): Block => ({
  type: 'tool_use',
  id: toolCallId,
  name: toolName,
  input: (given ?? {}) as Json,
});

/** Thinking that the provider signed or encrypted, which it takes back, as a block. */
export function signedBlocks({ text = '', result }: Entry): Block[] {
  const { data, signature } = (result ?? {}) as { readonly data?: string; readonly signature?: string };
  if (data !== undefined) return [{ type: 'redacted_thinking', data }];
  return signature ? [{ type: 'thinking', thinking: text, signature }] : [];
}
