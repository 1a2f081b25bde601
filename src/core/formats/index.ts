// formats: the stored forms of a conversation, one folder each, behind one interface (format.ts): recognize, parse, write, concatenate, cut.
// Pure: bytes and values in, bytes and values out; no file, clock, randomness or store.
// The registry below is the only list: a new format is its folder and a line here.
import { badRequest, inWords } from '../base/index.js';
import type { Tier } from '../contract/index.js';
import { anthropicMessages } from './anthropic-messages/index.js';
import { bureauAgent } from './bureau-agent/index.js';
import { cardbox } from './cardbox/index.js';
import { claudeCode } from './claude-code/index.js';
import { codex } from './codex/index.js';
import { events } from './events/index.js';
import type { Format, ImportableFormat, ParsedEntry } from './format.js';
import { gemini } from './gemini/index.js';
import { langgraph } from './langgraph/index.js';
import { markdown } from './markdown/index.js';
import { narrative } from './narrative/index.js';
import { openaiChat } from './openai-chat/index.js';
import { opencode } from './opencode/index.js';
import { pi } from './pi/index.js';
import { unknownFormat } from './unknown.js';

export { anthropicMessages, wireMessages } from './anthropic-messages/index.js';
export { bureauAgent } from './bureau-agent/index.js';
export { type CardLine, cardbox, cardsOfEntries, encodeCards, entriesOfCards, spacedJson, textOfContent } from './cardbox/index.js';
export { encodeCbor, readArray } from './cbor.js';
export { type AgentMeta, agentIn, claudeCode } from './claude-code/index.js';
export { type PlacedLine as CodexLine, readLines as codexLines, sentItem as codexItem, writeItems as responsesItems } from './codex/index.js';
export { events } from './events/index.js';
export type * from './format.js';
export { facts } from './format.js';
export { answerNoted as geminiAnswer, contentsSent as geminiContents } from './gemini/index.js';
export { factsOf, isSealed, joinLosses, type Losses, lossCounter, lossesOf, noLosses, unsealedLosses } from './losses.js';
export { fence, markdown } from './markdown/index.js';
export { narrative, tell } from './narrative/index.js';
export { openaiChat } from './openai-chat/index.js';
export { opencodeId } from './opencode/session.js';
export {
  type Counts,
  countsOf,
  countsOfParsed,
  decodeOutline,
  encodeOutline,
  isHidden,
  type Outline,
  type Outlined,
  type OutlineEntry,
  outlined,
  outlineOfParsed,
  recordOfKey,
} from './outline.js';
export { textParts } from './parts.js';
export { framed as piSummary } from './pi/index.js';
export { startOf } from './started.js';
export { countTokens, imageTokens, tokenizer } from './tokens.js';
export { describeRaw } from './unknown.js';

export const importableFormats: readonly ImportableFormat[] = [claudeCode, codex, pi, gemini, opencode, langgraph];
/** The formats that there are: each is read and written. */
export const formats: readonly Format[] = [
  claudeCode,
  codex,
  pi,
  gemini,
  opencode,
  langgraph,
  anthropicMessages,
  openaiChat,
  bureauAgent,
  events,
  markdown,
  narrative,
  cardbox,
];
const registry: ReadonlyMap<string, Format> = new Map(formats.flatMap((format) => [format, ...olderVersionsOf(format)]).map((one) => [one.id, one]));

/** The format of that name, or undefined: a chain may hold formats of which only the bytes are known. */
export const findFormat = (id: string): Format | undefined => registry.get(id);

/** By so much of its beginning a file is known. */
const headLength = 4_096;

/** What a file of the format says, be it a delta or a document of a runtime that has both. */
export function entriesIn(format: Format, file: Uint8Array): readonly ParsedEntry[] {
  const reader = importableFormats.find(({ id }) => id === format.id)?.exports;
  const members = reader?.recognize(file.subarray(0, headLength)) ? reader.members(file) : undefined;
  return (members?.map((member) => member.lines().bytes) ?? [file]).flatMap((delta) => format.parse(delta).entries);
}

/** What reads content of that name: where it is not known, as bytes with a description. */
export const readerOf = (id: string): Format => findFormat(id) ?? unknownFormat(id);

/** @throws BAD_REQUEST naming the formats that there are. */
export function formatOf(id: string): Format {
  const format = findFormat(id);
  if (!format) throw badRequest('format', `${inWords(id)} is no format that Stemma writes; there are ${formats.map((one) => one.id).join(', ')}`);
  return format;
}

/** Older versions as formats of their own: read through what they became, and given back as they are. */
function olderVersionsOf(format: Format): readonly Format[] {
  return (format.older ?? []).map(({ id, upgrade, concat }) => ({
    ...format,
    id,
    concat,
    recognize: () => 0,
    parse: (delta) => format.parse(upgrade(delta)),
    cut: (delta, lastKept) => format.cut(upgrade(delta), lastKept),
  }));
}

/** How well a stored delta can be had in the asked format (seed, "Format Versioning and Translation"), best first. */
export function tierOf(stored: string, asked: Format): Tier {
  if (stored === asked.id) return 'native';
  const reader = findFormat(stored);
  if (!reader) return 'raw';
  if (asked.older?.some(({ id }) => id === stored)) return 'translated';
  return reader.tier === 'rendered' || asked.tier === 'rendered' ? 'rendered' : 'translated';
}
