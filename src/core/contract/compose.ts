import { author, commit } from './context.js';
import { previewBody, previewOf, wires } from './request.js';
import { contextId, contextPrefix, count, entryKey, flag, line, list, most, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

/** The kind of process. It decides how much of the shared context and of memory the process gets. */
export const processes = ['sequential', 'dynamic', 'hierarchical', 'react', 'mapreduce-planner', 'mapreduce-worker', 'mapreduce-reducer'] as const;
export type Process = (typeof processes)[number];

export const queryPaths = ['checkpoint', 'runtime', 'none'] as const;
export type QueryPath = (typeof queryPaths)[number];

/** The named blocks, in the order in which they are composed. Other blocks follow them. */
export const blockKeys = ['framework__context', 'experience__context', 'knowledge__context', 'todo__context', 'compression__context'] as const;
export type BlockKey = (typeof blockKeys)[number];

/** The kinds of model calls that Stemma makes: an agent's turn, a run in a space, a discussion, a question about a context, and work on a text. */
export const callKinds = ['turn', 'run', 'answer', 'question', 'worker'] as const;
export type CallKind = (typeof callKinds)[number];

/** The layers that a profile can permit. */
export const permittedLayers = ['experience', 'knowledge', 'todo', 'compression'] as const;
export type Permitted = (typeof permittedLayers)[number];

const layer = line.describe('Where the message comes from: `system_prompt`, the key of a block, `checkpoint_messages`, `human_message` or `query`.');

/** A message of a conversation's memory. Other fields, such as `tool_calls` and `tool_call_id`, pass through unchanged. */
export const memoryMessage = z.looseObject({
  role: z.enum(['system', 'human', 'ai', 'tool']).describe('Who speaks.'),
  content: z.string().max(most.text).describe('The text.'),
  id: z.string().max(most.text).optional().describe('The id of the message.'),
  name: z.string().max(most.text).optional().describe('The name of the speaker.'),
  internal: flag('True if the message is valid for one call and never remembered.'),
});
export type MemoryMessage = z.output<typeof memoryMessage>;

/** Accepts unknown fields, because the composer refuses them itself and names the rule. */
const process = z.enum(processes).optional().describe('The kind of process, which decides which layers pass. The default is `sequential`.');
const enableShareContext = flag(
  'Whether the process gets the shared context. The default is the setting of the project (`project.settings`), else true.',
);

const composeInput = z.looseObject({
  systemPrompt: z.string().max(most.text).describe('The system prompt.'),
  checkpointMessages: list(memoryMessage).describe('The messages in memory.'),
  contexts: z.record(line, z.unknown()).describe('The blocks by key, such as `knowledge__context`.'),
  query: z.string().max(most.text).nullish().describe('The input of this call.'),
  queryPath: z.enum(queryPaths).describe('Where the query is: in memory already (`checkpoint`), to be appended (`runtime`), or absent (`none`).'),
  turnId: line.nullish().describe('The id of the turn whose input the query is. A checkpoint message with this id is the same input.'),
  humanMessage: z.string().max(most.text).nullish().describe('A message of a human for this call only.'),
  process,
  enableShareContext,
});
export type ComposeInput = z.output<typeof composeInput>;

const composedMessage = memoryMessage.extend({ layer, tokens: count.describe('The estimated number of tokens.') });
export type ComposedMessage = z.output<typeof composedMessage>;

/** The system messages of a call. */
export const layerTexts = list(z.strictObject({ layer, text: z.string().max(most.text).describe('The text.') }), 100).describe(
  'The system messages of the call, as `compose.preview` returned them. Without it, they are composed from the context.',
);

/** A layer that was given and is not in the result. */
export const droppedLayer = z.object({ layer, reason: z.string(), messages: count, tokens: count });
export type DroppedLayer = z.output<typeof droppedLayer>;

const composed = z.object({ messages: z.array(composedMessage), dropped: z.array(droppedLayer) });
export type Composed = z.output<typeof composed>;

const knowledgeChunk = z.strictObject({
  sourceId: line.describe('The id of the source.'),
  docId: line.describe('The id of the document.'),
  docTitle: line.optional().describe('The title of the document.'),
  chunkId: line.describe('The id of the chunk.'),
  content: z.string().max(most.text).describe('The text of the chunk.'),
});
export type KnowledgeChunk = z.output<typeof knowledgeChunk>;

const experienceRecord = z.strictObject({
  id: line.describe('The id of the experience.'),
  summary: z.string().max(most.text).describe('What was learned.'),
  outcome: z.enum(['success', 'failure', 'unknown']).describe('How the run ended.'),
  contextId: contextId.optional().describe('The commit that the experience comes from, if the project contains it.'),
});
export type ExperienceRecord = z.output<typeof experienceRecord>;

/** The answers of the services. A service without an answer gets no block. */
const collectServices = z.strictObject({
  knowledge: z
    .strictObject({
      chunks: list(knowledgeChunk).describe('The chunks that were found.'),
      maxChunks: z.number().int().min(1).optional().describe('The most chunks in the block.'),
      maxTokens: z.number().int().min(1).optional().describe('The most tokens of the block.'),
      format: z.enum(['markdown', 'json']).optional().describe('The form of the block.'),
    })
    .optional()
    .describe('The results of a knowledge base.'),
  experience: z
    .strictObject({ records: list(experienceRecord).describe('The experiences.') })
    .optional()
    .describe('Experiences of earlier runs.'),
  todo: z.string().max(most.text).optional().describe('A to-do text, in place of the one rendered from the state.'),
  framework: z.string().max(most.text).optional().describe("The framework's limits and contracts, as text."),
});
export type CollectServices = z.output<typeof collectServices>;

const state = z.record(line, z.unknown()).describe('The state of the process.');

const collectInput = z.strictObject({
  state,
  services: collectServices.optional().describe('The answers of the services.'),
  query: z.string().max(most.text).optional().describe('The input of this call.'),
  process,
  enableShareContext,
});

/** Why a requested layer has no block. */
const collectProblem = z.object({ layer, reason: z.string() });
export type CollectProblem = z.output<typeof collectProblem>;

const compaction = z.object({
  messages: z.array(memoryMessage),
  summary: z.string(),
  /** The numbers of messages that were summarized and kept. Both are 0 if nothing had to be summarized. */
  removed: count,
  kept: count,
  tokens: z.object({ before: count, after: count }),
});

/** The lifetime of a layer: one call, or as long as the checkpoint. */
const lifetimes = ['call', 'checkpoint'] as const;

/** A layer of a commit's context, before the process and the switch are applied. */
const previewLayer = z.object({
  layer,
  tokens: count,
  lifetime: z.enum(lifetimes),
  /** The sources of the layer: entries of the chain, files of the notes folder, or a description. */
  origins: z.array(z.object({ commit: contextId, entryKey: entryKey.optional(), words: z.string().optional() })),
  /** The same as a sentence, for the window. */
  origin: z.string(),
  present: z.boolean(),
});
export type PreviewLayer = z.output<typeof previewLayer>;

const budgetTokens = z.number().int().min(1).optional().describe('Shorten only above this number of tokens.');
const keepLast = z.number().int().min(1).optional().describe('The number of the latest messages to keep.');

const savedState = z.object({
  /** The commit that the state was saved with: the requested commit or its nearest ancestor. Null if none of them has a state. */
  from: contextId.nullable(),
  at: timestamp.nullable(),
  state,
  contexts: z.record(z.string(), z.string()),
});
const reproducible = z.boolean().optional();

const composedRow = z.object({
  /** The difference from the recorded composition. `gone`: only the recording contains the message. */
  change: z.enum(['same', 'gone', 'new']),
  role: composedMessage.shape.role,
  layer,
  tokens: count,
  name: z.string().optional(),
  /** The text, or its beginning. */
  text: z.string(),
  /** The length of the whole text in characters. */
  length: count,
  calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
  /** The entry of the context that the message was made from. */
  entryKey: entryKey.optional(),
});
export type ComposedRow = z.output<typeof composedRow>;
const textsByLayer = z.record(z.string(), z.string());
const composedRows = z.object({
  /** The number of rows: composed messages and messages that only the recorded composition contains. */
  total: count,
  messages: count,
  tokens: count,
  added: count,
  removed: count,
  /** The row of the first difference; -1 if there is no difference. */
  firstChange: z.number().int(),
  rows: z.array(composedRow),
  /** Only in the first page. */
  layers: z.array(previewLayer).optional(),
  dropped: z.array(droppedLayer).optional(),
  problems: z.array(collectProblem).optional(),
  /** The texts of the system prompt and the blocks. */
  texts: z.object({ recorded: textsByLayer, now: textsByLayer }).optional(),
});
export type ComposedRows = z.output<typeof composedRows>;

const previewInput = z.strictObject({
  id: contextPrefix,
  process,
  enableShareContext,
  systemPrompt: z.string().max(most.text).optional().describe('A system prompt that replaces the recorded one.'),
  contexts: z.record(line, z.string().max(most.text)).optional().describe('Blocks, in place of or in addition to those of the commit.'),
  query: z.string().max(most.text).optional().describe('The input of the call.'),
  queryPath: composeInput.shape.queryPath.optional(),
  turnId: composeInput.shape.turnId,
  humanMessage: z.string().max(most.text).optional().describe('A message of a human for this call only.'),
  layers: list(z.enum(permittedLayers), permittedLayers.length)
    .optional()
    .describe('The layers to collect from the project. A question about a context has none of them, so the default is none.'),
  wire: previewOf.wire.describe(
    'The wire format of the provider, and of the settings, whose default is that of the recorded call or else `anthropic`. With it, the preview has the `body` of the request.',
  ),
  model: previewOf.model,
  task: z
    .enum(['summarize', 'compact', 'judge'])
    .optional()
    .describe(
      'Another call about the commit: the one of `context.summarize`, of `compose.compact` or of `usage.judgeCompaction` with a provider. The default is the next call on its context.',
    ),
  keepLast: keepLast.describe('Only for the task `compact`: the number of the latest messages to keep.'),
  budgetTokens: budgetTokens.describe('Only for the task `compact`: shorten only above this number of tokens.'),
});

export const composeContract = {
  saveState: procedure(
    'Saves the shared state of a run (the blackboard) with a commit. Saving again adds a newer state, which takes precedence; the earlier state is kept.',
    {
      id: contextPrefix,
      state,
      reproducible: reproducible.describe('Also save the todo, knowledge and experience blocks, so that the next call gets the same blocks.'),
      contexts: z.record(line, z.string().max(most.text)).optional().describe('The blocks to save, by key, such as `knowledge__context`.'),
    },
  ).returns(savedState),
  restoreState: procedure('Returns the last state that was saved with a commit, or with its nearest ancestor if the commit has none.', {
    id: contextPrefix,
    keys: list(line, 100).optional().describe('Only these fields of the state.'),
    reproducible: reproducible.describe('Also return the saved blocks.'),
  }).returns(savedState),
  messages: procedure('Composes layers into messages. Reads no state and writes none.', composeInput).returns(composed),
  collect: procedure('Turns a state and the answers of services into context blocks. Renders no messages and stores nothing.', collectInput).returns({
    contexts: z.record(z.string(), z.string()),
    problems: z.array(collectProblem),
  }),
  patch: procedure('Turns calls of the state builder into one patch, and applies it to the state. Stores nothing.', {
    state,
    calls: list(z.tuple([line], z.unknown()), 10_000).describe('The calls: each a list of a method name and its arguments.'),
  }).returns({ patch: state, state }),
  shorten: procedure('Shortens a memory: summarizes its older messages. Without a `summary`, the summary is made of extracts.', {
    messages: list(memoryMessage).describe('The messages in memory.'),
    previousSummary: z.string().max(most.text).optional().describe('The earlier summary (`compression__context`), which the new one includes.'),
    budgetTokens,
    keepLast,
    summary: z.string().max(most.text).min(1).optional().describe('The summary. The default is made of extracts.'),
  }).returns(compaction.extend({ historyText: z.string(), patch: state })),
  compact: procedure(
    "Shortens a commit's context as `compose.shorten` does, and stores the result as a compaction. Returns null if there is nothing to shorten.",
    {
      id: contextPrefix,
      budgetTokens,
      keepLast,
      summary: z.string().min(1).max(1_000_000).optional().describe('The summary. The default is made of extracts or by a provider.'),
      provider: line.optional().describe('The provider whose model writes the summary, as `turn.providers` names it.'),
      model: line.optional().describe('The model of the provider.'),
      principal: author,
    },
  ).returns({ commit: commit.nullable(), compaction }),
  body: procedure('Turns composed messages into the body of a request to a provider. Refuses a tool call without a result.', {
    messages: list(composedMessage.partial({ layer: true, tokens: true })).describe('The composed messages.'),
    provider: z.enum(wires).describe('The wire format of the body.'),
    model: line.optional().describe('The model to name in the body.'),
  }).returns({ body: z.unknown() }),
  preview: procedure(
    "Returns what a commit's model would see with this process and switch, and where each layer comes from. Stores nothing.",
    previewInput,
  ).returns(
    composed.extend({
      layers: z.array(previewLayer),
      messageOrigins: z.array(z.array(entryKey)),
      problems: z.array(collectProblem),
      /** The tools and settings of the nearest recorded call, which the next call has too. */
      tools: z.array(z.unknown()).nullable(),
      parameters: z.record(z.string(), z.unknown()),
      body: previewBody,
    }),
  ),
  rows: procedure(
    'Returns what `compose.preview` composes in pages, compared with the recorded composition. Long texts are cut.',
    previewInput.extend({
      offset: count.optional().describe('The first row. The default is 0.'),
      limit: count.min(1).max(200).optional().describe('The most rows. The default is 200.'),
      longest: count.optional().describe('The maximum length of a text in characters. The default is whole texts.'),
    }),
  ).returns(composedRows),
};
