import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { edit, hunk, outlineRow } from './context.js';
import { entry, kinds } from './entry.js';
import { requestTokens } from './request.js';
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

export const replyPart = z.object({
  sample: count,
  kind: z.enum(['text', 'thinking', 'tool_call', 'tool_result', 'notice']),
  /** What is new of the part; a tool call comes whole. */
  delta: z.string(),
  toolName: z.string().optional(),
});
export type ReplyPart = z.output<typeof replyPart>;

/** After `entry`, after so many steps, or at the end of the chain. */
const moment = { id: contextPrefix, entry: entryKey.optional(), step: count.optional() };

const side = z.object({
  turnId: contextId,
  model: z.string().nullable(),
  tokens: count,
  usage: requestTokens.nullable(),
  cost: z.number().nullable(),
  ms: z.number().nullable(),
});

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
  providers: oc.input(z.object({})).output(z.array(z.object({ id: name, title: z.string(), models: z.array(name), problem: z.string().optional() }))),
  /**
   * Runs the turn again, with edits: streams the replies, and gives a branch from the turn's parent for each sample.
   * Nothing of a transcript is executed: calls that the recording answers are answered from it, at any other the run stops.
   */
  rerun: oc
    .input(
      z.object({
        turnId: contextPrefix,
        provider: name,
        model: name.optional(),
        edits: z.array(edit).max(10_000).optional(),
        samples: z.number().int().min(1).max(16).optional(),
      }),
    )
    .output(eventIterator(replyPart, z.object({ commits: z.array(contextId), base: contextId }))),
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
};
