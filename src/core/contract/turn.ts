import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { edit, hunk, outlineRow, stop } from './context.js';
import { entry } from './entry.js';
import { kinds } from './kinds.js';
import { requestTokens, wires } from './request.js';
import { contextId, contextPrefix, count, entryKey, name, timestamp } from './scalars.js';

/** What began a turn. `continuation`: the delta goes on with what a commit before it began. */
export const turnTriggers = ['prompt', 'compaction', 'continuation'] as const;

export const turnRow = z.object({
  /** A turn is named by the commit that holds it. */
  turnId: contextId,
  agentId: name,
  /** Its place in the chain, from 1. */
  number: count,
  trigger: z.object({ kind: z.enum(turnTriggers), key: entryKey.nullable(), text: z.string().nullable() }),
  entries: count,
  tokens: count,
  errors: count,
  /** How many steps of the chain's replay come before its first. */
  first: count,
  startedAt: timestamp.nullable(),
  endedAt: timestamp.nullable(),
});
export type TurnRow = z.output<typeof turnRow>;

const tokensByKind = z.array(z.object({ kind: z.enum(kinds), tokens: count }));

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

export const turn = turnRow.extend({
  /** The context before the turn, and the entries that began it: together what the model was first given. */
  input: z.object({
    parent: contextId.nullable(),
    entries: count,
    tokens: count,
    byKind: tokensByKind,
    keys: z.array(entryKey),
    /** Calls to the model within the turn, whose bodies `request.get` gives. */
    requests: z.array(z.object({ requestId: name, proof: z.enum(['digest', 'recorded', 'rebuilt']) })),
  }),
  output: z.array(entry),
  calls: z.array(turnCall),
  model: z.string().nullable(),
  /** Parameters as recorded, without messages, system prompt and tools. */
  settings: z.record(z.string(), z.unknown()).nullable(),
  usage: requestTokens.nullable(),
  /** In US dollars, where the runtime wrote it down. */
  cost: z.number().nullable(),
});
export type Turn = z.output<typeof turn>;

/** One step of a chain's replay: an entry that a model was sent, in the order in which it came, through every compaction. */
export const replayStep = outlineRow.omit({ hidden: true }).extend({
  at: timestamp.optional(),
  /** Tokens of the context window after it. */
  window: count,
  /** Only at a compaction's first entry: what it took out of the window. */
  dropped: z.object({ entries: count, tokens: count }).optional(),
});
export type ReplayStep = z.output<typeof replayStep>;

/** `whole`: written or read to its end. `part`: only a stretch was read. `unknown`: touched, content not seen. */
const known = z.enum(['whole', 'part', 'unknown']);
const touch = z.object({ key: entryKey, how: z.enum(['read', 'written', 'changed']), step: count });

/** A file as the conversation knows it: from what was read, written and changed so far, never from the disk. */
export const knownFile = z.object({ path: z.string(), known, content: z.string().nullable(), touches: z.array(touch) });
export type KnownFile = z.output<typeof knownFile>;

export const momentState = z.object({
  /** How many steps the moment comes after, of how many. */
  step: count,
  steps: count,
  /** The latest entry, and the latest time that the runtime wrote down. */
  entry: entryKey.nullable(),
  at: timestamp.nullable(),
  window: z.object({ entries: count, tokens: count, byKind: tokensByKind }),
  /** What the compaction that came at this very step took out of the window. */
  dropped: z.object({ commit: contextId, entries: count, tokens: count, byKind: tokensByKind }).nullable(),
  openCalls: z.array(z.object({ key: entryKey, toolCallId: z.string(), toolName: z.string().nullable() })),
  /** Without content, which `turn.file` gives. */
  files: z.array(z.object({ path: z.string(), known, touches: count, last: touch })),
  todos: z.array(z.object({ text: z.string(), status: z.string() })),
});
export type MomentState = z.output<typeof momentState>;

/** What of a turn's request is other than it was: what is left out stays as recorded. */
export const requestEdits = z.strictObject({
  /** The texts of the system prompt, one a block. */
  system: z.array(z.string().max(10_000_000)).max(100).optional(),
  /** Definitions of tools as the Messages API has them, whichever provider is asked. */
  tools: z.array(z.record(z.string(), z.unknown())).max(1_000).optional(),
  /** All other members of the body, such as `max_tokens` and `temperature`. */
  settings: z.record(z.string().max(200), z.unknown()).optional(),
});
export type RequestEdits = z.output<typeof requestEdits>;

/** A turn run again in one way: who is asked, how often, and what is other than it was. */
export const rerunFields = {
  turnId: contextPrefix,
  provider: name,
  model: name.optional(),
  edits: z.array(edit).max(10_000).optional(),
  request: requestEdits.optional(),
  samples: z.number().int().min(1).max(16).optional(),
};

export const turnRequest = z.object({
  /** The recorded call that the rest is of; null where none is known. */
  requestId: name.nullable(),
  model: z.string().nullable(),
  system: z.array(z.string()),
  tools: z.array(z.unknown()),
  settings: z.record(z.string(), z.unknown()),
});
export type TurnRequest = z.output<typeof turnRequest>;

/**
 * What arrives of a reply. `question`: a tool call that only a person can answer, by `turn.answer`. `waiting`: the provider
 * said to come back in `ms`. `usage`: what a call took. `failed`: this sample ended with an error, in words; it leaves
 * no branch. `commit`: the branch of this sample, in `delta`.
 */
export const replyPart = z.object({
  sample: count,
  kind: z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'notice', 'question', 'waiting', 'usage', 'failed', 'commit']),
  /** What is new of the part; a tool call comes whole, as the JSON of its arguments. */
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

/** Where a what-if ends by itself: at other calls of tools, at any other words as well, or nowhere before the end. */
export const divergenceLimits = ['calls', 'words', 'never'] as const;
export type DivergenceLimit = (typeof divergenceLimits)[number];

/** `calls`: tools were called that the record does not have, or with something else; `words`: only what was said is other. */
export const divergence = z.object({ kind: z.enum(['calls', 'words']), what: z.string() });
export type Divergence = z.output<typeof divergence>;

/**
 * How a what-if goes on, turn by turn from 1. `begin`: what the person says next; `reply`: what arrives of the answer; `end`: the
 * turn is a commit, and where it goes another way than the record `divergence` says how.
 */
export const whatIfPart = z.object({
  turn: count,
  /** The turn of the original that is followed; null where the branch was only answered. */
  of: contextId.nullable(),
  kind: z.enum(['begin', 'reply', 'end']),
  text: z.string(),
  part: replyPart.optional(),
  commit: contextId.optional(),
  divergence: divergence.nullable().optional(),
});
export type WhatIfPart = z.output<typeof whatIfPart>;

export const whatIfResult = z.object({
  /** A commit for each turn, each on top of the one before. */
  commits: z.array(contextId),
  /** Where the branch ends now: a what-if from here goes on with the turn after. */
  tip: contextId,
  /** How many turns of the original are left. */
  left: count,
  /** Why it ended before the original did; null where it did not. */
  stopped: z.object({ why: z.enum(['diverged', 'open_call', 'canceled', 'failed']), turn: count, what: z.string() }).nullable(),
});
export type WhatIfResult = z.output<typeof whatIfResult>;

/** What a what-if would do: the turns of the original that come after what the branch has. */
export const following = z.object({
  /** The last commit that branch and original share. */
  base: contextId.nullable(),
  /** Null where no other branch goes on from where this one comes from: then there is nothing to follow. */
  original: contextId.nullable(),
  /** The branch ends with words that nobody has answered: that comes first. */
  answersFirst: z.boolean(),
  turns: z.array(turnRow),
  /** The branches that can be followed, the likeliest first. */
  originals: z.array(z.object({ id: contextId, summary: z.string().nullable(), createdAt: timestamp, turns: count })),
});
export type Following = z.output<typeof following>;

/** After `entry`, after so many steps, or at the end of the chain. */
const moment = { id: contextPrefix, entry: entryKey.optional(), step: count.optional() };

/** What a turn took, and how large its context is; null is "not recorded". `ms`: from its first to its last time that was written down. */
const side = z.object({
  turnId: contextId,
  summary: z.string().nullable(),
  model: z.string().nullable(),
  /** Of the turn itself; of the whole context in `context`. */
  tokens: count,
  context: z.object({ entries: count, tokens: count }),
  usage: requestTokens.nullable(),
  cost: z.number().nullable(),
  ms: z.number().nullable(),
});
export type ComparedSide = z.output<typeof side>;

/** Contexts beside each other: by row the place of the entry in each, null where one has none there. */
const sideBySide = z.object({
  base: contextId.nullable(),
  sides: z.array(side),
  rows: z.array(z.object({ cells: z.array(count.nullable()), same: z.boolean() })),
});
export type SideBySide = z.output<typeof sideBySide>;

export const turnContract = {
  list: oc.input(z.object({ id: contextPrefix.optional(), agentId: name.optional() })).output(z.array(turnRow)),
  get: oc.input(z.object({ turnId: contextPrefix })).output(turn),
  /** Every entry of a chain as a step, with what the window weighed after it: what a player plays. */
  steps: oc.input(z.object({ id: contextPrefix })).output(z.object({ steps: z.array(replayStep) })),
  /** The steps of a range with their content, as it was when they came: what a later delta took out is still there. */
  entries: oc
    .input(z.object({ id: contextPrefix, offset: count.optional(), limit: z.number().int().min(1).max(10_000).optional() }))
    .output(z.object({ total: count, entries: z.array(entry) })),
  /** The state at a moment of a chain. */
  state: oc.input(z.object(moment)).output(momentState),
  /** A file as the conversation knew it at a moment of a chain. */
  file: oc.input(z.object({ ...moment, path: z.string().min(1).max(10_000) })).output(knownFile),
  /** Builds the turn's calls again and holds each against what was recorded. */
  reproduce: oc.input(z.object({ turnId: contextPrefix })).output(
    z.object({
      identical: z.boolean(),
      requestHash: z.string().nullable(),
      recordedHash: z.string().nullable(),
      /** By call; `path` names the part of its body that differs, where that can be told. */
      differences: z.array(z.object({ requestId: name, path: z.string().optional(), reason: z.string() })),
      /** Parts of the calls that nobody recorded. */
      missing: z.array(z.string()),
      calls: count,
    }),
  ),
  /** What can be changed of the turn's request before it is run again, for a provider of this wire. */
  request: oc.input(z.object({ turnId: contextPrefix, wire: z.enum(wires).optional() })).output(turnRequest),
  providers: oc.input(z.object({})).output(
    z.array(
      z.object({
        id: name,
        title: z.string(),
        /** In whose words it is asked; none for the recording. */
        wire: z.enum(wires).optional(),
        models: z.array(name),
        problem: z.string().optional(),
      }),
    ),
  ),
  /**
   * Runs the turn again, with edits: streams the replies, and gives a branch from the turn's parent for each sample.
   * Nothing of a transcript is executed: calls that the recording answers are answered from it, at any other the run
   * stops, or waits for a person. Ending the stream stops the run; what was not whole by then leaves no branch.
   */
  rerun: oc
    .input(
      z.object({
        ...rerunFields,
        /** What happens at a tool call that the recording has no answer to. */
        unanswered: z.enum(['stop', 'ask']).optional(),
      }),
    )
    .output(eventIterator(replyPart, z.object({ commits: z.array(contextId), base: contextId }))),
  /** Answers a `question` of a run: what the tool would have said, or without `text` that the run ends there. */
  answer: oc
    .input(z.strictObject({ questionId: name, text: z.string().max(10_000_000).optional(), isError: z.boolean().optional() }))
    .output(z.object({})),
  /**
   * Runs a turn from any context: adds what is said to it, on a branch of its own, and streams what a provider answers.
   * `base` is the context with the words, `commits` the replies to it; `recorded` answers only what was asked before from
   * the same context, `from` says where that stands, and where it has no answer it says so and `commits` is empty.
   */
  ask: oc
    .input(
      z.strictObject({
        id: contextPrefix.nullable(),
        text: z.string().min(1).max(1_000_000),
        provider: name,
        model: name.optional(),
        samples: z.number().int().min(1).max(16).optional(),
        principal: name.optional(),
      }),
    )
    .output(eventIterator(replyPart, z.object({ commits: z.array(contextId), base: contextId, from: contextId.nullable() }))),
  compare: oc
    .input(z.object({ a: contextPrefix, b: contextPrefix }))
    .output(
      z.object({ base: contextId.nullable(), same: count, added: count, removed: count, changed: count, hunks: z.array(hunk), a: side, b: side }),
    ),
  /** What a what-if from here would do. Without `original` it is the likeliest branch that leaves where this one does. */
  following: oc.input(z.object({ id: contextPrefix, original: contextPrefix.optional() })).output(following),
  /**
   * What if: says what the person said in the turns after the original's, one by one, on top of a branch, and has a model answer each.
   * Every turn becomes a commit, so that a run that is stopped or fails has done whole turns, and one from its tip goes on.
   * `recorded` answers as the original did. Nothing of a transcript is executed: calls are answered as in `rerun`.
   */
  whatIf: oc
    .input(
      z.strictObject({
        id: contextPrefix,
        original: contextPrefix.optional(),
        provider: name,
        model: name.optional(),
        /** Where it ends by itself; else at other calls of tools. */
        stopAt: z.enum(divergenceLimits).optional(),
        unanswered: z.enum(['stop', 'ask']).optional(),
        /** At most so many turns. */
        turns: z.number().int().min(1).max(10_000).optional(),
      }),
    )
    .output(eventIterator(whatIfPart, whatIfResult)),
  /** What each context's turn took: model, tokens, cost and time, and the last commit that all stand on. */
  sides: oc.input(z.object({ ids: z.array(contextPrefix).min(1).max(16) })).output(z.object({ base: contextId.nullable(), sides: z.array(side) })),
  /** Up to 16 contexts side by side, such as the samples of a run: each aligned with the first, by identity and then by content. */
  compareMany: oc.input(z.object({ ids: z.array(contextPrefix).min(2).max(16), stop: stop.optional() })).output(sideBySide),
};
