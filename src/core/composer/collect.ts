import { StemmaError } from '../base/index.js';
import type { BlockKey, CollectServices, ExperienceRecord, InputOf, KnowledgeChunk, OutputOf } from '../contract/index.js';
import { experienceBlock, type KnowledgeLimits, knowledgeBlock, todoBlock } from './blocks.js';
import { admission } from './layers.js';
import type { State } from './state.js';

/** The services of a run. Without a service, its block is absent. */
export interface RuntimeServices {
  /** Finds parts of documents for a query. */
  readonly knowledge?: { readonly limits?: KnowledgeLimits; retrieve(query: string): readonly KnowledgeChunk[] } | undefined;
  /** Finds records of similar earlier work. */
  readonly experience?: { retrieve(query: string): readonly ExperienceRecord[] } | undefined;
  /** Returns the todo as a text, or undefined to render it from the state. */
  readonly todo?: { text(): string | undefined };
  /** Returns the framework's rules for every call, such as limits. They are never stored. */
  readonly framework?: { text(): string };
}

interface Collection extends Pick<InputOf<'compose.collect'>, 'query' | 'process' | 'enableShareContext'> {
  readonly state: State;
  readonly services?: RuntimeServices;
}

/**
 * Collects the blocks of one call. Calls only the services of blocks that the process gets. From the state it reads the todo, the
 * delegated task and the summary. It ignores blocks that an earlier call left in the state.
 */
export function collectContexts({
  state,
  services = {},
  query = '',
  process = 'sequential',
  enableShareContext = true,
}: Collection): OutputOf<'compose.collect'> {
  const asked = admission(process, enableShareContext).blocks.map((key) => ({ key, ...attempt(() => collectText(key, state, services, query)) }));
  return {
    contexts: Object.fromEntries(asked.flatMap(({ key, text }) => (text ? [[key, text] as const] : []))),
    problems: asked.flatMap(({ key, problem }) => (problem === undefined ? [] : [{ layer: key, reason: problem }])),
  };
}

function collectText(key: BlockKey, state: State, services: RuntimeServices, query: string): string {
  switch (key) {
    case 'framework__context':
      return services.framework?.text().trim() ?? '';
    case 'experience__context':
      return services.experience && query.trim() !== '' ? experienceBlock(services.experience.retrieve(query)) : '';
    case 'knowledge__context':
      return services.knowledge && query.trim() !== '' ? knowledgeBlock(services.knowledge.retrieve(query), services.knowledge.limits) : '';
    case 'todo__context':
      return services.todo?.text()?.trim() ?? todoBlock(state.todo, state.assigned_task);
    case 'compression__context':
      return typeof state.compression__context === 'string' ? state.compression__context.trim() : '';
  }
}

/** A failing service is reported as a problem. An invalid request of the caller is thrown. */
function attempt(read: () => string): { readonly text: string; readonly problem?: string } {
  try {
    return { text: read() };
  } catch (error) {
    if (error instanceof StemmaError && error.code === 'BAD_REQUEST') throw error;
    return { text: '', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Services that return values of the caller. */
export const servicesOf = ({ knowledge, experience, todo, framework }: CollectServices): RuntimeServices => ({
  ...(knowledge ? { knowledge: { limits: knowledge, retrieve: () => knowledge.chunks } } : {}),
  ...(experience ? { experience: { retrieve: () => experience.records } } : {}),
  ...(todo === undefined ? {} : { todo: { text: () => todo } }),
  ...(framework === undefined ? {} : { framework: { text: () => framework } }),
});
