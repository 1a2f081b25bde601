import { StemmaError } from '../base/index.js';
import type { BlockKey, CollectProblem, CollectServices, ExperienceRecord, KnowledgeChunk, Process } from '../contract/index.js';
import { experienceBlock, type KnowledgeLimits, knowledgeBlock, todoBlock } from './blocks.js';
import { admission } from './layers.js';
import type { State } from './state.js';

/** Finds pieces of documents that a question needs. */
export interface KnowledgeRetriever {
  readonly limits?: KnowledgeLimits;
  retrieve(query: string): readonly KnowledgeChunk[];
}

/** Finds what was learned from like work before. */
export interface ExperienceRetriever {
  retrieve(query: string): readonly ExperienceRecord[];
}

/** Gives the todo as a text of its own, or undefined to have it rendered from the state. */
export interface TodoSource {
  text(): string | undefined;
}

/** Gives what the framework demands of every call: limits, contracts. Never stored. */
export interface FrameworkRules {
  text(): string;
}

/** What a run has at hand. Each is optional; without it its block is absent. */
export interface RuntimeServices {
  readonly knowledge?: KnowledgeRetriever;
  readonly experience?: ExperienceRetriever;
  readonly todo?: TodoSource;
  readonly framework?: FrameworkRules;
}

export interface Collection {
  readonly state: State;
  readonly services?: RuntimeServices;
  readonly query?: string;
  readonly process?: Process;
  readonly enableShareContext?: boolean;
}

export interface Collected {
  readonly contexts: Readonly<Record<string, string>>;
  /** What was asked for and could not be had. A failing service costs its block, never the call. */
  readonly problems: readonly CollectProblem[];
}

/**
 * Gathers the blocks of one call: only those that the process admits are asked for. Of the state it reads the todo,
 * the delegated task and the summary; blocks that an earlier call left in the state are never taken over.
 */
export function collectContexts({ state, services = {}, query = '', process = 'sequential', enableShareContext = true }: Collection): Collected {
  const asked = admission(process, enableShareContext).blocks.map((key) => ({ key, ...attempt(() => textOf(key, state, services, query)) }));
  return {
    contexts: Object.fromEntries(asked.flatMap(({ key, text }) => (text ? [[key, text] as const] : []))),
    problems: asked.flatMap(({ key, problem }) => (problem === undefined ? [] : [{ layer: key, reason: problem }])),
  };
}

function textOf(key: BlockKey, state: State, services: RuntimeServices, query: string): string {
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

/** A retriever may fail for reasons of its own; a refusal of what the caller asked for is the caller's to hear. */
function attempt(read: () => string): { readonly text: string; readonly problem?: string } {
  try {
    return { text: read() };
  } catch (error) {
    if (error instanceof StemmaError && error.code === 'BAD_REQUEST') throw error;
    return { text: '', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Services that answer with the values that a caller sent along. */
export const servicesOf = ({ knowledge, experience, todo, framework }: CollectServices): RuntimeServices => ({
  ...(knowledge ? { knowledge: { limits: knowledge, retrieve: () => knowledge.chunks } } : {}),
  ...(experience ? { experience: { retrieve: () => experience.records } } : {}),
  ...(todo === undefined ? {} : { todo: { text: () => todo } }),
  ...(framework === undefined ? {} : { framework: { text: () => framework } }),
});
