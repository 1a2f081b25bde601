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
  const asked = admission(process, enableShareContext).blocks.map((key) => ({ key, ...attempt(() => texts[key](state, services, query)) }));
  return {
    contexts: Object.fromEntries(asked.flatMap(({ key, text }) => (text ? [[key, text] as const] : []))),
    problems: asked.flatMap(({ key, problem }) => (problem === undefined ? [] : [{ layer: key, reason: problem }])),
  };
}

const texts: Readonly<Record<BlockKey, (state: State, services: RuntimeServices, query: string) => string>> = {
  framework__context: (_, { framework }) => framework?.text().trim() ?? '',
  experience__context: (_, { experience }, query) => (experience && query.trim() !== '' ? experienceBlock(experience.retrieve(query)) : ''),
  knowledge__context: (_, { knowledge }, query) =>
    knowledge && query.trim() !== '' ? knowledgeBlock(knowledge.retrieve(query), knowledge.limits) : '',
  todo__context: ({ todo, assigned_task: task }, services) => services.todo?.text()?.trim() ?? todoBlock(todo, task),
  compression__context: ({ compression__context: summary }) => (typeof summary === 'string' ? summary.trim() : ''),
};

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
