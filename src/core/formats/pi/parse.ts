import { type ByteRange, type EntryKey, isObject, type Json, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { Mutable, ParsedEntry } from '../format.js';
import { unsent, usageIn, withUsage } from '../shared/drafts.js';
import { timeOf } from '../shared/jsonl.js';
import { joinParts, partsMark } from '../shared/result-parts.js';
import { countTokens, imageTokens } from '../shared/tokens.js';
import { messageOf, roleOf } from './schema.js';
import { framed, shellText, systemText } from './schema-texts.js';

interface Common {
  readonly name: string;
  readonly at: Timestamp | undefined;
  readonly raw: ByteRange;
}
type Draft = Omit<ParsedEntry, 'key' | 'raw' | 'at' | 'messageId'>;

/** Parts of a tool result are numbered after all blocks. */
const partsFrom = 100_000;

/** A context edit: the text that the model gets of an earlier record from now on; null for nothing. */
export interface ContentEdit {
  readonly content: Json;
}

/** The entries of one record, in order. Records that pi never sends are hidden. */
export function entriesOf(record: JsonObject, name: string, raw: ByteRange, edit?: ContentEdit | null): readonly ParsedEntry[] {
  const common: Common = { name, at: timeOf(record), raw };
  if (edit === null) return drafts(record).map(([number, draft]) => make(common, number, unsent(draft, 'omitted')));
  const sent = edit === undefined ? record : { ...record, message: { ...messageOf(record), content: edit.content } };
  return drafts(sent).map(([number, draft]) => make(common, number, draft));
}

function make({ name, at, raw }: Common, number: number, draft: Draft): ParsedEntry {
  const entry: Mutable<ParsedEntry> = { ...draft, key: `${name}.${number}` as EntryKey, messageId: name, raw };
  if (at !== undefined) entry.at = at;
  return entry;
}

type Numbered = readonly [number: number, draft: Draft];

function drafts(record: JsonObject): readonly Numbered[] {
  switch (record.type) {
    case 'message':
      return messageDrafts(record, messageOf(record));
    case 'custom_message':
      return injected(record, 'user');
    case 'branch_summary': {
      const text = framed('branch', stringAt(record, 'summary') ?? '');
      return [[0, { role: 'user', kind: 'text', text, toolName: 'branch_summary', tokens: countTokens(text), marks: ['meta', 'branch-summary'] }]];
    }
    case 'compaction': {
      const text = stringAt(record, 'summary') ?? '';
      const system = isObject(record.systemMessage) ? systemDrafts(record.systemMessage, 1) : [];
      return [...system, [0, { role: 'user', kind: 'summary', text, tokens: countTokens(framed('compaction', text)) }]];
    }
    default:
      return [[0, note(record)]];
  }
}

/** A record only for the agent: settings, labels, names, the state of extensions. */
function note(record: JsonObject): Draft {
  const { type, id: _, parentId: __, timestamp: ___, ...rest } = record;
  const toolName = typeof type === 'string' ? type : 'unknown';
  return { role: 'system', kind: 'event', toolName, text: toolName.replaceAll('_', ' '), result: rest, tokens: 0, marks: ['hidden', toolName] };
}

function messageDrafts(record: JsonObject, message: JsonObject): readonly Numbered[] {
  switch (roleOf(record)) {
    case 'system':
      return systemDrafts(message, 0);
    case 'user':
      return numbered(message.content, (block) => said(block, 'user'));
    case 'assistant':
      return answerDrafts(message);
    case 'toolResult':
      return resultDrafts(message);
    case 'bashExecution': {
      const text = shellText(message);
      const draft: Draft = { role: 'user', kind: 'text', text, tokens: countTokens(text), marks: ['command'], result: message };
      return [[0, message.excludeFromContext === true ? unsent(draft, 'excluded') : draft]];
    }
    case 'custom':
    case 'hookMessage':
      return injected(message, 'user');
    default:
      return [[0, note(record)]];
  }
}

const blocksOf = (content: unknown): readonly unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];

/** Blocks with their positions. An empty text among other blocks replaces a removed block (write.ts). */
function numbered(content: unknown, read: (block: unknown) => Draft): readonly Numbered[] {
  const blocks = blocksOf(content);
  return blocks.flatMap((block, number): Numbered[] => (blocks.length > 1 && stringAt(block, 'text') === '' ? [] : [[number, read(block)]]));
}

function systemDrafts(message: JsonObject, from: number): readonly Numbered[] {
  const text = systemText(message);
  const { sections, toolsAdded, toolsRemoved } = message;
  const tools = [...namesIn(toolsAdded), ...namesIn(toolsRemoved).map((name) => `-${name}`)];
  return [
    ...(text === ''
      ? []
      : [
          [
            from,
            { role: 'system', kind: 'text', text, tokens: countTokens(text), ...(sections === undefined ? {} : { result: { sections } }) },
          ] as const,
        ]),
    ...(tools.length === 0 && text !== ''
      ? []
      : [
          [
            from + 1,
            {
              role: 'system',
              kind: 'event',
              toolName: 'tools',
              text: tools.join(', '),
              result: { toolsAdded: toolsAdded ?? null, toolsRemoved: toolsRemoved ?? null },
              tokens: 0,
              marks: ['hidden', 'tools'],
            },
          ] as const,
        ]),
  ];
}

const namesIn = (tools: unknown): readonly string[] => (Array.isArray(tools) ? tools.flatMap((tool) => stringAt(tool, 'name') ?? []) : []);

/** Text of an extension. The model gets it as a user message. */
function injected(message: JsonObject, role: 'user'): readonly Numbered[] {
  const type = stringAt(message, 'customType') ?? 'custom';
  return numbered(message.content, (block) => {
    const draft = said(block, role);
    return { ...draft, toolName: type, marks: ['meta', 'extension', ...(draft.marks ?? [])] };
  });
}

function said(block: unknown, role: 'user' | 'tool'): Draft {
  const text = stringAt(block, 'text');
  if (isObject(block) && block.type === 'text' && text !== undefined) return { role, kind: 'text', text, tokens: countTokens(text) };
  const data = stringAt(block, 'data');
  const mediaType = stringAt(block, 'mimeType');
  if (isObject(block) && block.type === 'image' && data !== undefined && mediaType !== undefined)
    return { role, kind: 'image', tokens: imageTokens, media: { mediaType, bytes: Buffer.from(data, 'base64') } };
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
  const text = stringAt(message, 'errorMessage') ?? reason;
  const fault: Draft = { role: 'assistant', kind: 'text', text, tokens: 0, isError: true, marks: ['hidden', 'api-error'], ...author };
  const { input, output, cacheRead, cacheWrite } = isObject(message.usage) ? message.usage : {};
  // The tokens up to this point were counted and billed.
  const usage = usageIn({ input, output, cacheRead, cacheWrite }, 'beside');
  return withUsage([...answers.map(([number, draft]): Numbered => [number, unsent(draft, reason)]), [partsFrom, fault]], usage);
}

function answerDraft(block: unknown, marks: readonly string[]): Draft {
  const role = 'assistant';
  const type = stringAt(block, 'type');
  switch (isObject(block) ? type : undefined) {
    case 'text': {
      const text = stringAt(block, 'text') ?? '';
      return { role, kind: 'text', text, tokens: countTokens(text), marks };
    }
    case 'thinking': {
      const text = stringAt(block, 'thinking') ?? '';
      const signature = stringAt(block, 'thinkingSignature') ?? '';
      if ((block as JsonObject).redacted === true)
        return { role, kind: 'thinking', tokens: countTokens(signature), marks: ['redacted', ...marks], result: { data: signature } };
      const signed = signature === '' ? { marks } : { marks: ['signed', ...marks], result: { signature } };
      return { role, kind: 'thinking', text, tokens: countTokens(text), ...signed };
    }
    case 'toolCall': {
      const toolName = stringAt(block, 'name') ?? '';
      const call = (block as JsonObject).arguments ?? {};
      const toolCallId = stringAt(block, 'id');
      const tokens = countTokens(toolName) + countTokens(JSON.stringify(call));
      return { role, kind: 'tool_call', toolName, ...(toolCallId === undefined ? {} : { toolCallId }), arguments: call, tokens, marks };
    }
    default:
      return { role, kind: 'event', toolName: type ?? 'unknown', result: block, tokens: 0, marks: ['hidden', ...marks] };
  }
}

function resultDrafts(message: JsonObject): readonly Numbered[] {
  const blocks = blocksOf(message.content);
  const parts = blocks.map((block) => (isObject(block) && block.type === 'text' ? (stringAt(block, 'text') ?? '') : null));
  const text = joinParts(parts);
  const toolCallId = stringAt(message, 'toolCallId');
  const toolName = stringAt(message, 'toolName');
  const marks = parts.length === 1 && parts[0] !== null ? [] : partsMark(parts);
  const call = toolCallId === undefined ? {} : { toolCallId };
  const whole: Draft = {
    role: 'tool',
    kind: 'tool_result',
    ...call,
    ...(toolName === undefined ? {} : { toolName }),
    text,
    tokens: countTokens(text),
    ...(message.details === undefined ? {} : { result: message.details }),
    ...(message.isError === true ? { isError: true } : {}),
    ...(marks.length > 0 ? { marks } : {}),
  };
  const others = blocks.flatMap((block, place): Numbered[] =>
    parts[place] === null ? [[partsFrom + place, { ...said(block, 'tool'), ...call }]] : [],
  );
  return [[0, whole], ...others];
}
