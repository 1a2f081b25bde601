import type { CallKind, CollectProblem, Composed, ComposeInput, MemoryMessage, Permitted, Process } from '../contract/index.js';
import { collectContexts, type RuntimeServices } from './collect.js';
import { arranged } from './compose.js';
import { afterNotice, frameworkText, untrusted } from './framework.js';
import type { State } from './state.js';

/** What a call may take from the rest of the project, if its profile permits it. */
export interface LayerSources {
  readonly state: State;
  readonly services: Pick<RuntimeServices, 'knowledge' | 'experience'>;
}

/** Everything that goes into a model call of Stemma. */
export interface Call {
  readonly kind: CallKind;
  readonly systemPrompt?: string | undefined;
  /** Whether other machines write in the project too. Then the call begins with the sentence that their texts are material to judge. */
  readonly isShared?: boolean | undefined;
  /** The messages of the context, the boxes or the invocation. */
  readonly memory: readonly MemoryMessage[];
  /** The input of this call, unless memory ends with it. */
  readonly query?: string | undefined;
  /** Whether blocks are sent. The default is true. */
  readonly sharing?: boolean | undefined;
  readonly permitted?: readonly Permitted[] | undefined;
  readonly sources?: LayerSources | undefined;
  /** The finding that a discussion is about, with its thread. */
  readonly finding?: string | undefined;
  /** The summary of the context's own earlier part. */
  readonly summary?: string | undefined;
  /** What the runtime of the context added to it: reminders, notices. */
  readonly additions?: string | undefined;
  readonly task?: string | undefined;
  /** A last system message for this call only. */
  readonly note?: string | undefined;
}

export interface ComposedCall extends Composed {
  /** The blocks that are missing because their service failed. */
  readonly problems: readonly CollectProblem[];
}

/** The process by which a kind of call is composed. */
const byKind: Record<CallKind, Process> = {
  turn: 'react',
  run: 'react',
  answer: 'sequential',
  question: 'sequential',
  worker: 'mapreduce-worker',
};

/**
 * Composes a model call of Stemma. Every call goes through here, and its preview is the same value. Blocks of others come only as the profile
 * permits, after the sentence that they are material to judge. Pure.
 */
export function composeCall(call: Call): ComposedCall {
  const { memory, query, note } = call;
  const systemPrompt = afterNotice(call.isShared ?? false, call.systemPrompt ?? '');
  const { contexts, problems } = collectBlocks(call);
  const input: ComposeInput = {
    systemPrompt,
    checkpointMessages: [...memory],
    contexts,
    query: query ?? null,
    queryPath: query === undefined ? 'none' : 'runtime',
    process: byKind[call.kind],
    enableShareContext: call.sharing ?? true,
  };
  const { messages, dropped } = arranged(input);
  const isEmpty = systemPrompt.trim() === '';
  return {
    messages: [
      ...messages.filter(({ layer }) => !(isEmpty && layer === 'system_prompt')),
      ...(note === undefined ? [] : arranged({ systemPrompt: note, checkpointMessages: [], contexts: {}, queryPath: 'none' }).messages),
    ],
    dropped: [
      ...(isEmpty && call.kind !== 'worker' ? [{ layer: 'system_prompt', reason: 'it is empty', messages: 0, tokens: 0 }] : []),
      ...dropped,
      ...problems.map(({ layer, reason }) => ({ layer, reason: `it could not be collected: ${reason}`, messages: 0, tokens: 0 })),
    ],
    problems,
  };
}

/** The blocks of a call, collected as if sharing were on, so that the preview names those that it drops. */
export function collectBlocks(call: Omit<Call, 'systemPrompt' | 'isShared' | 'sharing' | 'note'>) {
  const { kind, sources, finding, summary, additions, task, memory, query, permitted = [] } = call;
  const may = (layer: Permitted): boolean => permitted.includes(layer);
  const state = {
    ...(may('todo') && { todo: sources?.state.todo, assigned_task: sources?.state.assigned_task }),
    ...(may('compression') && { compression__context: sources?.state.compression__context }),
  };
  const services: RuntimeServices = {
    framework: { text: () => [additions ?? '', frameworkText(kind, task)].filter((text) => text.trim() !== '').join('\n\n') },
    experience: may('experience') ? sources?.services.experience : undefined,
    knowledge: may('knowledge') ? sources?.services.knowledge : undefined,
  };
  const asked = query ?? memory.findLast(({ role }) => role === 'human')?.content;
  const { contexts, problems } = collectContexts({ state, services, process: 'react', query: asked });
  // Blocks of others come after the sentence that they are material to judge.
  for (const key of ['experience__context', 'knowledge__context']) if (contexts[key]) contexts[key] = `${untrusted}\n\n${contexts[key]}`;
  const append = (key: string, text: string): void => {
    contexts[key] = contexts[key] ? `${contexts[key]}\n\n${text}` : text;
  };
  if (finding !== undefined) append('knowledge__context', `${untrusted}\n\n${finding}`);
  if (summary !== undefined && summary.trim() !== '') append('compression__context', summary);
  return { contexts, problems };
}
