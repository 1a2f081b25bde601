import { isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { WritableEntry } from '../format.js';
import { answered, called, dataUrl, noted, pictured, said, thought, type UnplacedEntry } from './drafts.js';

/** The blocks of a content, which is a text or a list of blocks, as Anthropic's API and its relatives have them. */
export const readBlocks = (content: Json | undefined): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : isObject(content) ? [content] : [];

/** The draft of one block that a person, a model or a tool wrote. */
export function blockDraft(block: Json, role: UnplacedEntry['role'], more: Partial<UnplacedEntry> = {}): UnplacedEntry {
  if (typeof block === 'string') return said(role, block, more);
  if (!isObject(block)) return noted('block', block);
  const text = stringAt(block, 'text') ?? stringAt(block, 'content');
  switch (block.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return said(role, text ?? '', more);
    case 'thinking':
    case 'reasoning':
      return thought(stringAt(block, 'thinking') ?? stringAt(block, 'reasoning') ?? text ?? '', { signature: stringAt(block, 'signature'), ...more });
    case 'redacted_thinking':
      return thought('', { data: stringAt(block, 'data') ?? '', ...more });
    case 'tool_use':
    case 'tool-call':
      return called(
        stringAt(block, 'name') ?? stringAt(block, 'toolName') ?? '',
        stringAt(block, 'id') ?? stringAt(block, 'toolCallId'),
        jsonIn(block.input ?? block.args),
        more,
      );
    case 'tool_result':
    case 'tool-result':
      return resultDraft(block);
    case 'image':
    case 'image_url':
      return imageDraft(block, role === 'system' ? 'user' : role);
    default:
      return noted(stringAt(block, 'type') ?? 'block', block);
  }
}

/** A value that some versions write as JSON text. */
export function jsonIn(value: Json | undefined): Json {
  if (typeof value !== 'string') return value ?? {};
  const read = parseJson(value);
  return isObject(read) ? read : value;
}

/** The text of a content, with other values as JSON. */
export function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (Array.isArray(content) && content.every((part) => typeof part === 'string' || stringAt(part, 'text') !== undefined))
    return content.map((part) => (typeof part === 'string' ? part : (stringAt(part, 'text') ?? ''))).join('\n');
  return JSON.stringify(content);
}

function resultDraft(block: JsonObject): UnplacedEntry {
  const content = block.content ?? block.result ?? block.output;
  const parts = Array.isArray(content) ? content : [];
  const isError = block.is_error === true || block.isError === true || parts.some((part) => isObject(part) && part.success === false);
  const name = stringAt(block, 'name') ?? stringAt(block, 'toolName');
  return answered(stringAt(block, 'tool_use_id') ?? stringAt(block, 'toolCallId'), textIn(content), {
    ...(name !== undefined && { toolName: name }),
    ...(isError && { isError }),
  });
}

function imageDraft(block: JsonObject, role: 'user' | 'assistant' | 'tool'): UnplacedEntry {
  const { source } = block;
  const [mediaType, data] = [stringAt(source, 'media_type'), stringAt(source, 'data')];
  if (mediaType !== undefined && data !== undefined) return pictured(role, { mediaType, base64: data });
  const url = stringAt(block.image_url, 'url') ?? stringAt(block, 'image') ?? stringAt(source, 'url') ?? '';
  const inline = dataUrl(url);
  return pictured(role, inline ?? { link: block });
}

/** The block of a tool call. */
export const callBlock = ({ marks, toolCallId = '', toolName = '', arguments: input = {} }: WritableEntry) => ({
  type: marks?.includes('server') ? 'server_tool_use' : 'tool_use',
  id: toolCallId,
  name: toolName,
  input,
});
