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

/** The retrievers that a profile permits. */
export const permittedOf = (permitted: readonly Permitted[], { experience, knowledge }: LayerSources['services'] = {}): LayerSources['services'] => ({
  ...(permitted.includes('experience') && experience && { experience }),
  ...(permitted.includes('knowledge') && knowledge && { knowledge }),
});

/** Blocks of others after the sentence that they are material to judge, with the finding that the call is about. */
export function withNotes(made: Readonly<Record<string, string>>, finding: string | undefined): Record<string, string> {
  const contexts = { ...made };
  for (const key of ['experience__context', 'knowledge__context']) if (contexts[key]) contexts[key] = `${untrusted}\n\n${contexts[key]}`;
  if (finding !== undefined) contexts.knowledge__context = [contexts.knowledge__context, `${untrusted}\n\n${finding}`].filter(Boolean).join('\n\n');
  return contexts;
}

/** The blocks of a call, collected as if sharing were on, so that the preview names those that it drops. */
function collectBlocks(call: Call): { contexts: Record<string, string>; problems: readonly CollectProblem[] } {
  const { kind, sources, finding, summary, additions, task, memory, query, permitted = [] } = call;
  const may = (layer: Permitted): boolean => permitted.includes(layer);
  const state = {
    ...(may('todo') && { todo: sources?.state.todo, assigned_task: sources?.state.assigned_task }),
    ...(may('compression') && { compression__context: sources?.state.compression__context }),
  };
  const services: RuntimeServices = {
    framework: { text: () => [additions ?? '', frameworkText(kind, task)].filter((text) => text.trim() !== '').join('\n\n') },
    ...permittedOf(permitted, sources?.services),
  };
  const asked = query ?? memory.findLast(({ role }) => role === 'human')?.content;
  const found = collectContexts({ state, services, process: 'react', ...(asked !== undefined && { query: asked }) });
  const contexts = withNotes(found.contexts, finding);
  if (summary !== undefined && summary.trim() !== '')
    contexts.compression__context = [contexts.compression__context, summary].filter(Boolean).join('\n\n');
  return { contexts, problems: found.problems };
}
