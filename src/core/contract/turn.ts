import { eventIterator } from '@orpc/contract';
import { layerTexts } from './compose.js';
import { author, edit, hunk, rowFacts, stop } from './context.js';
import { entry } from './entry.js';
import { divergenceLimits, kinds } from './kinds.js';
import { outlineRow } from './outline.js';
import { proofs, requestTokens, turnRequest, wires } from './request.js';
import { contextId, contextPrefix, count, damaged, entryKey, flag, line, list, name, procedure, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

export const tokensByKind = z.array(z.object({ kind: z.enum(kinds), tokens: count }));

/** A step of a chain's replay: an entry that was sent to a model, in the order of arrival, across compactions. */
export const replayStep = outlineRow.omit({ hidden: true, prompt: true }).extend({
  at: timestamp.optional(),
  /** Tokens in the context window after this step. */
  window: count,
  /** Only at a compaction's first entry: the entries that the compaction removed from the window. */
  dropped: z.object({ entries: count, tokens: count }).optional(),
});
export type ReplayStep = z.output<typeof replayStep>;

/** `whole`: written or read completely. `part`: read in part. `unknown`: touched, but the content was not seen. */
const known = z.enum(['whole', 'part', 'unknown']);
const touch = z.object({ key: entryKey, how: z.enum(['read', 'written', 'changed']), step: count });

/** A file as the conversation has seen it: in its earlier reads, writes and changes, not as it is on the disk. */
export const knownFile = z.object({ path: z.string(), known, content: z.string().nullable(), touches: z.array(touch) });
export type KnownFile = z.output<typeof knownFile>;

const endOfFile = knownFile.pick({ known: true, content: true }).nullable();

/** A file that two branches left behind differently. Null on the side that never touched it. */
export const comparedFile = z.object({ path: z.string(), a: endOfFile, b: endOfFile });
export type ComparedFile = z.output<typeof comparedFile>;

export const momentState = z.object({
  /** The number of steps before the moment, and of all steps. */
  step: count,
  steps: count,
  /** The latest entry, and the latest time that the agent recorded. */
  entry: entryKey.nullable(),
  at: timestamp.nullable(),
  window: z.object({ entries: count, tokens: count, byKind: tokensByKind }),
  /** The entries that a compaction at this step removed from the window. */
  dropped: z.object({ commit: contextId, entries: count, tokens: count, byKind: tokensByKind }).nullable(),
  openCalls: z.array(z.object({ key: entryKey, toolCallId: z.string(), toolName: z.string().nullable() })),
  /** The files without content, which `turn.file` returns. */
  files: z.array(z.object({ path: z.string(), known, touches: count, last: touch })),
  todos: z.array(z.object({ text: z.string(), status: z.string() })),
  /** Set if only the steps after this number were read: open calls, files and tasks of earlier steps are missing. */
  before: count.optional(),
});
export type MomentState = z.output<typeof momentState>;

/** What began a turn. `continuation`: the delta continues a turn that an earlier commit began. */
export const turnTriggers = ['prompt', 'compaction', 'continuation'] as const;

export const turnRow = z.object({
  /** The commit that contains the turn; for a turn of a card agent, its last commit. */
  turnId: contextId,
  /** Set for a turn of an agent that works on cards. */
  agentTurnId: name.optional(),
  agentId: name,
  /** The position of the turn in the chain, from 1. */
  number: count,
  trigger: z.object({ kind: z.enum(turnTriggers), key: entryKey.nullable(), text: z.string().nullable() }),
  entries: count,
  tokens: count,
  errors: count,
  /** The number of replay steps of the chain before the first step of this turn. */
  first: count,
  startedAt: timestamp.nullable(),
  endedAt: timestamp.nullable(),
  ms: z.number().nullable().describe('What the agent wrote as the duration, else from the prompt to the last record.'),
});
export type TurnRow = z.output<typeof turnRow>;

/** A call of a tool within a turn; null is "not recorded". */
export const turnCall = z.object({
  toolCallId: z.string(),
  toolName: z.string().nullable(),
  key: entryKey,
  resultKey: entryKey.nullable(),
  startedAt: timestamp.nullable(),
  endedAt: timestamp.nullable(),
  ms: z.number().nullable(),
  isError: z.boolean(),
});
export type TurnCall = z.output<typeof turnCall>;

/** What calls used and cost; null is "not recorded". */
const spent = {
  usage: requestTokens.nullable(),
  /** In US dollars: the cost that the provider reported, else the cost at API prices. */
  cost: z.number().nullable(),
  /** `cost` is a lower bound: not every count that costs something was recorded. */
  costAtLeast: z.literal(true).optional(),
};

export const turn = turnRow.extend({
  /** The context before the turn and the entries that began it. Together they were the first input of the model. */
  input: z.object({
    parent: contextId.nullable(),
    entries: count,
    tokens: count,
    byKind: tokensByKind,
    keys: z.array(entryKey),
    /** The calls to the model within the turn. `request.get` returns their bodies. */
    requests: z.array(z.object({ requestId: name, proof: z.enum(['digest', 'recorded', 'rebuilt']) })),
  }),
  output: z.array(entry),
  calls: z.array(turnCall),
  model: z.string().nullable(),
  /** Parameters as recorded, without messages, system prompt and tools. */
  settings: z.record(z.string(), z.unknown()).nullable(),
  ...spent,
});
export type Turn = z.output<typeof turn>;

/** Changes of a turn's request. An absent field stays as recorded. */
export const requestEdits = z.strictObject({
  system: list(z.string().max(10_000_000), 100).optional().describe('The texts of the system prompt, one per block.'),
  tools: list(z.record(line, z.unknown()), 1_000)
    .optional()
    .describe('Tool definitions in the form of the Messages API, regardless of the provider.'),
  settings: z.record(z.string().max(200), z.unknown()).optional().describe('All other fields of the body, such as `max_tokens` and `temperature`.'),
});
export type RequestEdits = z.output<typeof requestEdits>;

/** How to run a turn again: the provider, the number of samples, and the changes. */
export const rerunFields = {
  turnId: contextPrefix.describe('The turn, named by its commit.'),
  provider: name.describe('The provider that answers, as `turn.providers` names it, or `recorded`.'),
  model: name.optional().describe('The model of the provider.'),
  edits: list(edit, 10_000).optional().describe("Edits of the turn's context."),
  request: requestEdits.optional().describe("Changes of the turn's request."),
  samples: upTo(16).optional().describe('The number of replies. The default is 1.'),
};

/**
 * A part of a reply. `question`: a tool call that only a person can answer, by `turn.answer`. `waiting`: the provider asks to retry in `ms`. `usage`:
 * the tokens of a call. `failed`: this sample ended with an error, in `delta`, and leaves no branch. `commit`: its branch, in `delta`.
 */
export const replyPart = z.object({
  sample: count,
  kind: z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'notice', 'question', 'waiting', 'usage', 'failed', 'commit']),
  /** The new text of the part. A tool call arrives complete, as the JSON of its arguments. */
  delta: z.string(),
  toolName: z.string().optional(),
  /** Who answered a tool call. */
  from: z.enum(['recording', 'person']).optional(),
  questionId: name.optional(),
  ms: count.optional(),
  tokens: requestTokens.optional(),
  cost: z.number().optional(),
});
export type ReplyPart = z.output<typeof replyPart>;

/** `calls`: the reply called different tools, or the same tools with different arguments. `words`: only the words differ. */
export const divergence = z.object({ kind: z.enum(['calls', 'words']), what: z.string() });
export type Divergence = z.output<typeof divergence>;

/**
 * The progress of a what-if, turn by turn from 1. `begin`: the next message of the person. `reply`: a part of the answer. `end`: the turn is stored
 * as a commit, and `divergence` says how it differs from the recording.
 */
export const whatIfPart = z.object({
  turn: count,
  /** The turn of the original that is repeated; null if only the last message of the branch is answered. */
  of: contextId.nullable(),
  kind: z.enum(['begin', 'reply', 'end']),
  text: z.string(),
  part: replyPart.optional(),
  commit: contextId.optional(),
  divergence: divergence.nullable().optional(),
});
export type WhatIfPart = z.output<typeof whatIfPart>;

export const whatIfResult = z.object({
  /** The commit of each turn. Each is the child of the previous one. */
  commits: z.array(contextId),
  /** The new end of the branch. A what-if from here continues with the next turn. */
  tip: contextId,
  /** The number of remaining turns of the original. */
  left: count,
  /** Why the what-if ended before the original; null if it ran to the end. */
  stopped: z.object({ why: z.enum(['diverged', 'open_call', 'canceled', 'failed']), turn: count, what: z.string() }).nullable(),
});
export type WhatIfResult = z.output<typeof whatIfResult>;

/** The plan of a what-if: the turns of the original that the branch does not have. */
export const following = z.object({
  /** The last commit that the branch and the original share. */
  base: contextId.nullable(),
  /** Null if no other branch starts from the same commit. A what-if is then impossible. */
  original: contextId.nullable(),
  /** True if the branch ends with an unanswered message, which the what-if answers first. */
  answersFirst: z.boolean(),
  turns: z.array(turnRow),
  /** The branches that can be followed, the most likely first. */
  originals: z.array(z.object({ id: contextId, summary: z.string().nullable(), createdAt: timestamp, turns: count, damaged })),
});
export type Following = z.output<typeof following>;

/** A moment of a chain: after an entry, after a number of steps, or at the end. */
const moment = {
  id: contextPrefix,
  entry: entryKey.optional().describe('The moment after this entry. Give `entry` or `step`, or neither for the end of the chain.'),
  step: count.optional().describe('The moment after this number of steps.'),
};

/** What a turn used, and the size of its context. Null means not recorded. `ms`: how long it took, as in `turn.list`. */
const side = z.object({
  turnId: contextId,
  summary: z.string().nullable(),
  model: z.string().nullable(),
  /** Tokens of the turn alone. `context` counts the whole context. */
  tokens: count,
  /** `counted`: the input of the last call as its provider counted it; null where no call has seen the context. */
  context: z.object({ entries: count, tokens: count, counted: count.nullable() }),
  /** Model calls of the turn. A turn without calls has no model, usage and cost. */
  calls: count,
  ...spent,
  ms: z.number().nullable(),
});
export type ComparedSide = z.output<typeof side>;

/** Contexts side by side. Each row has the position of the entry in each context, or null. */
const sideBySide = z.object({
  base: contextId.nullable(),
  sides: z.array(side),
  rows: z.array(z.object({ cells: z.array(count.nullable()), same: z.boolean() })),
});
export type SideBySide = z.output<typeof sideBySide>;

const original = contextPrefix.optional().describe('The branch to follow. The default is the likeliest branch that starts from the same commit.');
const unanswered = z
  .enum(['stop', 'ask'])
  .optional()
  .describe('At a tool call without a recorded result: end the run (`stop`, the default) or ask a person (`ask`).');

/** The result of `turn.reproduce`. */
export const reproduced = z.object({
  /** How well the calls are known: the weakest proof of all calls. */
  proof: z.enum(proofs),
  /** True if each call equals the recorded call, false if a call differs, null if nothing was recorded of a call. */
  identical: z.boolean().nullable(),
  /** At least 1 for a turn with output. */
  calls: count,
  requestHash: z.string().nullable(),
  recordedHash: z.string().nullable(),
  /** Differences by call. `path` is the part of the body that differs, if known. */
  differences: z.array(z.object({ requestId: name, path: z.string().optional(), reason: z.string() })),
  /** Parts of the calls that were not recorded. */
  missing: z.array(z.string()),
});
export type Reproduced = z.output<typeof reproduced>;

/** A turn by its commit, or an agent turn by its id. */
const turnName = z
  .union([contextPrefix, line.regex(/^turn_[\w-]{1,200}$/)], { error: 'a turn is a commit (ctx- and hex digits) or an agent turn (turn_…)' })
  .describe('The turn, named by its commit, or by the id of the agent turn.');

export const turnContract = {
  list: procedure('Lists the turns of a chain, or the turns of an agent.', {
    id: contextPrefix.optional().describe('The commit whose chain to list. Give either `id` or `agentId`.'),
    agentId: name.optional().describe('The agent whose turns to list.'),
  }).returns(z.array(turnRow)),
  get: procedure('Returns a turn with its input, output, tool calls and cost.', { turnId: turnName }).returns(turn),
  facts: procedure('Returns the duration, tool calls, files and model of commits whose content is neither damaged nor gone, for a list.', {
    ids: list(contextPrefix, 500).describe('The commits.'),
  }).returns(z.array(rowFacts)),
  steps: procedure('Returns every entry of a chain as a step of the replay, or the last ones, with the size of the context window after each.', {
    id: contextPrefix,
    last: upTo(10_000).optional().describe('For a long chain: only the last turns, with at least this many steps.'),
    packed: flag('Returns steps and turns as one text, which is faster.'),
  }).returns({
    total: count.describe('The number of all steps.'),
    steps: z.array(replayStep),
    packed: z.string().optional().describe('`total`, `steps` and `turns`, as JSON.'),
  }),
  entries: procedure('Returns the steps of a range with their content at the time of their arrival, including entries that a later delta removed.', {
    id: contextPrefix,
    offset: count.optional().describe('How many steps to skip.'),
    limit: upTo(10_000).optional().describe('The most steps to return.'),
  }).returns({ total: count, entries: z.array(entry) }),
  state: procedure('Returns the state of the conversation at a moment of a chain: window, open calls, files and to-dos.', {
    ...moment,
    last: upTo(10_000).optional().describe('For a long chain: reads only the last turns, with at least this many steps.'),
  }).returns(momentState),
  file: procedure('Returns a file as the conversation knew it at a moment of a chain.', {
    ...moment,
    path: z.string().min(1).max(10_000).describe('The path of the file, as the tool calls name it.'),
  }).returns(knownFile),
  reproduce: procedure("Rebuilds the turn's calls to the model and compares each with the recorded call.", { turnId: turnName }).returns(reproduced),
  request: procedure("Returns the parts of a turn's request that can be changed before it is run again, for a provider with this wire format.", {
    turnId: contextPrefix.describe('The turn, named by its commit.'),
    wire: z.enum(wires).optional().describe('The wire format of the provider.'),
  }).returns(turnRequest),
  providers: procedure('Lists the providers that can run a turn, with their models. `recorded` answers from the recording.').returns(
    z.array(
      z.object({
        id: name,
        title: z.string(),
        /** The wire format; absent for the recording. */
        wire: z.enum(wires).optional(),
        models: z.array(name),
        problem: z.string().optional(),
      }),
    ),
  ),
  rerun: procedure(
    'Runs a turn again, with edits. Streams the replies and adds a branch from the parent of the turn for each sample. Executes no tool of a transcript: a tool call is answered from the recording; at any other call, the run stops or waits for a person. Ending the stream stops the run, and incomplete replies leave no branch.',
    {
      ...rerunFields,
      unanswered,
      principal: author,
      keep: flag('False stores no commit and only returns the recorded reply, for the provider `recorded`. The default is true.'),
    },
  ).returns(eventIterator(replyPart, z.object({ commits: z.array(contextId), base: contextId }))),
  answer: procedure('Answers a question of a run that waits for a person: a tool call without a recorded result.', {
    questionId: name.describe('The id of the question.'),
    text: z.string().max(10_000_000).optional().describe('The result of the tool. Without it, the run ends at the call.'),
    isError: flag('True if the result is an error.'),
  }).returns({}),
  ask: procedure(
    'Runs a turn from any context: adds a message on a new branch and streams the reply of a provider. `base` is the context with the message, `commits` are the replies. `recorded` answers only a question that the recording contains for the same context; `from` names where. If it has no answer, `commits` is empty.',
    {
      id: contextPrefix.nullable().describe('The commit to continue from, or null for an empty context.'),
      text: z.string().min(1).max(1_000_000).describe('The message.'),
      provider: rerunFields.provider,
      model: rerunFields.model,
      samples: rerunFields.samples,
      principal: author,
      system: layerTexts.optional(),
    },
  ).returns(eventIterator(replyPart, z.object({ commits: z.array(contextId), base: contextId, from: contextId.nullable() }))),
  original: procedure(
    'Returns the fork that a commit belongs to, the newest answer to its prompt, and the turn of the original branch in whose place the fork stands.',
    { id: contextPrefix.describe('A fork, an answer to its prompt, or a turn that was forked.') },
  ).returns({ fork: contextId.nullable(), answer: contextId.nullable(), original: contextId.nullable() }),
  compareFiles: procedure('Returns the files that two branches left behind differently, as their conversations knew them.', {
    a: contextPrefix.describe('The first commit.'),
    b: contextPrefix.describe('The second commit.'),
  }).returns(z.array(comparedFile)),
  compare: procedure(
    'Compares the turns of two commits: their entries, tokens, cost and time. A prompt that was edited here is compared with its newest answer.',
    { a: contextPrefix.describe('The first commit.'), b: contextPrefix.describe('The second commit.') },
  ).returns({ base: contextId.nullable(), same: count, added: count, removed: count, changed: count, hunks: z.array(hunk), a: side, b: side }),
  following: procedure('Returns what `turn.whatIf` would do from a branch: the turns of the original that come next.', {
    id: contextPrefix.describe('The end of the branch.'),
    original,
  }).returns(following),
  whatIf: procedure(
    "Continues a branch with what the person said in the original's next turns. A model answers each. Every turn becomes a commit, so a stopped run keeps its finished turns and can be continued from its tip. `recorded` gives the answers of the original. Executes no tool of a transcript.",
    {
      id: contextPrefix.describe('The end of the branch.'),
      original,
      provider: rerunFields.provider,
      model: rerunFields.model,
      stopAt: z
        .enum(divergenceLimits)
        .optional()
        .describe('End when a reply differs from the original in its tool calls (`calls`, the default), also in its words (`words`), or `never`.'),
      unanswered,
      turns: upTo(10_000).optional().describe('The most turns to run.'),
      principal: author,
    },
  ).returns(eventIterator(whatIfPart, whatIfResult)),
  sides: procedure("Returns what each context's turn used (model, tokens, cost, time) and the last commit that all share.", {
    ids: list(contextPrefix, 16).min(1).describe('The commits.'),
  }).returns({ base: contextId.nullable(), sides: z.array(side) }),
  compareMany: procedure(
    'Compares up to 16 contexts, such as the samples of a run. Each is aligned with the first, by identity and then by content.',
    { ids: list(contextPrefix, 16).min(2).describe('The commits to compare.'), stop: stop.optional() },
  ).returns(sideBySide),
};
