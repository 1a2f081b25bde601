import type { EntryKey } from '../base/index.js';
import type { Composed, Entry, InputOf, Lifetime, OutputOf, PreviewLayer, Process, QueryPath } from '../contract/index.js';
import { countTokens } from '../formats/index.js';
import { collectContexts, type RuntimeServices } from './collect.js';
import { composeMessages } from './compose.js';
import { admission, orderedBlocks, reproducibleBlocks } from './layers.js';
import { tokensOf } from './memory.js';
import { type RecordedLayers, recordedLayers } from './recorded.js';

export type PreviewRequest = Omit<InputOf<'compose.preview'>, 'id'>;

export type Preview = OutputOf<'compose.preview'>;

/** Composes a recorded conversation for a process, and tells where each layer comes from. Pure: the caller passes entries and services. */
export function previewContext(
  entries: readonly Entry[],
  services: Pick<RuntimeServices, 'knowledge' | 'experience'>,
  request: PreviewRequest,
): Preview {
  const { process = 'sequential', enableShareContext = true } = request;
  const recorded = recordedLayers(entries);
  const prompt = promptOf(recorded);
  const state = {
    todo: recorded.todo.items,
    ...(recorded.summaries.length > 0 ? { compression__context: recorded.summaries.map((entry) => entry.text ?? '').join('\n\n') } : {}),
  };
  // Collects the blocks of an agent with sharing on, so that `dropped` lists what another process does not get.
  const query = request.query ?? prompt?.message.content ?? '';
  const framework = { text: () => recorded.framework.map((entry) => entry.text ?? '').join('\n\n') };
  const { contexts: made, problems } = collectContexts({ state, services: { ...services, framework }, query });
  const contexts = { ...made, ...request.contexts };

  const asked = queryOf(request, process, prompt?.message.content);
  const composed = composeMessages({
    systemPrompt: request.systemPrompt ?? recorded.systemPrompt.map((entry) => entry.text ?? '').join('\n\n'),
    checkpointMessages: recorded.memory.map(({ message }) => message),
    contexts,
    process,
    enableShareContext,
    ...asked,
    ...(request.humanMessage === undefined ? {} : { humanMessage: request.humanMessage }),
  });
  return {
    messages: composed.messages,
    dropped: [...composed.dropped, ...withoutPlace(recorded)],
    layers: layersOf(composed, contexts, recorded, request),
    messageOrigins: originsOf(composed, recorded, request),
    problems: [...problems],
  };
}

/** The last prompt of a person. Prompts that the runtime added do not count. */
const promptOf = ({ memory }: RecordedLayers) =>
  memory.findLast(({ message, from }) => message.role === 'human' && from.some((entry) => !entry.marks?.includes('meta')));

/** The turn's prompt is in memory. For a process without memory, the prompt is the query. */
function queryOf(request: PreviewRequest, process: Process, prompt: string | undefined): { query: string | null; queryPath: QueryPath } {
  if (request.query !== undefined) return { query: request.query, queryPath: request.queryPath ?? 'runtime' };
  const hasMemory = admission(process, true).memory;
  if (hasMemory || prompt === undefined) return { query: null, queryPath: request.queryPath ?? (prompt === undefined ? 'none' : 'checkpoint') };
  return { query: prompt, queryPath: 'runtime' };
}

const withoutPlace = ({ leftOut }: RecordedLayers): Composed['dropped'] =>
  leftOut.length === 0
    ? []
    : [
        {
          layer: 'checkpoint_messages',
          reason: 'thinking and events have no place in memory',
          messages: leftOut.length,
          tokens: leftOut.reduce((sum, entry) => sum + entry.tokens, 0),
        },
      ];

function originsOf(composed: Composed, recorded: RecordedLayers, request: PreviewRequest): EntryKey[][] {
  const memory = recorded.memory.values();
  return composed.messages.map(({ layer }) => {
    if (layer === 'checkpoint_messages') return (memory.next().value?.from ?? []).map((entry) => entry.key);
    return isGiven(layer, request) ? [] : entriesOf(layer, recorded).map((entry) => entry.key);
  });
}

function entriesOf(layer: string, recorded: RecordedLayers): readonly Entry[] {
  switch (layer) {
    case 'system_prompt':
      return recorded.systemPrompt;
    case 'framework__context':
      return recorded.framework;
    case 'todo__context':
      return recorded.todo.from;
    case 'compression__context':
      return recorded.summaries;
    case 'checkpoint_messages':
      return recorded.memory.flatMap(({ from }) => from);
    case 'query':
      return promptOf(recorded)?.from ?? [];
    default:
      return [];
  }
}

/** The origin of layers that no entry contains. */
const otherOrigins: Readonly<Record<string, string>> = {
  framework__context: 'Not recorded: additions of the runtime',
  experience__context: 'Earlier sessions of this project, found by full-text search',
  knowledge__context: 'Notes in the project folder',
  human_message: 'For this call only',
};

function layersOf(composed: Composed, contexts: Readonly<Record<string, string>>, recorded: RecordedLayers, request: PreviewRequest): PreviewLayer[] {
  const blocks = orderedBlocks({
    framework__context: '',
    experience__context: '',
    knowledge__context: '',
    todo__context: '',
    compression__context: '',
    ...contexts,
  });
  const memory = recorded.memory.map(({ message }) => message);
  const offered: readonly (readonly [layer: string, tokens: number])[] = [
    ['system_prompt', composed.messages.find(({ layer }) => layer === 'system_prompt')?.tokens ?? 0],
    ...blocks.map(({ key, text }) => [key, countTokens(text)] as const),
    ['checkpoint_messages', memory.reduce((sum, message) => sum + tokensOf(message), 0)],
    ...(request.humanMessage === undefined ? [] : [['human_message', countTokens(request.humanMessage)] as const]),
    ...composed.messages.filter(({ layer }) => layer === 'query').map(({ tokens }) => ['query', tokens] as const),
  ];
  return offered.map(([layer, tokens]) => {
    const given = isGiven(layer, request);
    const from = given ? [] : entriesOf(layer, recorded);
    return {
      layer,
      tokens,
      lifetime: lifetimeOf(layer),
      origins: layer === 'checkpoint_messages' ? commitsOf(from) : from.map((entry) => ({ commit: entry.source.commit, entryKey: entry.key })),
      origin: given ? 'Given here' : layer === 'query' ? "The turn's own prompt" : originText(layer, from),
      present: composed.messages.some((message) => message.layer === layer && (message.content !== '' || layer === 'checkpoint_messages')),
    };
  });
}

/** Whether the request contains the layer. */
function isGiven(layer: string, { query, systemPrompt, contexts }: PreviewRequest): boolean {
  if (layer === 'query') return query !== undefined;
  return layer === 'system_prompt' ? systemPrompt !== undefined : contexts !== undefined && Object.hasOwn(contexts, layer);
}

const lifetimeOf = (layer: string): Lifetime =>
  layer === 'checkpoint_messages' || (reproducibleBlocks as readonly string[]).includes(layer) ? 'checkpoint' : 'call';

const commitsOf = (entries: readonly Entry[]): PreviewLayer['origins'] =>
  [...new Set(entries.map((entry) => entry.source.commit))].map((commit) => ({ commit }));

function originText(layer: string, from: readonly Entry[]): string {
  if (from.length > 0) {
    const commits = commitsOf(from).length;
    const entries = from.length === 1 ? '1 entry' : `${from.length} entries`;
    return `${entries} of ${layer !== 'checkpoint_messages' ? 'the history' : commits === 1 ? '1 commit' : `${commits} commits`}`;
  }
  return otherOrigins[layer] ?? (layer === 'checkpoint_messages' ? 'No earlier messages' : 'Not recorded');
}
