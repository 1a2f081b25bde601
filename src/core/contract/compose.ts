import { oc } from '@orpc/contract';
import { z } from 'zod';
import { commit } from './context.js';
import { wires } from './request.js';
import { contextId, contextPrefix, count, entryKey } from './scalars.js';

/** Who is being run, which decides what of the shared context and of memory it gets (decisions, rule 34). */
export const processes = ['sequential', 'dynamic', 'hierarchical', 'react', 'mapreduce-planner', 'mapreduce-worker', 'mapreduce-reducer'] as const;
export type Process = (typeof processes)[number];

export const queryPaths = ['checkpoint', 'runtime', 'none'] as const;
export type QueryPath = (typeof queryPaths)[number];

/** The blocks that the seed names, in the order in which they are composed; further ones follow them. */
export const blockKeys = ['framework__context', 'experience__context', 'knowledge__context', 'todo__context', 'compression__context'] as const;
export type BlockKey = (typeof blockKeys)[number];

/** Where a message of the result comes from: `system_prompt`, a block's key, `checkpoint_messages`, `human_message` or `query`. */
const layer = z.string();

/**
 * A message of a conversation's memory. What else it carries (`tool_calls`, `tool_call_id`, `id`, `name`, `internal`)
 * goes through the composer as it is.
 */
export const memoryMessage = z.looseObject({
  role: z.enum(['system', 'human', 'ai', 'tool']),
  content: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
  /** Valid for one call, never remembered. */
  internal: z.boolean().optional(),
});
export type MemoryMessage = z.output<typeof memoryMessage>;

/**
 * Loose on purpose: an argument that does not belong here (a state, say) is refused by the composer itself, with
 * the reason that the layers' rules name.
 */
const composeInput = z.looseObject({
  systemPrompt: z.string(),
  checkpointMessages: z.array(memoryMessage),
  contexts: z.record(z.string(), z.unknown()),
  query: z.string().nullish(),
  queryPath: z.enum(queryPaths),
  /** The id of the turn whose input the query is; a checkpoint message with this id is the same input. */
  turnId: z.string().nullish(),
  /** A message of a human for this call only. */
  humanMessage: z.string().nullish(),
  process: z.enum(processes).optional(),
  enableShareContext: z.boolean().optional(),
});
export type ComposeInput = z.output<typeof composeInput>;

const composedMessage = memoryMessage.extend({ layer, tokens: count });
export type ComposedMessage = z.output<typeof composedMessage>;

/** What was given and is not in the result. */
const droppedLayer = z.object({ layer, reason: z.string(), messages: count, tokens: count });
export type DroppedLayer = z.output<typeof droppedLayer>;

const composed = z.object({ messages: z.array(composedMessage), dropped: z.array(droppedLayer) });
export type Composed = z.output<typeof composed>;

const knowledgeChunk = z.object({
  sourceId: z.string(),
  docId: z.string(),
  docTitle: z.string().optional(),
  chunkId: z.string(),
  content: z.string(),
});
export type KnowledgeChunk = z.output<typeof knowledgeChunk>;

const experienceRecord = z.object({
  id: z.string(),
  summary: z.string(),
  outcome: z.enum(['success', 'failure', 'unknown']),
  /** Where it was had: a commit, for those that the project itself holds. */
  contextId: contextId.optional(),
});
export type ExperienceRecord = z.output<typeof experienceRecord>;

/** What the services of a run would answer, as values. Without a service its block is absent. */
const collectServices = z.strictObject({
  knowledge: z
    .strictObject({
      chunks: z.array(knowledgeChunk),
      maxChunks: z.number().int().min(1).optional(),
      maxTokens: z.number().int().min(1).optional(),
      format: z.enum(['markdown', 'json']).optional(),
    })
    .optional(),
  experience: z.strictObject({ records: z.array(experienceRecord) }).optional(),
  /** A todo text that the runtime supplies in place of the one rendered from the state. */
  todo: z.string().optional(),
  /** Limits and contracts of the framework, as its own text. */
  framework: z.string().optional(),
});
export type CollectServices = z.output<typeof collectServices>;

const state = z.record(z.string(), z.unknown());

const collectInput = z.strictObject({
  state,
  services: collectServices.optional(),
  query: z.string().optional(),
  process: z.enum(processes).optional(),
  enableShareContext: z.boolean().optional(),
});
export type CollectInput = z.output<typeof collectInput>;

/** Why a layer has no block although it was asked for. */
const collectProblem = z.object({ layer, reason: z.string() });
export type CollectProblem = z.output<typeof collectProblem>;

const compaction = z.object({
  messages: z.array(memoryMessage),
  summary: z.string(),
  /** How many messages were summarised, and how many stayed. Both 0 where there was nothing to do. */
  removed: count,
  kept: count,
  tokens: z.object({ before: count, after: count }),
});
export type Compaction = z.output<typeof compaction>;

/** How long a layer lives: one call, or with the checkpoint. */
const lifetimes = ['call', 'checkpoint'] as const;
export type Lifetime = (typeof lifetimes)[number];

/** One layer of a commit's context, before the process and the switch have their say. */
const previewLayer = z.object({
  layer,
  tokens: count,
  lifetime: z.enum(lifetimes),
  /** What it was made from: entries of the chain, files of the notes folder, or words that say it. */
  origins: z.array(z.object({ commit: contextId, entryKey: entryKey.optional(), words: z.string().optional() })),
  /** In words, for a person. */
  origin: z.string(),
  present: z.boolean(),
});
export type PreviewLayer = z.output<typeof previewLayer>;

export const composeContract = {
  /** Layers in, messages out: pure, reads no state and writes none. */
  messages: oc.input(composeInput).output(composed),
  /** State and services in, blocks out; renders no messages and stores nothing. */
  collect: oc.input(collectInput).output(z.object({ contexts: z.record(z.string(), z.string()), problems: z.array(collectProblem) })),
  /** Calls of the state builder in, one patch out, and the state with the patch applied. The state itself is the caller's. */
  patch: oc
    .input(z.strictObject({ state, calls: z.array(z.tuple([z.string()], z.unknown())).max(10_000) }))
    .output(z.object({ patch: state, state })),
  /** Shortens a memory by the compactor's policy: extractive where no `summary` is given. */
  shorten: oc
    .input(
      z.strictObject({
        messages: z.array(memoryMessage),
        /** `compression__context` so far: the new summary takes it up. */
        previousSummary: z.string().optional(),
        budgetTokens: z.number().int().min(1).optional(),
        keepLast: z.number().int().min(1).optional(),
        summary: z.string().min(1).optional(),
      }),
    )
    .output(compaction.extend({ historyText: z.string(), patch: state })),
  /** Shortens a commit's context by the same policy, and commits it as a compaction; null where nothing is to be done. */
  compact: oc
    .input(
      z.strictObject({
        id: contextPrefix,
        budgetTokens: z.number().int().min(1).optional(),
        keepLast: z.number().int().min(1).optional(),
        summary: z.string().min(1).max(1_000_000).optional(),
        /** Who writes the summary, of those that `turn.providers` names. Without one it is made of extracts, here. */
        provider: z.string().optional(),
        model: z.string().optional(),
      }),
    )
    .output(z.object({ commit: commit.nullable(), compaction })),
  /** A composed list as the body of a request to a provider; refused where a call of a tool has no result. */
  body: oc
    .input(
      z.strictObject({
        messages: z.array(composedMessage.partial({ layer: true, tokens: true })),
        provider: z.enum(wires),
        model: z.string().optional(),
      }),
    )
    .output(z.object({ body: z.unknown() })),
  /**
   * Collects and composes for a commit, without touching the store: what its model would see under this process and
   * with this switch, and where each layer comes from.
   */
  preview: oc
    .input(
      z.strictObject({
        id: contextPrefix,
        process: z.enum(processes).optional(),
        enableShareContext: z.boolean().optional(),
        /** In place of the system prompt that the history recorded, which is often none. */
        systemPrompt: z.string().optional(),
        /** Blocks in place of, or beside, those that the commit gives. */
        contexts: z.record(z.string(), z.string()).optional(),
        query: z.string().optional(),
        queryPath: z.enum(queryPaths).optional(),
        humanMessage: z.string().optional(),
      }),
    )
    .output(composed.extend({ layers: z.array(previewLayer), messageOrigins: z.array(z.array(entryKey)), problems: z.array(collectProblem) })),
};
