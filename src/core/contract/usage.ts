import { contextId, contextPrefix, count, entryKey, flag, inOrder, most, name, procedure, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

/** How a part of a context was measured: counted by the provider, calibrated on counts of the same model, or estimated from its length. */
export const bases = ['counted', 'calibrated', 'estimated'] as const;
/** The kinds of content that fill a window, in the order in which bars and charts draw them. */
export const partKinds = ['system', 'tools', 'summary', 'user', 'assistant', 'thinking', 'tool_call', 'tool_result', 'image', 'event'] as const;
export type PartKind = (typeof partKinds)[number];

export const usagePart = z.object({ kind: z.enum(partKinds), tokens: count, basis: z.enum(bases) });
export type UsagePart = z.output<typeof usagePart>;

/** How much of its model's window a context fills. */
export const usageContext = z.object({
  /** The input of the last call of the context as its provider counted it; null where no call has seen the context. */
  counted: count.nullable(),
  /** The call that `counted` belongs to. */
  requestId: name.optional(),
  /** The sum of the parts' estimates; after an edit, what was counted before it and the estimate of what was added and removed since. */
  estimated: count,
  /** Only for a context after an edit: the counted total of the last call before it and its reply, and the estimate of what has changed since. */
  since: z.object({ counted: count, edited: z.int(), requestId: name.optional() }).optional(),
  /** Only for a compaction: the counted input of the first call after it, with the system prompt, the tools and the next prompt. */
  next: z.object({ counted: count, requestId: name }).optional(),
  /** The window of the model; null for an unknown model. */
  limit: count.nullable(),
  model: z.string().nullable(),
  /** Tokens by kind. Together with `notRecorded`, they add up to `counted`. */
  parts: z.array(usagePart),
  /** The part of the counted input that no record explains: usually system prompt, tools and memory. Null where nothing was counted. */
  notRecorded: count.nullable(),
  /** Why a recorded count is ignored. */
  flaw: z.string().optional(),
});
export type UsageContext = z.output<typeof usageContext>;

/** The tokens of a fork that is not made yet. */
export const usageFork = z.object({
  /** The tokens that `usage.context` will estimate for the fork. */
  estimated: count,
  /** The counted total of the last call before the edit and its reply, and the estimate of the edit; null where nothing was counted. */
  since: z.object({ counted: count, edited: z.int() }).nullable(),
  /** The window of the model; null for an unknown model. */
  limit: count.nullable(),
});
export type UsageFork = z.output<typeof usageFork>;

/** The content of the window by kind, for each call. */
export const usageSeries = z.object({
  /** The kinds of the numbers in `parts`. */
  kinds: z.array(z.enum(partKinds)),
  basis: z.enum(bases),
  calls: z.array(
    z.object({
      requestId: name,
      /** The first entry of the reply. */
      replyKey: entryKey,
      counted: count.nullable(),
      limit: count.nullable(),
      /** Tokens by kind; with `notRecorded` they add up to `counted`. */
      parts: z.array(count),
      /** The part of the counted input that no record explains. Null where nothing was counted. */
      notRecorded: count.nullable(),
      /** Set for the first call after a compaction. */
      cut: z.literal(true).optional(),
    }),
  ),
});
export type UsageSeries = z.output<typeof usageSeries>;

export const money = z.object({
  amount: z.number().min(0),
  currency: z.string(),
  /** The date of the price list. */
  priceDate: z.string(),
  /** A lower bound: not every count that costs something was recorded. */
  atLeast: z.literal(true).optional(),
});
export type Money = z.output<typeof money>;

/** Why a call could not read the cache of the previous call. */
export const missCauses = ['first', 'expired', 'system', 'tools', 'message', 'model', 'parameters', 'unknown'] as const;
export type MissCause = (typeof missCauses)[number];

export const usageCache = z.object({
  hit: z.boolean(),
  cause: z.enum(missCauses).optional(),
  /** The first part that differs from the previous call, if known. */
  brokenAt: z.string().optional(),
  /** The text around the first difference, in the previous call and in this call. Null if a call has no text at this place. */
  brokenText: z.object({ before: z.string().nullable(), after: z.string().nullable() }).optional(),
  /** Tokens that were in the cache and had to be paid again. */
  lostTokens: count.optional(),
  /** The price of these tokens minus the price of reading them from the cache. */
  lostCost: money.optional(),
  /** For an expired cache: the time since the previous call, in milliseconds. */
  idleMs: count.optional(),
  /** How long the provider kept the cache of the previous call, in milliseconds. Set for a miss if the lifetime is documented. */
  lifetimeMs: count.optional(),
});
export type UsageCache = z.output<typeof usageCache>;

export const usageTokens = z.object({
  input: count.nullable(),
  cacheRead: count.nullable(),
  cacheWrite: count.nullable(),
  cacheWrite1h: count.optional(),
  output: count.nullable(),
  reasoning: count.optional(),
});

/** One call to a model. Counts are the provider's; null is "not recorded". */
export const usageCall = z.object({
  requestId: name,
  at: timestamp,
  commit: contextId,
  replyKey: entryKey,
  sessionId: z.string().optional(),
  /** The kind of subagent that made the call. */
  subagent: z.string().optional(),
  model: z.string().nullable(),
  /** The cause of the call on one line: the prompt, or the tool whose result preceded the call. */
  trigger: z.string().nullable(),
  triggerKind: z.enum(['prompt', 'tool', 'other']),
  /**
   * The purpose of a call outside the conversation, such as a compaction. Its reply is not part of the context, and its input does not fill the
   * window.
   */
  beside: z.string().optional(),
  tokens: usageTokens,
  /** The whole input: uncached, read from the cache and written to it. */
  window: count.nullable(),
  limit: count.nullable(),
  /** The growth of the input since the previous call of the conversation; the whole input for the first call. */
  added: z.number().int().nullable(),
  cost: money.nullable(),
  /** The time from the last entry before the reply to the last entry of the reply, in milliseconds. */
  waitMs: count.nullable(),
  cache: usageCache,
  flaw: z.string().optional(),
  /** The session repeats this call of another session. Sums leave it out. */
  replayed: z.literal(true).optional(),
  /** The provider's speed, where it has a price of its own, such as `fast`. */
  speed: z.string().optional(),
  /** The provider's service tier, such as `priority`. */
  tier: z.string().optional(),
  /** Where the provider ran the model, where that has a price of its own, such as `us`. */
  geo: z.string().optional(),
  /** How often the reply used each tool that the provider runs, such as `webSearch`. */
  serverTools: z.record(z.string(), count).optional(),
  /** The call was made by an advisor whom another reply asked. */
  advisor: z.literal(true).optional(),
});
export type UsageCall = z.output<typeof usageCall>;

/** Something that fills the window: an entry, a tool's definition or a file. */
export const usageFiller = z.object({
  key: entryKey.optional(),
  tool: z.string().optional(),
  path: z.string().optional(),
  kind: z.enum(partKinds),
  head: z.string().optional(),
  tokens: count,
  /** The number of calls whose input contained the filler. */
  calls: count,
  /** `tokens` times `calls`. */
  tokenCalls: count,
  /** The first entry with the same content, if this entry repeats it. */
  duplicateOf: entryKey.optional(),
  /** Fillers of the same group count together, such as an MCP server with its tools and results, or the reminders of the agent. */
  group: z.string().optional(),
  /** Set if the request offered the tool but no reply in the context called it. */
  unused: z.literal(true).optional(),
});
export type UsageFiller = z.output<typeof usageFiller>;

/** The content of a window: one row for each file and each group, and one row for any other filler. */
export const usageLargest = z.object({
  name: z.string(),
  /** Whether the filler is the input or the output of a tool. */
  side: z.enum(['call', 'result']).optional(),
  kind: z.enum(partKinds),
  /** The entry of the filler. Tools and the system prompt are in no entry. */
  key: entryKey.optional(),
  tokens: count,
  calls: count,
  tokenCalls: count,
  /** The number of reads of the file, and the number of repeated reads. For a group, the number of its members. */
  times: count,
  duplicates: count,
  /** The number of tools that were offered and never used. */
  unused: count,
});
export type UsageLargest = z.output<typeof usageLargest>;

/** The kinds of content that a summary can omit. A decision is a request of a person or a choice of the agent. */
export const lostKinds = ['file', 'decision', 'error', 'result'] as const;
export type LostKind = (typeof lostKinds)[number];

export const usageLoss = z.object({
  kind: z.enum(lostKinds),
  /** The path of the file, the sentence or the line that the summary does not mention. */
  text: z.string(),
  /** The entry that contained the text, and its commit. */
  key: entryKey,
  commit: contextId,
  tokens: count,
  /** How often the file was used, the error occurred again, or the result was used later. */
  uses: count,
  path: z.string().optional(),
  tool: z.string().optional(),
  /** The paths and identifiers that the summary does not mention. */
  missing: z.array(z.string()),
  /** A model's opinion on whether the loss matters for the work after the compaction. */
  judgment: z.object({ matters: z.boolean(), reason: z.string() }).optional(),
});
export type UsageLoss = z.output<typeof usageLoss>;

/** One side of a compaction. `counted`: the input of the call next to it, as its provider counted it. */
const compactionSide = z.object({ counted: count.nullable(), estimated: count, entries: count });

export const usageCompaction = z.object({
  commit: contextId,
  parent: contextId.nullable(),
  at: timestamp,
  before: compactionSide,
  after: compactionSide,
  /** The beginning of the summary. */
  summary: z.string().nullable(),
  summaryKey: entryKey.nullable(),
  summaryTokens: count,
  /** The number of entries that the compaction kept unchanged. */
  kept: count,
  /** For each kind: the number of items in the conversation before, and of items that the summary does not mention. */
  totals: z.array(z.object({ kind: z.enum(lostKinds), found: count, lost: count })),
  lost: z.array(usageLoss),
  /** The model that judged the losses. */
  judgedBy: z.object({ provider: z.string(), model: z.string().optional() }).optional(),
});
export type UsageCompaction = z.output<typeof usageCompaction>;

const summed = z.object({ input: count, cacheRead: count, cacheWrite: count, output: count });
/** A sum of prices. `unpriced`: calls whose model has no price. */
const summedCost = money.extend({ unpriced: count });

const sums = z.object({
  sessions: count,
  calls: count,
  tokens: summed,
  /** Calls whose count was not recorded. Their tokens are not in the sum. */
  unknownInputs: count,
  unknownCacheReads: count,
  unknownCacheWrites: count,
  unknownOutputs: count,
  cost: summedCost.nullable(),
});
export type UsageSums = z.output<typeof sums>;

export const groupings = ['session', 'day', 'model', 'repository', 'agent'] as const;

export const usageSessions = z.object({
  total: count,
  rows: z.array(
    sums.extend({
      /** The session, day, model, repository or agent. Empty if it was not recorded. */
      key: z.string(),
      /** The part of a session's sums that its subagents used. */
      subagents: sums.optional(),
    }),
  ),
  totals: sums,
  /** Days and sessions that cost more than the budgets of this machine. */
  overBudget: z.array(z.object({ kind: z.enum(['day', 'session']), key: z.string(), spent: money, budget: z.number() })),
  /** The budgets of this machine, if it has any. */
  budgets: z.object({ day: z.number().optional(), session: z.number().optional() }).optional(),
});
export type UsageSessions = z.output<typeof usageSessions>;

/** The cost of two branches: of the part that both share, and of each branch after the fork. */
export const usageSides = z.object({
  /** The last commit that both sides contain; null if they share none. */
  base: contextId.nullable(),
  /** The calls that both sides contain. They were paid only once. */
  shared: sums,
  sides: z.tuple([sums, sums]),
});
export type UsageSides = z.output<typeof usageSides>;

const usageFilter = inOrder(
  z.strictObject({
    sessionId: name.optional().describe('Only calls of this session and its subagents.'),
    model: name.optional().describe('Only calls of this model.'),
    agent: name.optional().describe('Only calls of this agent, such as `claude-code`.'),
    repository: name.optional().describe('Only calls of sessions in this folder.'),
    from: timestamp.optional().describe('Only calls at or after this time.'),
    to: timestamp.optional().describe('Only calls before this time.'),
  }),
);
export type UsageFilter = z.output<typeof usageFilter>;

const callsFilter = z.strictObject({
  model: name.optional().describe('Only calls of this model.'),
  miss: flag('True for calls that missed the cache, false for the others.'),
  from: timestamp.optional().describe('Only calls at or after this time.'),
  to: timestamp.optional().describe('Only calls before this time.'),
});
export type CallsFilter = z.output<typeof callsFilter>;

const offset = count.optional().describe('The number of rows to skip.');
const limit = count.optional().describe('The maximum number of rows.');
const last = upTo(10_000).optional().describe('Only the last calls, at most this many.');
const packed = flag('Returns the calls as one text, which takes less time.');

export const usageContract = {
  context: procedure(
    'Returns how many tokens of its model’s window a context fills: the provider’s count, the tokens by kind of content, and the tokens that no record explains.',
    { id: contextPrefix },
  ).returns(usageContext),
  fork: procedure('Returns how many tokens a fork will hold that is cut after an entry and may replace its text, before it is made.', {
    id: contextPrefix.describe('The commit to fork.'),
    at: entryKey.describe('The last entry of the fork.'),
    text: z.string().max(most.content).optional().describe('The new text of that entry. The default is its own.'),
  }).returns(usageFork),
  calls: procedure(
    'Lists calls to models with their counted tokens, cost, wait and cache, in the order in which they were sent: of a context’s whole history, of a session with its subagents, or of the project. Without a limit, returns at most 1,000 calls of a project.',
    {
      id: contextPrefix.optional().describe('Only calls on the way from the root to this commit.'),
      sessionId: name.optional().describe('Only calls of this session and its subagents.'),
      filter: inOrder(callsFilter).optional().describe('Only calls that match every given field.'),
      offset,
      limit,
      last,
      packed,
    },
  ).returns({ total: count, calls: z.array(usageCall), packed: z.string().optional().describe('The calls as JSON.') }),
  series: procedure('Returns the content of the window by kind at each call on the way from the root to a commit, for a chart.', {
    id: contextPrefix,
    last,
    packed,
  }).returns(usageSeries.extend({ packed: z.string().optional().describe('The calls as JSON.') })),
  fillers: procedure(
    'Lists the content that filled the window of a context: entries, and the system prompt and tools of a recorded request. Sorted by tokens times the number of calls that contained the content, largest first.',
    { id: contextPrefix, offset, limit: limit.describe('The maximum number of fillers. The default is 1,000.') },
  ).returns(z.array(usageFiller)),
  largest: procedure(
    'Sums the content that filled the window of a context by file and by group: the rows of `usage.fillers` with the most tokens times calls.',
    { id: contextPrefix, limit },
  ).returns(z.array(usageLargest)),
  sides: procedure('Returns the cost of two branches: of the calls that both share, and of the calls of each branch after the fork.', {
    ids: z.tuple([contextPrefix, contextPrefix]).describe('The two commits.'),
  }).returns(usageSides),
  compaction: procedure(
    'Returns the size of the context before and after a compaction, and the files, decisions, errors and results that its summary does not mention. These losses are found by paths, identifiers and words, without a model.',
    {
      id: contextPrefix.describe('The compaction, by its id or the beginning of its id.'),
      limit: count.optional().describe('The maximum number of losses. The default is 200.'),
    },
  ).returns(usageCompaction),
  judgeCompaction: procedure(
    'Returns the same as `usage.compaction`, and asks a model about each loss whether it matters for the work after the compaction.',
    {
      id: contextPrefix.describe('The compaction, by its id or the beginning of its id.'),
      limit: count.optional().describe('The maximum number of losses that the model judges. The default is 60.'),
      provider: name.describe('The provider whose model judges.'),
      model: name.optional().describe('The model. The default is the provider’s first one.'),
    },
  ).returns(usageCompaction),
  sessions: procedure(
    'Sums the counted tokens and the cost of calls by session, day, model, repository or agent. Each call counts once, however many files contain it.',
    {
      filter: usageFilter.optional().describe('Only calls that match every given field.'),
      groupBy: z.enum(groupings).nullable().optional().describe('What each row stands for. The default is `session`; null returns only the totals.'),
      timeZone: name.optional().describe('The time zone of days, such as `Europe/Berlin`. The default is UTC.'),
      offset,
      limit,
    },
  ).returns(usageSessions),
};
