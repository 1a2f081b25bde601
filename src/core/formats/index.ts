// formats: the stored forms of a conversation, one folder each, behind one interface (format.ts): recognize, parse, write, concatenate, cut.
// Pure: bytes and values in, bytes and values out; no file, clock, randomness or store.
// The registry below is the only list: a new format is its folder and a line here.
import { badRequest, inWords } from '../base/index.js';
import { anthropicMessages } from './anthropic-messages/index.js';
import { cardbox } from './cardbox/index.js';
import { claudeCode } from './claude-code/index.js';
import type { Format, ImportableFormat } from './format.js';
import { markdown } from './markdown/index.js';
import { narrative } from './narrative/index.js';
import { openaiChat } from './openai-chat/index.js';

export { anthropicMessages, wireMessages } from './anthropic-messages/index.js';
export { type CardLine, cardbox, cardsOfEntries, entriesOfCards, lineOf, spacedJson, textOfContent } from './cardbox/index.js';
export { type AgentMeta, agentIn, claudeCode } from './claude-code/index.js';
export type * from './format.js';
export { markdown } from './markdown/index.js';
export { narrative, tell } from './narrative/index.js';
export { openaiChat } from './openai-chat/index.js';
export { countTokens, imageTokens, tokenizer } from './tokens.js';

export const importableFormats: readonly ImportableFormat[] = [claudeCode];
const formats: readonly Format[] = [claudeCode, anthropicMessages, openaiChat, markdown, narrative, cardbox];
const registry: ReadonlyMap<string, Format> = new Map(formats.map((format) => [format.id, format]));

/** The format of that name, or undefined: a chain may hold formats of which only the bytes are known. */
export const findFormat = (id: string): Format | undefined => registry.get(id);

/** @throws BAD_REQUEST naming the formats that there are. */
export function formatOf(id: string): Format {
  const format = findFormat(id);
  if (!format) throw badRequest('format', `${inWords(id)} is no format that Stemma writes; there are ${[...registry.keys()].join(', ')}`);
  return format;
}
