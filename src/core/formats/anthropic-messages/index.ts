// anthropic-messages: a conversation as the JSON of the Messages API, { system?, messages }.
// wire.ts puts entries together as Claude Code sends them, document.ts reads, writes and cuts the JSON.
// A delta is a document of its own; documents are concatenated by their lists.
import type { Format } from '../format.js';
import { concatDocuments, cutDocument, parseDocument, recognizeDocument, writeDocument } from './document.js';

export { interrupted, systemPromptType, wireMessages } from './wire.js';

export const anthropicMessages: Format = {
  id: 'anthropic-messages-v1',
  contentType: 'application/json',
  about: { name: 'Anthropic messages', what: 'The messages array, as the Messages API takes it.', extension: 'json' },
  tier: 'translated',
  holds: ['thinking', 'sealedThinking', 'signature', 'image', 'resultImage', 'linkedImage', 'block', 'error', 'system', 'serverTool'],
  recognize: recognizeDocument,
  parse: parseDocument,
  write: writeDocument,
  concat: concatDocuments,
  cut: cutDocument,
};
