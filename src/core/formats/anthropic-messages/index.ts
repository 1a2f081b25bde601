// anthropic-messages: a conversation as the JSON of the Messages API, { system?, messages }.
// write-messages.ts assembles entries as Claude Code sends them; acceptable.ts leaves out what the API refuses. parse.ts reads, writes and cuts the JSON.
// Each delta is a document. Joining documents joins their lists.
import type { Format } from '../format.js';
import { concatDocuments, cutDocument, parseDocument, recognizeDocument, writeDocument } from './parse.js';

export { interrupted, systemPromptType, wireMessages } from './write-messages.js';

export const anthropicMessages: Format = {
  id: 'anthropic-messages-v1',
  contentType: 'application/json',
  about: { name: 'Anthropic messages', what: 'The messages array that the Messages API accepts.', extension: 'json' },
  tier: 'translated',
  isRequest: true,
  holds: ['thinking', 'sealedThinking', 'signature', 'image', 'resultImage', 'linkedImage', 'block', 'error', 'system', 'serverTool'],
  recognize: recognizeDocument,
  parse: parseDocument,
  write: writeDocument,
  close: (conversation) => writeDocument(parseDocument(conversation).entries, { isWhole: true }),
  concat: concatDocuments,
  cut: cutDocument,
};
