// formats: the stored forms of a conversation, one folder each, behind one interface (format.ts): recognize, parse, write, concat, cut.
// Pure: bytes and values in, bytes and values out. No file access, clock, randomness or store.
// The registry below is the only list: a new format is its folder and a line here (docs/add-a-format.md).
import { badRequest, inWords } from '../base/index.js';
import type { Tier, ToolClass } from '../contract/index.js';
import { anthropicMessages } from './anthropic-messages/index.js';
import { atif } from './atif/index.js';
import { bureauAgent } from './bureau-agent/index.js';
import { cardbox } from './cardbox/index.js';
import { claudeCode } from './claude-code/index.js';
import { cline } from './cline/index.js';
import { codex } from './codex/index.js';
import { copilotCli } from './copilot-cli/index.js';
import { cursor } from './cursor/index.js';
import { events } from './events/index.js';
import type { Format, ImportableFormat, ParsedEntry } from './format.js';
import { gemini } from './gemini/index.js';
import { inspectEval } from './inspect-eval/index.js';
import { kilo } from './kilo/index.js';
import { langgraph } from './langgraph/index.js';
import { mapped } from './mapped/index.js';
import { markdown } from './markdown/index.js';
import { narrative } from './narrative/index.js';
import { openaiChat } from './openai-chat/index.js';
import { openclaw } from './openclaw/index.js';
import { opencode } from './opencode/index.js';
import { otlp } from './otlp/index.js';
import { pi } from './pi/index.js';
import { qwenCode } from './qwen-code/index.js';
import { unknownFormat } from './unknown.js';
import { vscodeChat } from './vscode-chat/index.js';

export { anthropicMessages, systemPromptType, wireMessages } from './anthropic-messages/index.js';
export { bureauAgent } from './bureau-agent/index.js';
export { type CardLine, cardbox, cardsOfEntries, encodeCards, entriesOfCards, spacedJson, textOfContent } from './cardbox/index.js';
export { agentIn, claudeCode, countsOfUsage } from './claude-code/index.js';
export {
  findOrigin as codexOrigin,
  isReplayed,
  type Origin,
  type PlacedLine as CodexLine,
  readDelta as codexDelta,
  readLines as codexLines,
  sentItem as codexItem,
  writeItems as responsesItems,
} from './codex/index.js';
export { events } from './events/index.js';
export type * from './format.js';
export { facts } from './format.js';
export { answerNoted as geminiAnswer, contentsSent as geminiContents, readUsage as geminiUsage } from './gemini/index.js';
export { builtInMappings, mappedBy, reasonForNothing, unreadMark } from './mapped/index.js';
export { markdown } from './markdown/index.js';
export { fence, inlineText, neutralMarkdown } from './markdown/neutral.js';
export { isFormatName } from './names.js';
export { narrative } from './narrative/index.js';
export { openaiChat } from './openai-chat/index.js';
export { opencodeId } from './opencode/resume.js';
export { usageOf as openCodeUsage } from './opencode/schema.js';
export { framed as piSummary } from './pi/index.js';
export { readUsage as piUsage } from './pi/parse.js';
export {
  askedLine,
  besidePrefix,
  type CallPart,
  type CallTerms,
  type CallTokens,
  doesOf,
  joinCalls,
  noCounts,
  partOfEntries,
  patchedFiles,
  toolLine,
} from './shared/calls.js';
export { encodeCbor, readArray } from './shared/cbor.js';
export { unknownUsage, usageIn } from './shared/drafts.js';
export { clip as headlineOf } from './shared/headline.js';
export { ShellTooLarge } from './shared/json-items.js';
export { TooManyLines } from './shared/jsonl.js';
export { queuedPrefix, recordOfKey, startOf } from './shared/keys.js';
export { maxWholeBytes } from './shared/lazy-lines.js';
export * from './shared/losses.js';
export * from './shared/outline.js';
export { noResult, pairedCalls } from './shared/paired.js';
export { planHeading } from './shared/plan-heading.js';
export { commandIn, commandOutputIn, isClosingWord, type PromptFields, promptAt } from './shared/prompt.js';
export { textParts } from './shared/result-parts.js';
export { countTokens, imageTokens, tokenizer } from './shared/tokens.js';
export { scalarsFirst } from './shared/top-members.js';
export { writeZip, type ZipEntry, zipEntries, zipList } from './shared/zip.js';
export { unzstd, zstdFrames } from './shared/zstd.js';
export { describeRaw } from './unknown.js';

export const importableFormats: readonly ImportableFormat[] = [
  ...[claudeCode, codex, openclaw, pi, gemini, kilo, opencode, langgraph, copilotCli, qwenCode],
  ...[cline, vscodeChat, cursor, atif, otlp, inspectEval, mapped],
];
export const formats: readonly Format[] = [
  ...[claudeCode, codex, pi, gemini, opencode, langgraph, copilotCli, qwenCode, cline, kilo],
  ...[vscodeChat, openclaw, cursor, atif, otlp, inspectEval, mapped],
  ...[anthropicMessages, openaiChat, bureauAgent, events, markdown, narrative, cardbox],
];
const registry: ReadonlyMap<string, Format> = new Map(formats.flatMap((format) => [format, ...olderVersionsOf(format)]).map((one) => [one.id, one]));

/** The format of this name; undefined if it is unknown, because a chain can contain formats of which only the bytes are known. */
export const findFormat = (id: string): Format | undefined => registry.get(id);

/** The number of leading bytes by which a file is recognized. */
const headLength = 4_096;

/** The entries of a file, which is a delta of the format or a document that the format's agent exports. */
export function entriesIn(format: Format, file: Uint8Array): readonly ParsedEntry[] {
  const reader = importableFormats.find(({ id }) => id === format.id)?.exports;
  const members = reader?.recognize(file.subarray(0, headLength)) ? reader.members(file) : undefined;
  const deltas = members?.map((member) => member.lines().bytes) ?? [file];
  return deltas.flatMap((delta) => format.parse(delta.subarray(0, delta.length)).entries);
}

/** The reader of a stored format. For an unknown format it returns the bytes with a description. */
export const findReader = (id: string): Format => findFormat(id) ?? unknownFormat(id);

/** The format of that name. @throws BAD_REQUEST listing the known formats. */
export function requireFormat(id: string): Format {
  const format = findFormat(id);
  if (!format)
    throw badRequest(
      'format',
      `Stemma does not know the format ${inWords(id)}, so it can only return stored content of it as it is; the formats that it writes are ${formats.map((one) => one.id).join(', ')}`,
    );
  return format;
}

/** Older versions as separate formats: read through the upgrade, returned with their own bytes. */
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

/** The tools of all agents, for formats that can contain the calls of any agent. */
const allTools: ReadonlyMap<string, ToolClass> = new Map(formats.flatMap(({ tools = {} }) => Object.entries(tools)));

/** The class of a tool in a conversation of a format; undefined for an unknown tool. */
export function toolClassOf(id: string, toolName: string): ToolClass | undefined {
  const tools = findFormat(id)?.tools;
  if (!tools) return allTools.get(toolName);
  return Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
}

/** How faithfully a stored delta can be returned in the requested format. */
export function tierOf(stored: string, asked: Format): Tier {
  if (stored === asked.id) return 'native';
  const reader = findFormat(stored);
  if (!reader) return 'raw';
  if (asked.older?.some(({ id }) => id === stored)) return 'translated';
  return reader.tier === 'rendered' || asked.tier === 'rendered' ? 'rendered' : 'translated';
}
