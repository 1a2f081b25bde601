import { type ByteRange, isObject, type Json, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { ParsedEntry } from '../format.js';
import {
  answered,
  called,
  dataUrl,
  failed,
  noted,
  pictured,
  placeDraft,
  said,
  summarized,
  thought,
  type UnplacedEntry,
  unsent,
} from '../shared/drafts.js';
import { hasResult, instantOf, isSummary, type MessageLine, readParts, readRole, readTime, readType, resultName, usageOf } from './schema.js';

/** The end of an entry's key, after the name of the message. */
type Named = readonly [suffix: string, draft: UnplacedEntry];

/** The text that the agent (1.18.34) sends in place of a result that it removed from a long context. */
const pruned = '[Old tool result content cleared]';
/** The text that the agent sends in place of its own note that a person ran a tool. */
const subtaskText = 'The following tool was executed by the user';

/** The entries of a message: its parts in order, then the results of its tools. */
export function readEntries(line: MessageLine, name: string, raw: ByteRange): readonly ParsedEntry[] {
  const at = readTime(line);
  return draftEntries(line).map(([suffix, draft]) => {
    // One line becomes two messages on the wire.
    const messageId = draft.role === 'tool' ? `${name}-results` : name;
    return placeDraft(draft, `${name}${suffix}`, { messageId, raw, at });
  });
}

function draftEntries(line: MessageLine): readonly Named[] {
  const parts = readParts(line);
  const inOrder = (draft: (part: JsonObject) => UnplacedEntry): readonly Named[] => parts.map((part, number) => [`.${number}`, draft(part)]);
  if (readRole(line) === 'user') return inOrder(saidBy);
  // A result whose call is elsewhere is a separate line and keeps its name.
  if (readRole(line) === 'tool') return parts.flatMap((part, number) => resultDrafts(part, number === 0 ? '' : resultName(number)));
  if (readRole(line) !== 'assistant') return [['.0', note(stringAt(line.info, 'type') ?? 'message', { info: line.info, parts: line.parts })]];
  const model = stringAt(line.info, 'modelID');
  const author = model === undefined ? {} : { author: model };
  if (isSummary(line)) {
    const usage = usageOf(line.info);
    const summary = inOrder((part) => (readType(part) === 'text' ? summarized(stringAt(part, 'text') ?? '') : note(readType(part), part)));
    return usage ? [...summary, [`.${parts.length + 1}`, noted('compaction', line.info.tokens, { ...author, usage, marks: ['beside'] })]] : summary;
  }
  const via = [`via:${stringAt(line.info, 'providerID') ?? ''}`];
  const all = [
    ...inOrder((part) => ({ ...answerDraft(part, via), ...author })),
    ...parts.flatMap((part, number) => resultDrafts(part, resultName(number))),
  ];
  const drafts: readonly Named[] = isUnsent(line)
    ? [...all.map(([suffix, draft]): Named => [suffix, unsent(draft, 'failed')]), [`.${parts.length}`, failed(faultOf(line), author)]]
    : all;
  // The provider also counts an answer that is never sent again.
  const usage = drafts.some(([, { role, marks }]) => role === 'assistant' && !marks?.includes('hidden')) ? undefined : usageOf(line.info);
  return usage ? [...drafts, [`.${parts.length + 1}`, unsent(said('assistant', '', { ...author, usage }), 'empty')]] : drafts;
}

/** Whether the answer is not sent again. Failed answers are not sent again, unless they were interrupted after some text. */
function isUnsent({ info, parts }: MessageLine): boolean {
  if (info.error === undefined || info.error === null) return false;
  const broken = stringAt(info.error, 'name') === 'MessageAbortedError';
  return !(broken && parts.some((part) => isObject(part) && readType(part) !== 'step-start' && readType(part) !== 'reasoning'));
}

const faultOf = ({ info }: MessageLine): string =>
  (isObject(info.error) ? stringAt(info.error.data, 'message') : undefined) ?? stringAt(info.error, 'name') ?? 'the call failed';

/** A part that is only for the agent. */
const note = (type: string, part: JsonObject): UnplacedEntry => ({
  role: 'system',
  kind: 'event',
  toolName: type === '' ? 'part' : type,
  text: type.replaceAll('-', ' '),
  result: part,
  tokens: 0,
  marks: ['hidden', type],
});

function saidBy(part: JsonObject): UnplacedEntry {
  switch (readType(part)) {
    case 'text': {
      const draft = said('user', stringAt(part, 'text') ?? '', part.synthetic === true ? { marks: ['meta', 'synthetic'] } : {});
      return part.ignored === true ? unsent(draft, 'ignored') : draft;
    }
    case 'file': {
      const mime = stringAt(part, 'mime') ?? '';
      // The content of a text file or a folder is in a separate text part.
      return mime === 'text/plain' || mime === 'application/x-directory' ? note('file', part) : media(part, 'user');
    }
    case 'subtask':
      return said('user', subtaskText, { toolName: 'subtask', result: part, marks: ['meta', 'subtask'] });
    default:
      return note(readType(part), part);
  }
}

/** A file of a message: an image or a document, in a data URL or behind a link. */
const media = (part: JsonObject, role: 'user' | 'tool'): UnplacedEntry => pictured(role, dataUrl(stringAt(part, 'url') ?? '') ?? { link: part });

function answerDraft(part: JsonObject, marks: readonly string[]): UnplacedEntry {
  const text = stringAt(part, 'text') ?? '';
  switch (readType(part)) {
    case 'text':
      return said('assistant', text, { marks });
    case 'reasoning': {
      const own = isObject(part.metadata) ? part.metadata.anthropic : undefined;
      return thought(text, { data: stringAt(own, 'redactedData'), signature: stringAt(own, 'signature'), marks });
    }
    case 'tool': {
      const input = isObject(part.state) ? part.state.input : undefined;
      return called(stringAt(part, 'tool') ?? '', stringAt(part, 'callID') ?? '', input, { marks });
    }
    default:
      return note(readType(part), part);
  }
}

/** A tool's data beside its text. The agent requires an object: missing data become `{}`, others are stored under this name. */
export const boxed = 'stemma:result';

function resultIn(metadata: Json | undefined): { readonly result?: unknown } {
  if (!isObject(metadata)) return {};
  const names = Object.keys(metadata);
  if (names.length === 0) return {};
  return { result: names.length === 1 && names[0] === boxed ? metadata[boxed] : metadata };
}

/** The result of a tool. A call that is running or never ended has no result. */
function resultDrafts(part: JsonObject, name: string): readonly Named[] {
  const state = readType(part) === 'tool' && isObject(part.state) ? part.state : {};
  const status = stringAt(state, 'status');
  if (!hasResult(part)) return [];
  const at: Timestamp | undefined = isObject(state.time) ? instantOf(state.time.end) : undefined;
  const call = { toolCallId: stringAt(part, 'callID') ?? '', toolName: stringAt(part, 'tool') ?? '', ...(at === undefined ? {} : { at }) };
  const cut = status === 'error' && isObject(state.metadata) && state.metadata.interrupted === true ? stringAt(state.metadata, 'output') : undefined;
  const isError = status === 'error' && cut === undefined;
  const isPruned = status === 'completed' && isObject(state.time) && state.time.compacted !== undefined;
  const text = isPruned ? pruned : status === 'error' ? (cut ?? stringAt(state, 'error') ?? '') : (stringAt(state, 'output') ?? '');
  const result = answered(call.toolCallId, text, {
    ...call,
    ...resultIn(state.metadata),
    ...(isError && { isError }),
    ...(isPruned && { marks: ['elided'] }),
  });
  const attachments = !isPruned && Array.isArray(state.attachments) ? state.attachments.filter(isObject) : [];
  return [[`${name}.0`, result], ...attachments.map((file, place): Named => [`${name}.${place + 1}`, { ...media(file, 'tool'), ...call }])];
}
