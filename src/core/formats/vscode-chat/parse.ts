import { defined, inWords, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import { digest } from '../digest.js';
import { jsonIn, textIn } from '../shared/anthropic-blocks.js';
import {
  answered,
  called,
  failed,
  type Numbered,
  noted,
  objectsIn,
  pictured,
  said,
  summarized,
  thought,
  type UnplacedEntry,
  usageIn,
} from '../shared/drafts.js';

type Told = UnplacedEntry & { readonly messageId?: string };

/** The entries of a request: the prompt, the answers and calls of the model, and the results of the tools. */
export function readEntries(request: JsonObject): readonly Numbered[] {
  const author = defined({ author: stringAt(request, 'modelId') });
  const metadata = isObject(request.result) ? request.result.metadata : undefined;
  const rounds = isObject(metadata) ? objectsIn(metadata.toolCallRounds) : [];
  const id = stringAt(request, 'requestId') ?? digest(JSON.stringify(request));
  const results = isObject(metadata) && isObject(metadata.toolCallResults) ? metadata.toolCallResults : {};
  const answer = rounds.length > 0 ? rounds.flatMap((round, at) => roundDrafts(round, results, `${id}:${at}`)) : responseDrafts(request, id);
  const fault = isObject(request.result) ? stringAt(request.result.errorDetails, 'message') : undefined;
  const drafts: Told[] = [
    ...promptDrafts(request, metadata),
    ...withCounts(
      answer.map((draft): Told => (draft.role === 'assistant' && draft.kind !== 'event' ? { ...draft, ...author } : draft)),
      request,
      metadata,
    ),
    ...(fault === undefined ? stateDrafts(request, answer) : [failed(fault)]),
  ];
  return drafts.map((draft, at): Numbered => [at, draft]);
}

/** Whether the file contains no end of the request, because it was being answered or VS Code was closed. */
export const isOpen = (request: JsonObject): boolean => request.result === undefined && request.isCanceled !== true;

/** Says that a request has no answer, or only a part of one. */
function stateDrafts(request: JsonObject, answer: readonly UnplacedEntry[]): readonly UnplacedEntry[] {
  const { isCanceled, modelState } = request;
  const facts = defined({ isCanceled, modelState });
  if (!answer.some(({ role }) => role === 'assistant')) return [noted('no answer', facts)];
  if (isCanceled === true) return [noted('canceled answer', facts)];
  return isOpen(request) ? [noted('unfinished answer', facts)] : [];
}

/** A note for the person if the answer to a request is incomplete. */
export const oddities = (request: JsonObject): readonly string[] =>
  isOpen(request) ? [`the request ${inWords(request.requestId ?? null)} has no result: its answer is missing or unfinished`] : [];

function promptDrafts(request: JsonObject, metadata: Json | undefined): readonly Told[] {
  const text = stringAt(request.message, 'text') ?? '';
  const variables = isObject(request.variableData) ? objectsIn(request.variableData.variables) : [];
  const summaries = isObject(metadata) ? [...objectsIn(metadata.summaries), metadata.summary].flatMap((one) => stringAt(one, 'text') ?? []) : [];
  return [
    ...summaries.slice(-1).map((summary) => summarized(summary)),
    said('user', text),
    ...variables.map((variable) => (variable.kind === 'image' ? imageOf(variable) : noted('attachment', variable))),
    ...(isObject(metadata) && metadata.renderedUserMessage !== undefined ? [noted('rendered user message', metadata.renderedUserMessage)] : []),
  ];
}

function imageOf(variable: JsonObject): UnplacedEntry {
  const mediaType = stringAt(variable, 'mimeType') ?? 'image/png';
  const { value } = variable;
  if (typeof value === 'string') return pictured('user', { mediaType, base64: value });
  const bytes = isObject(value) ? Object.values(value).filter((byte): byte is number => typeof byte === 'number') : [];
  return bytes.length > 0 ? pictured('user', { mediaType, base64: Buffer.from(bytes).toString('base64') }) : pictured('user', { link: variable });
}

function roundDrafts(round: JsonObject, results: JsonObject, messageId: string): readonly Told[] {
  const thinking = isObject(round.thinking) ? textIn(round.thinking.text) : stringAt(round, 'thinking');
  const text = stringAt(round, 'response') ?? '';
  const calls = objectsIn(round.toolCalls);
  const of = (draft: UnplacedEntry): Told => ({ ...draft, messageId });
  return [
    ...(thinking ? [of(thought(thinking))] : []),
    ...(text === '' ? [] : [of(said('assistant', text))]),
    ...calls.map((call) => of(called(stringAt(call, 'name') ?? '', stringAt(call, 'id'), jsonIn(call.arguments)))),
    ...calls.flatMap((call): Told[] => {
      const id = stringAt(call, 'id') ?? '';
      const result = Object.hasOwn(results, id) ? results[id] : undefined;
      if (!isObject(result)) return [];
      const parts = objectsIn(result.content);
      const text = parts.map((part) => toolText(part.value)).join('\n');
      return [{ ...answered(id, text, { toolName: stringAt(call, 'name') ?? '' }), messageId: `${messageId}-results` }];
    }),
  ];
}

/** A result is a text, or a tree of nodes with texts. */
function toolText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (!isObject(value) || !isObject(value.node)) return textIn(value);
  const texts: string[] = [];
  const walk = (node: JsonObject, depth: number): void => {
    const text = stringAt(node, 'text');
    if (text !== undefined) texts.push(text);
    if (depth < deepestNode) for (const child of objectsIn(node.children)) walk(child, depth + 1);
  };
  walk(value.node, 0);
  return texts.join('');
}
const deepestNode = 200;

/** The parts on the screen, if the rounds were not recorded. */
function responseDrafts(request: JsonObject, id: string): readonly Told[] {
  const drafts: UnplacedEntry[] = [];
  for (const part of objectsIn(request.response)) {
    const last = drafts.at(-1);
    const value = typeof part.value === 'string' ? part.value : textIn(isObject(part.value) ? part.value.value : part.value);
    if (part.kind === undefined || part.kind === 'markdownContent') {
      const text = value === '' ? (stringAt(part.content, 'value') ?? '') : value;
      if (text === '') continue;
      if (last?.kind === 'text') drafts[drafts.length - 1] = said('assistant', `${last.text ?? ''}${text}`);
      else drafts.push(said('assistant', text));
    } else if (part.kind === 'thinking') {
      if (value !== '') drafts.push(thought(value));
    } else if (part.kind === 'toolInvocationSerialized') drafts.push(...invocationDrafts(part));
    else drafts.push(noted(stringAt(part, 'kind') ?? 'part', part));
  }
  return drafts.map((draft): Told => ({ ...draft, messageId: draft.role === 'tool' ? `${id}-results` : id }));
}

function invocationDrafts(part: JsonObject): readonly UnplacedEntry[] {
  const id = stringAt(part, 'toolCallId');
  const name = stringAt(part, 'toolId') ?? 'tool';
  const data = part.toolSpecificData ?? {};
  const told = part.pastTenseMessage ?? part.invocationMessage;
  const details = part.resultDetails;
  const text = details === undefined ? textIn(isObject(told) ? told.value : told) : textIn(isObject(details) ? (details.output ?? details) : details);
  const isError = isObject(details) && details.isError === true;
  const call = called(name, id, data);
  return part.isComplete === false ? [call] : [call, answered(id, text, { toolName: name, ...(isError && { isError }) })];
}

/** Newer files contain the counts of the whole request. If the request was a single call, its first answer gets them. */
function withCounts(drafts: readonly Told[], request: JsonObject, metadata: Json | undefined): readonly Told[] {
  const counts = [request.usage, isObject(metadata) ? metadata.usage : undefined].find(isObject);
  const usage = usageIn(
    { input: counts?.promptTokens ?? counts?.inputTokens, output: counts?.completionTokens ?? counts?.outputTokens ?? request.completionTokens },
    'within',
  );
  const calls = new Set(drafts.flatMap(({ role, messageId }) => (role === 'assistant' && messageId !== undefined ? [messageId] : [])));
  const first = drafts.findIndex(({ role, kind }) => role === 'assistant' && kind !== 'event');
  if (calls.size !== 1 || first < 0 || !usage) return drafts;
  return drafts.map((draft, at) => (at === first ? { ...draft, usage } : draft));
}
