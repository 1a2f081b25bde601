import { type ByteRange, isObject, type JsonObject, stringAt, type Timestamp } from '../../base/index.js';
import type { ParsedDelta, ParsedEntry, TokenUsage } from '../format.js';
import { answered, called, pictured, placeDraft, said, type UnplacedEntry, unsent, usageIn, withThoughts } from '../shared/drafts.js';
import { readTime } from '../shared/jsonl.js';
import { keptMark } from '../shared/kept.js';
import { countTokens } from '../shared/tokens.js';
import { scanValues } from './parse-values.js';
import {
  additionName,
  historyIn,
  idOf,
  isAddition,
  isContext,
  isSummary,
  isThought,
  nameMessage,
  readCalls,
  readParts,
  readResult,
  readSpokenText,
  responsesIn,
  rewindIn,
  summaryIn,
} from './schema.js';

interface Placed {
  readonly message: JsonObject;
  readonly raw: ByteRange;
  /** True if a compression kept the message in addition to its summary. */
  readonly isKept?: boolean;
}

/** Reads a delta. Never throws for its content. */
export function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanValues(delta);
  return { entries: readEntries(pieces), elisions: [], problems: skipped };
}

/** Messages as the agent reads them. A repeated message replaces its earlier form, and a history replaces everything before it. */
export function readMessages(pieces: Iterable<{ readonly record?: JsonObject; readonly range: ByteRange }>): Placed[] {
  const placed = new Map<string, Placed>();
  for (const { record, range: raw } of pieces) {
    if (!record) continue;
    const history = historyIn(record);
    const back = rewindIn(record);
    if (history) {
      const isCompaction = history.some(isSummary);
      placed.clear();
      for (const message of history)
        placed.set(idOf(message), { message, raw, ...(isCompaction && !isSummary(message) && !isContext(message) && { isKept: true }) });
    } else if (back !== undefined) takeBack(placed, back);
    else if (idOf(record) !== '') {
      const added = additionName(idOf(record));
      const name = placed.has(added) || (isAddition(record) && !placed.has(idOf(record))) ? added : idOf(record);
      const before = placed.get(name);
      const { toolCalls = null } = record;
      const message =
        name === added && before ? { ...before.message, toolCalls } : before && isAddition(record) ? { ...before.message, ...record } : record;
      placed.set(name, { message, raw });
    }
  }
  return [...placed.values()];
}

function takeBack(placed: Map<string, Placed>, id: string): void {
  const names = [...placed.keys()];
  for (const name of names.slice(Math.max(0, names.indexOf(id)))) placed.delete(name);
}

/** The entries of records with their ranges in a delta. */
export function readEntries(pieces: Parameters<typeof readMessages>[0]): ParsedEntry[] {
  const placed = readMessages(pieces);
  /** If a separate message contains a tool's result, the call's record need not repeat it. */
  const answered = new Set(placed.flatMap(({ message }) => (message.type === 'user' ? responsesIn(readParts(message.content)).map(callIdOf) : [])));
  const calls = new Map(placed.flatMap(({ message }) => readCalls(message).map((call) => [callIdOf(call), call] as const)));
  return placed.flatMap((one) => entriesIn(one, { answered, calls }));
}

const callIdOf = (named: JsonObject): string => stringAt(named, 'id') ?? '';

interface Known {
  readonly answered: ReadonlySet<string>;
  readonly calls: ReadonlyMap<string, JsonObject>;
}

type Draft = Omit<UnplacedEntry, 'at'> & { readonly at?: Timestamp | undefined };

/** The entries of a message. A draft is null for an empty part that replaces a removed one (write.ts). */
function entriesIn({ message, raw, isKept }: Placed, known: Known): readonly ParsedEntry[] {
  const { type } = message;
  const drafts = type === 'gemini' ? answerDrafts(message, known) : type === 'user' ? userDrafts(message, known) : [note(message)];
  const name = nameMessage(message);
  const place = { messageId: idOf(message), raw, at: readTime(message) };
  return drafts.flatMap((draft, number) => {
    if (!draft) return [];
    const entry = placeDraft(draft, `${name}.${number}`, place);
    return [isKept ? { ...entry, marks: [...(draft.marks ?? []), keptMark] } : entry];
  });
}

/** Messages whose text is their only content. Any other message is kept whole. */
const shown: ReadonlySet<string> = new Set(['info', 'warning', 'error']);

/** News, warnings and errors that the person sees but the model never gets. */
function note(message: JsonObject): Draft {
  const toolName = stringAt(message, 'type') ?? 'unknown';
  const isError = toolName === 'error';
  return {
    role: 'system',
    kind: 'event',
    toolName,
    text: readSpokenText(message) || toolName,
    tokens: 0,
    marks: ['hidden', toolName],
    ...(!shown.has(toolName) && { result: message }),
    ...(isError && { isError }),
  };
}

function userDrafts(message: JsonObject, known: Known): readonly (Draft | null)[] {
  const marks = isContext(message) ? { marks: ['meta'] } : {};
  const parts = readParts(message.content);
  let tool: string | undefined;
  return parts.flatMap((part): readonly (Draft | null)[] => {
    const text = stringAt(part, 'text');
    if (text === '' && parts.length > 1) return [null];
    if (text !== undefined) {
      const summary = summaryIn(text);
      if (summary !== undefined) return [{ role: 'user', kind: 'summary', text: summary, tokens: countTokens(text) }];
      return [said('user', text, marks)];
    }
    if (isObject(part.functionResponse)) {
      tool = callIdOf(part.functionResponse);
      return answerOfTool(part.functionResponse, known);
    }
    // Parts after a tool's result belong to the tool.
    return [tool === undefined ? otherPart(part, 'user') : { ...otherPart(part, 'tool'), toolCallId: tool }];
  });
}

/** Thoughts come first, in either form of recording; calls and their results come last. */
function answerDrafts(message: JsonObject, known: Known): readonly (Draft | null)[] {
  const model = stringAt(message, 'model');
  const parts = readParts(message.content);
  const listed = new Set(parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [callIdOf(functionCall)] : [])));
  const calls = readCalls(message);
  const thoughts = parts.some(isThought) ? [] : thoughtsOf(message);
  const isAmong = Array.isArray(message.content) && parts.length + calls.length + thoughts.length > 1;
  const answers = [
    ...thoughts,
    ...parts.map((part) => answerPart(part, isAmong)),
    ...calls.filter((call) => !listed.has(callIdOf(call))).map(callDraft),
    ...emptyDraft(message, calls.length + thoughts.length === 0 && parts.every(({ text }) => text === '')),
  ].map((draft) => (model === undefined || !draft ? draft : { ...draft, author: model }));
  return [...answers, ...calls.filter((call) => !known.answered.has(callIdOf(call))).flatMap((call) => resultDrafts(call, known))];
}

/** An answer without content, or before its calls were recorded, is hidden, because its call was counted. */
function emptyDraft(message: JsonObject, isEmpty: boolean): readonly Draft[] {
  const usage = isEmpty ? readUsage(message) : undefined;
  return usage ? [unsent(said('assistant', '', { usage }), 'empty')] : [];
}

/** The counts of an answer's call. The provider counts cached tokens as part of the input, and thoughts beside the output. */
export function readUsage({ tokens }: JsonObject): TokenUsage | undefined {
  const { input, output, cached: cacheRead, thoughts: reasoning } = isObject(tokens) ? tokens : {};
  return usageIn({ input, output: withThoughts(output, reasoning), cacheRead, reasoning }, 'within');
}

/** The thoughts of an answer. */
export function thoughtsOf(message: JsonObject): readonly Draft[] {
  const list = Array.isArray(message.thoughts) ? message.thoughts : [];
  return list.flatMap((thought: unknown) => (isObject(thought) ? [thoughtDraft(thoughtText(thought), stringAt(thought, 'signature'))] : []));
}

/** A thought as the model wrote it: a title on its own line, then the text. */
function thoughtText(thought: JsonObject): string {
  const subject = stringAt(thought, 'subject') ?? '';
  const description = stringAt(thought, 'description') ?? '';
  return subject === '' ? description : description === '' ? `**${subject}**` : `**${subject}**\n${description}`;
}

/** No later call sends a thought again, so it costs no tokens. */
const thoughtDraft = (text: string, signature?: string): Draft => ({
  role: 'assistant',
  kind: 'thinking',
  text,
  tokens: 0,
  ...(signature !== undefined && { marks: ['signed'], result: { signature } }),
});

/** The agent (0.61.0) drops an answer whole that holds an empty text among other parts, so the text is an entry that a repair can leave out. */
function answerPart(part: JsonObject, isAmong: boolean): Draft | null {
  const text = stringAt(part, 'text');
  if (text !== undefined && isThought(part)) return text === '' ? null : thoughtDraft(text);
  const signature = stringAt(part, 'thoughtSignature');
  const signed = signature === undefined ? {} : { result: { thoughtSignature: signature } };
  if (text !== undefined) return text === '' && !isAmong ? null : said('assistant', text, signed);
  if (isObject(part.functionCall)) return { ...callDraft(part.functionCall), ...signed };
  return otherPart(part, 'assistant');
}

const callDraft = (call: JsonObject): Draft => called(stringAt(call, 'name') ?? '', callIdOf(call), call.args);

function resultDrafts(call: JsonObject, known: Known): readonly Draft[] {
  const at = readTime(call);
  return readResult(call)
    .flatMap((part) =>
      isObject(part.functionResponse) ? answerOfTool(part.functionResponse, known) : [{ ...otherPart(part, 'tool'), toolCallId: callIdOf(call) }],
    )
    .map((draft) => ({ ...draft, at }));
}

/** A tool's result can have any form. The agent's own tools put a text into `output` or `error`. */
function answerOfTool(answer: JsonObject, { calls }: Known): readonly Draft[] {
  const toolCallId = callIdOf(answer);
  const toolName = stringAt(answer, 'name');
  const { response } = answer;
  const failure = stringAt(response, 'error');
  const isPlain = isObject(response) && Object.keys(response).length === 1;
  const text = (isPlain ? (failure ?? stringAt(response, 'output')) : undefined) ?? JSON.stringify(response ?? {});
  const shown = calls.get(toolCallId)?.resultDisplay;
  const whole = answered(toolCallId, text, {
    ...(toolName !== undefined && { toolName }),
    ...(isObject(shown) && { result: shown }),
    ...((failure !== undefined || calls.get(toolCallId)?.status === 'error') && { isError: true }),
  });
  return [whole, ...readParts(answer.parts).map((part) => ({ ...otherPart(part, 'tool'), toolCallId }))];
}

/** Media, and other parts that are not text. */
function otherPart(part: JsonObject, role: Draft['role']): Draft {
  const data = stringAt(part.inlineData, 'data');
  const mediaType = stringAt(part.inlineData, 'mimeType');
  if (data !== undefined && mediaType !== undefined) return pictured(role, { mediaType, base64: data });
  if (isObject(part.fileData)) return pictured(role, { link: part });
  const [toolName = 'unknown'] = Object.keys(part);
  return { role, kind: 'event', toolName, result: part, tokens: countTokens(JSON.stringify(part)) };
}
