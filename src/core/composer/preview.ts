import { defined, type EntryKey } from '../base/index.js';
import {
  blockKeys,
  type Composed,
  type Entry,
  type InputOf,
  type OutputOf,
  type Permitted,
  type PreviewLayer,
  type Process,
  type QueryPath,
} from '../contract/index.js';
import { countTokens } from '../formats/index.js';
import { collectBlocks, type LayerSources } from './call.js';
import { composeMessages } from './compose.js';
import { afterNotice } from './framework.js';
import { admission, orderedBlocks, reproducibleBlocks } from './layers.js';
import { countMessage } from './memory.js';
import { isPrompt, type RecordedLayers, textOf } from './recorded.js';
import { refuse } from './refusals.js';

export type PreviewRequest = Omit<InputOf<'compose.preview'>, 'id'>;

export type Preview = Omit<OutputOf<'compose.preview'>, 'tools' | 'parameters'>;

/** What a preview needs beside the entries of a context. */
export interface PreviewSources {
  readonly systemPrompt: string;
  /** Whether other machines write in the project too. */
  readonly isShared?: boolean | undefined;
  /** The layers that a profile permits, or that the caller chose. */
  readonly permitted: readonly Permitted[];
  readonly services: LayerSources['services'];
  /** The finding with its thread, if the next call answers the last message of a discussion. */
  readonly finding?: string | undefined;
}

/**
 * Composes a recorded conversation for a process, and tells where each layer comes from. By default it is the call that `turn.ask` makes, or
 * `ticket.answer` at the last message of a discussion. Of a long memory, the last prompt stands for all messages. Pure.
 */
export function previewRecorded(
  recorded: RecordedLayers,
  { systemPrompt, isShared = false, permitted, services, finding }: PreviewSources,
  request: PreviewRequest,
): Preview {
  const { process = 'sequential', enableShareContext = true } = request;
  const prompt = promptOf(recorded);
  // Collects the blocks of an agent with sharing on, so that `dropped` lists what another process does not get.
  const { contexts: made, problems } = collectBlocks({
    kind: finding === undefined ? 'question' : 'answer',
    memory: [],
    query: request.query ?? prompt?.message.content ?? '',
    permitted,
    sources: { state: { todo: recorded.todo.items }, services },
    finding,
    summary: textOf(recorded.summaries),
    additions: textOf(recorded.framework),
  });
  const contexts = { ...made, ...request.contexts };

  const asked = queryOf(request, process, prompt?.message.content);
  const arranged = composeMessages({
    systemPrompt: afterNotice(isShared, request.systemPrompt ?? systemPrompt),
    checkpointMessages: recorded.memory.map(({ message }) => message),
    contexts,
    process,
    enableShareContext,
    ...asked,
    ...defined({ humanMessage: request.humanMessage }),
  });
  // A call without a system prompt has no empty message for it.
  const messages = arranged.messages.filter(({ layer, content }) => layer !== 'system_prompt' || content.trim() !== '');
  const composed = { ...arranged, messages };
  return {
    messages,
    dropped: [...composed.dropped.map((layer) => droppedWhole(layer, recorded)), ...withoutPlace(recorded)],
    layers: layersOf(composed, contexts, recorded, request, finding !== undefined),
    messageOrigins: originsOf(composed, recorded, request),
    problems: [...problems],
  };
}

const promptOf = ({ memory }: RecordedLayers) => memory.findLast(isPrompt);

const droppedWhole = (dropped: Composed['dropped'][number], { whole }: RecordedLayers): Composed['dropped'][number] =>
  whole && dropped.layer === 'checkpoint_messages' ? { ...dropped, messages: whole.messages, tokens: whole.tokens } : dropped;

/** The turn's prompt is in memory. For a process without memory, the prompt is the query. */
function queryOf(
  request: PreviewRequest,
  process: Process,
  prompt: string | undefined,
): { query: string | null; queryPath: QueryPath; turnId?: string | null } {
  const { turnId = null } = request;
  if (request.query !== undefined && request.queryPath === 'checkpoint' && turnId === null && request.query.trim() !== prompt?.trim())
    throw refuse(
      'QUERY_NOT_IN_MEMORY',
      'query',
      'the last prompt in memory is another one: name its message as `turnId`, or choose the path runtime',
    );
  if (request.query !== undefined) return { query: request.query, queryPath: request.queryPath ?? 'runtime', turnId };
  if (request.humanMessage !== undefined) return { query: null, queryPath: 'none', turnId: null };
  const hasMemory = admission(process, true).memory;
  if (hasMemory || prompt === undefined) return { query: null, queryPath: request.queryPath ?? (prompt === undefined ? 'none' : 'checkpoint') };
  return { query: prompt, queryPath: 'runtime' };
}

function withoutPlace({ leftOut }: RecordedLayers): Composed['dropped'] {
  const reason = 'events, and thinking that no provider signed, have no place in memory';
  return leftOut.messages === 0 ? [] : [{ layer: 'checkpoint_messages', reason, ...leftOut }];
}

function originsOf(composed: Composed, recorded: RecordedLayers, request: PreviewRequest): EntryKey[][] {
  const memory = recorded.memory.values();
  return composed.messages.map(({ layer }) => {
    if (layer === 'checkpoint_messages') return (memory.next().value?.from ?? []).map((entry) => entry.key);
    return isGiven(layer, request) ? [] : recordedEntries(layer, recorded).map((entry) => entry.key);
  });
}

const entriesOf: Readonly<Record<string, (recorded: RecordedLayers) => readonly Entry[]>> = {
  system_prompt: ({ systemPrompt }) => systemPrompt,
  framework__context: ({ framework }) => framework,
  todo__context: ({ todo }) => todo.from,
  compression__context: ({ summaries }) => summaries,
  checkpoint_messages: ({ memory }) => memory.flatMap(({ from }) => from),
  query: (recorded) => promptOf(recorded)?.from ?? [],
};

const recordedEntries = (layer: string, recorded: RecordedLayers): readonly Entry[] =>
  Object.hasOwn(entriesOf, layer) ? (entriesOf[layer]?.(recorded) ?? []) : [];

/** The origin of layers that no entry contains. */
const otherOrigins: Readonly<Record<string, string>> = {
  framework__context: 'Rules of Stemma',
  experience__context: 'Earlier sessions of this machine, found by full-text search. Sent only if the profile permits it',
  knowledge__context: 'Notes in the project folder. Sent only if the profile permits it',
  human_message: 'For this call only',
};

function layersOf(
  composed: Composed,
  contexts: Readonly<Record<string, string>>,
  recorded: RecordedLayers,
  request: PreviewRequest,
  hasFinding: boolean,
): PreviewLayer[] {
  const blocks = orderedBlocks({ ...Object.fromEntries(blockKeys.map((key) => [key, ''])), ...contexts });
  const sent = composed.messages.filter(({ layer }) => layer === 'checkpoint_messages').map(({ tokens }) => tokens);
  const remembered = sent.length > 0 ? sent : recorded.memory.map(({ message }) => countMessage(message));
  const offered: readonly (readonly [layer: string, tokens: number])[] = [
    ['system_prompt', composed.messages.find(({ layer }) => layer === 'system_prompt')?.tokens ?? 0],
    ...blocks.map(({ key, text }) => [key, countTokens(text)] as const),
    ['checkpoint_messages', recorded.whole?.tokens ?? remembered.reduce((sum, tokens) => sum + tokens, 0)],
    ...(request.humanMessage === undefined ? [] : [['human_message', countTokens(request.humanMessage)] as const]),
    ...composed.messages.filter(({ layer }) => layer === 'query').map(({ tokens }) => ['query', tokens] as const),
  ];
  return offered.map(([layer, tokens]) => {
    const given = isGiven(layer, request);
    const from = given ? [] : recordedEntries(layer, recorded);
    const { whole } = layer === 'checkpoint_messages' ? recorded : {};
    const commits = whole?.commits ?? [...new Set(from.map(({ source }) => source.commit))];
    const isMemory = layer === 'checkpoint_messages';
    return {
      layer,
      tokens,
      lifetime: isMemory || reproducibleBlocks.some((block) => block === layer) ? 'checkpoint' : 'call',
      origins: isMemory ? commits.map((commit) => ({ commit })) : from.map(({ key, source }) => ({ commit: source.commit, entryKey: key })),
      origin: given ? 'Given here' : originText(layer, { entries: whole?.entries ?? from.length, commits: commits.length }, hasFinding),
      present: composed.messages.some((message) => message.layer === layer && (message.content !== '' || layer === 'checkpoint_messages')),
    };
  });
}

function isGiven(layer: string, { query, systemPrompt, contexts }: PreviewRequest): boolean {
  if (layer === 'query') return query !== undefined;
  return layer === 'system_prompt' ? systemPrompt !== undefined : contexts !== undefined && Object.hasOwn(contexts, layer);
}

function originText(layer: string, from: { readonly entries: number; readonly commits: number }, hasFinding: boolean): string {
  if (layer === 'query') return "The turn's own prompt";
  if (layer === 'knowledge__context' && hasFinding) return 'The finding that is discussed, with its thread';
  if (from.entries > 0) {
    const entries = from.entries === 1 ? '1 entry' : `${from.entries} entries`;
    return `${entries} of ${layer !== 'checkpoint_messages' ? 'the history' : from.commits === 1 ? '1 commit' : `${from.commits} commits`}`;
  }
  return otherOrigins[layer] ?? (layer === 'checkpoint_messages' ? 'No earlier messages' : 'Not recorded');
}
