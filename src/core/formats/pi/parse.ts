import { type ByteRange, defined, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { ParsedEntry, TokenUsage } from '../format.js';
import {
  answered,
  called,
  failed,
  type Numbered,
  noted,
  pictured,
  placeDraft,
  said,
  thought,
  type UnplacedEntry,
  unsent,
  usageIn,
  withUsage,
} from '../shared/drafts.js';
import { readTime } from '../shared/jsonl.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens } from '../shared/tokens.js';
import { framed, readMessage, readRole, shellText, systemText } from './schema.js';

/** Parts of a tool result are numbered after all blocks. */
const partsFrom = 100_000;
/** The call that a record counts beside its own text, after these. */
const besideFrom = 200_000;

/** A context edit: the text that the model gets of an earlier record from now on; null for nothing. */
export interface ContentEdit {
  readonly content: Json;
}

/** The entries of one record, in order. Records that pi never sends are hidden. */
export function readEntries(record: JsonObject, name: string, raw: ByteRange, edit?: ContentEdit | null): readonly ParsedEntry[] {
  const place = { messageId: name, raw, at: readTime(record) };
  const sent = edit ? { ...record, message: { ...readMessage(record), content: edit.content } } : record;
  return drafts(sent).map(([number, draft]) => placeDraft(edit === null ? unsent(draft, 'omitted') : draft, `${name}.${number}`, place));
}

type Reader = (record: JsonObject) => readonly Numbered[];

const ofBranch = { toolName: 'branch_summary', marks: ['meta', 'branch-summary'] };
/** The drafts of each type of record. */
const ofTypes: ReadonlyMap<unknown, Reader> = new Map<unknown, Reader>([
  ['custom_message', injected],
  ['compaction', compactionDrafts],
  ['branch_summary', branchDrafts],
  ['usage', (record) => [[0, note(record)], ...callBeside(record, stringAt(record, 'kind') ?? 'usage')]],
]);

/** The drafts of a message of each role. */
const ofRoles: ReadonlyMap<unknown, Reader> = new Map<unknown, Reader>([
  ['system', (message) => systemDrafts(message, 0)],
  ['user', ({ content }) => numbered(content, (block) => blockDraft(block, 'user'))],
  ['assistant', answerDrafts],
  ['toolResult', resultDrafts],
  ['bashExecution', shellDrafts],
  ['custom', injected],
  ['hookMessage', injected],
]);

function drafts(record: JsonObject): readonly Numbered[] {
  const own = record.type === 'message' ? ofRoles.get(readRole(record))?.(readMessage(record)) : ofTypes.get(record.type)?.(record);
  return own ?? [[0, note(record)]];
}

function branchDrafts(record: JsonObject): readonly Numbered[] {
  return [[0, said('user', framed('branch', stringAt(record, 'summary') ?? ''), ofBranch)], ...callBeside(record, 'branch_summary')];
}

function compactionDrafts(record: JsonObject): readonly Numbered[] {
  const text = stringAt(record, 'summary') ?? '';
  const system = isObject(record.systemMessage) ? systemDrafts(record.systemMessage, 1) : [];
  const summary = { role: 'user', kind: 'summary', text, tokens: countTokens(framed('compaction', text)) } as const;
  return [...system, [0, summary], ...callBeside(record, 'compaction')];
}

/** The usage that a record or a message gives. Output includes the thoughts. */
export function readUsage({ usage }: JsonObject): TokenUsage | undefined {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning } = isObject(usage) ? usage : {};
  return usageIn({ input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning }, 'beside');
}

/** A call that only the record counts: one that wrote a summary, kept a cache warm, or that a tool made. */
function callBeside(record: JsonObject, purpose: string): readonly Numbered[] {
  const usage = readUsage(record);
  const author = defined({ author: stringAt(record, 'model') });
  return usage ? [[besideFrom, noted(purpose, record.usage, { ...author, usage, marks: ['beside'] })]] : [];
}

function shellDrafts(message: JsonObject): readonly Numbered[] {
  const draft = said('user', shellText(message), { marks: ['command'], result: message });
  return [[0, message.excludeFromContext === true ? unsent(draft, 'excluded') : draft]];
}

/** A record only for the agent: settings, labels, names, the state of extensions. */
function note(record: JsonObject): UnplacedEntry {
  const { type, id: _, parentId: __, timestamp: ___, ...rest } = record;
  const toolName = typeof type === 'string' ? type : 'unknown';
  return { role: 'system', kind: 'event', toolName, text: toolName.replaceAll('_', ' '), result: rest, tokens: 0, marks: ['hidden', toolName] };
}

const readBlocks = (content: unknown): readonly unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];

/** Blocks with their positions. An empty text among other blocks replaces a removed block (write.ts). */
function numbered(content: unknown, read: (block: unknown) => UnplacedEntry): readonly Numbered[] {
  const blocks = readBlocks(content);
  return blocks.flatMap((block, number): Numbered[] => (blocks.length > 1 && stringAt(block, 'text') === '' ? [] : [[number, read(block)]]));
}

function systemDrafts(message: JsonObject, from: number): readonly Numbered[] {
  const text = systemText(message);
  const { sections, toolsAdded, toolsRemoved } = message;
  const tools = [...namesIn(toolsAdded), ...namesIn(toolsRemoved).map((name) => `-${name}`)];
  const about = { toolsAdded: toolsAdded ?? null, toolsRemoved: toolsRemoved ?? null };
  return [
    ...(text === '' ? [] : [[from, said('system', text, sections === undefined ? {} : { result: { sections } })] as const]),
    ...(tools.length === 0 && text !== '' ? [] : [[from + 1, noted('tools', about, { text: tools.join(', ') })] as const]),
  ];
}

const namesIn = (tools: unknown): readonly string[] => (Array.isArray(tools) ? tools.flatMap((tool) => stringAt(tool, 'name') ?? []) : []);

/** Text of an extension. The model gets it as a user message. */
function injected(message: JsonObject): readonly Numbered[] {
  const type = stringAt(message, 'customType') ?? 'custom';
  return numbered(message.content, (block) => {
    const draft = blockDraft(block, 'user');
    return { ...draft, toolName: type, marks: ['meta', 'extension', ...(draft.marks ?? [])] };
  });
}

function blockDraft(block: unknown, role: 'user' | 'tool'): UnplacedEntry {
  const text = stringAt(block, 'text');
  if (isObject(block) && block.type === 'text' && text !== undefined) return said(role, text);
  const data = stringAt(block, 'data');
  const mediaType = stringAt(block, 'mimeType');
  if (isObject(block) && block.type === 'image' && data !== undefined && mediaType !== undefined) return pictured(role, { mediaType, base64: data });
  return { role, kind: 'event', toolName: stringAt(block, 'type') ?? 'unknown', result: block, tokens: 0, marks: ['hidden'] };
}

function answerDrafts(message: JsonObject): readonly Numbered[] {
  const model = stringAt(message, 'model');
  const marks = [`via:${stringAt(message, 'api') ?? ''}/${stringAt(message, 'provider') ?? ''}`];
  const author = model === undefined ? {} : { author: model };
  const answers = numbered(message.content, (block) => ({ ...answerDraft(block, marks), ...author }));
  const reason = stringAt(message, 'stopReason');
  // Answers that failed or were interrupted are never sent again.
  if (reason !== 'error' && reason !== 'aborted') return answers;
  const fault = failed(stringAt(message, 'errorMessage') ?? reason, author);
  // The tokens up to this point were counted and billed.
  return withUsage([...answers.map(([number, draft]): Numbered => [number, unsent(draft, reason)]), [partsFrom, fault]], readUsage(message));
}

function answerDraft(block: unknown, marks: readonly string[]): UnplacedEntry {
  const type = stringAt(block, 'type');
  switch (isObject(block) ? type : undefined) {
    case 'text':
      return said('assistant', stringAt(block, 'text') ?? '', { marks });
    case 'thinking': {
      const signature = stringAt(block, 'thinkingSignature') ?? '';
      const isSealed = (block as JsonObject).redacted === true;
      return thought(stringAt(block, 'thinking') ?? '', { ...(isSealed ? { data: signature } : { signature }), marks });
    }
    case 'toolCall':
      return called(stringAt(block, 'name') ?? '', stringAt(block, 'id'), (block as JsonObject).arguments, { marks });
    default:
      return { role: 'assistant', kind: 'event', toolName: type ?? 'unknown', result: block, tokens: 0, marks: ['hidden', ...marks] };
  }
}

function resultDrafts(message: JsonObject): readonly Numbered[] {
  const blocks = readBlocks(message.content);
  const parts = blocks.map((block) => (isObject(block) && block.type === 'text' ? (stringAt(block, 'text') ?? '') : null));
  const text = joinParts(parts);
  const toolCallId = stringAt(message, 'toolCallId');
  const marks = parts.length === 1 && parts[0] !== null ? [] : partsMark(parts);
  const whole = answered(toolCallId, text, {
    ...defined({ toolName: stringAt(message, 'toolName'), result: message.details }),
    ...(message.isError === true && { isError: true }),
    ...(marks.length > 0 && { marks }),
  });
  const others = blocks.flatMap((block, place): Numbered[] =>
    parts[place] === null ? [[partsFrom + place, { ...blockDraft(block, 'tool'), ...defined({ toolCallId }) }]] : [],
  );
  return [[0, whole], ...others, ...callBeside(message, stringAt(message, 'toolName') ?? 'tool')];
}
