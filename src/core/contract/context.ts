import { eventIterator } from '@orpc/contract';
import { entryInput } from './entry.js';
import { entryProcedures } from './entry-pages.js';
import { checkpoints, commitTypes } from './kinds.js';
import {
  artifactName,
  artifactRef,
  assembled,
  base64,
  contextId,
  contextPrefix,
  count,
  damaged,
  entryKey,
  flag,
  formatName,
  line,
  list,
  most,
  name,
  procedure,
  timestamp,
  upTo,
} from './scalars.js';
import { summaryProcedures } from './summaries.js';
import { money } from './usage.js';
import * as z from './z.js';

const provenance = {
  template: name.describe('The kind of the agent, such as `reviewer@3`.'),
  principal: name.optional().describe('The person or agent that the commit belongs to, such as `agent:claude-code` or `user@machine`.'),
  machine: name.optional().describe('The machine on which the commit was made.'),
  sessionId: name.optional().describe("The agent's session."),
  ticketId: name.optional().describe('The ticket that the commit belongs to.'),
  threadId: name.optional().describe("The thread of a ticket's discussion."),
};
/** Who makes a commit in Stemma. `context.resolve` does not return such a commit for the agent whose chain it extends (C25). */
export const author = name.optional().describe('Who makes the commit. The default is `user@MACHINE`.');
const summary = z.string().max(100_000).describe('A summary for people.');
const tags = list(name, 1_000).describe('Tags that replace the present ones.');

export const commit = z.object({
  id: contextId,
  parent: contextId.nullable(),
  type: z.enum(commitTypes),
  artifactRef,
  format: formatName,
  ...provenance,
  /** Null is "not recorded". */
  principal: name.nullable(),
  machine: name.nullable(),
  sessionId: name.nullable(),
  checkpoint: z.enum(checkpoints),
  summary: summary.optional(),
  tags,
  messageCount: count,
  tokenCount: count,
  createdAt: timestamp,
  /** Summary and tags of a damaged commit are left out. */
  damaged,
});
export type Commit = z.output<typeof commit>;

/** Where a walk toward the root ends. */
export const stop = z
  .union([z.enum(['compaction', 'root']), contextPrefix], { error: 'must be `compaction`, `root`, or the id of an ancestor, such as ctx-1a2b3c4d' })
  .describe(
    'Where the walk toward the root ends: at the first compaction or snapshot (`compaction`, the default), at the root, or at an ancestor, which is included.',
  );
export type Stop = z.output<typeof stop>;

/** The content that the requested format cannot hold: up to 1,000 losses by entry, most important first, and the count of each kind. */
export const lost = {
  losses: z.array(z.object({ entry: entryKey, what: z.string() })),
  lossCounts: z.array(z.object({ what: z.string(), count })),
};

export const edit = z.strictObject({
  op: z.enum(['drop', 'replace', 'insert', 'append']).describe('What to do.'),
  key: entryKey.optional().describe('The entry to drop or to replace. For `insert`, the entry that follows the new one. `append` takes none.'),
  entry: entryInput.optional().describe('The new entry, except for `drop`.'),
});
export type Edit = z.output<typeof edit>;

/** A row of the chain view: the commit and the facts that the view shows about it. */
export const graphRow = z.object({
  commit,
  lane: count,
  edges: z.array(z.object({ fromLane: count, toLane: count })),
  /** The number of lanes in use at this row. */
  width: count,
  depth: count,
  /** The number of its turn, as `session.place` counts it. Absent for a compaction, a snapshot and a part of a turn. */
  turn: count.optional(),
  children: count,
  /** Tokens of the whole context at this commit. */
  contextTokens: count,
  /** Only for a compaction: the tokens of the context that it replaced. */
  replacedTokens: count.optional(),
  /** The input of the last call in this commit, as its provider counted it. */
  countedTokens: count.optional(),
  /** For a fork, rerun or snapshot that no call has seen: its tokens as `usage.context` estimates them, from what was counted before the edit. */
  estimatedTokens: count.optional(),
  /** Only for a compaction: the counted input of the last call before it and of the first call after it. */
  compacted: z.object({ before: count.optional(), after: count.optional() }).optional(),
  /** True if a fork or an edit in Stemma made the commit, or the prompt that it answers. */
  forked: z.boolean(),
  /** The fork with the edited prompt that this commit answers. Both are one turn with one row, titled by the edit. */
  fork: z.object({ commit: contextId, parent: contextId.nullable(), title: z.string().optional() }).optional(),
  /** True if an agent continued by itself after a compaction. Such a commit is no turn. */
  continues: z.literal(true).optional(),
  /** The call that started the subagent whose chain this is. */
  startedBy: z.object({ commit: contextId, toolCallId: z.string() }).optional(),
  /** The name of the branch that ends here: the title of its session, or that of its first commit for a side branch. */
  tipOf: z.string().optional(),
  errors: count,
});
export type GraphRow = z.output<typeof graphRow>;

/** The marks of a row in `graphMap`, added up. A plain row is a delta in the middle of a run without branches or errors. */
export const graphMarks = { compaction: 1, errors: 2, end: 4, plain: 8 } as const;

/** Counts. To check each of many thousands takes longer than to find them. */
const facts = z.array(z.number());

/**
 * Facts about the rows of a graph as parallel lists, in the order of the rows. Neighboring rows with the same lane and marks are one stretch, of at most
 * 1/2,000 of a long graph, so that the answer does not grow with the length of its runs.
 */
export const graphMap = z.object({
  total: count,
  /** The number of rows of each stretch. */
  rows: facts,
  lanes: facts,
  /** The largest context in each stretch. */
  tokens: facts,
  marks: facts,
  /** The positions of the rows that contain the requested text, at most the first 10,000. */
  places: z.array(count).optional(),
  /** More rows contain it. */
  hasMore: z.literal(true).optional(),
});
export type GraphMap = z.output<typeof graphMap>;

/** Facts about a commit that a list shows in addition to its row. */
export const rowFacts = z.object({
  id: contextId,
  /** How long the turn took: what the agent wrote, else the time from the prompt to the last record, or that of the calls if Stemma made them. */
  ms: count.nullable(),
  tools: count,
  /** Files that its tools read or changed. */
  files: count,
  /** The first of these files. Written and changed files come before files that were only read. */
  touched: z.array(
    z.object({
      path: z.string(),
      how: z.enum(['read', 'written', 'changed']),
      /** Lines that the edits added and removed. A completely written file has no removed lines: the call does not contain the earlier content. */
      added: count.optional(),
      removed: count.optional(),
    }),
  ),
  model: z.string().nullable(),
  /** Whether the tokens of a call whose reply appears first in this commit were counted. */
  counted: z.boolean(),
  /** The price of these calls; null is "no price", or without a counted call "not recorded". */
  cost: money.nullable(),
});
export type RowFacts = z.output<typeof rowFacts>;

const filter = z.strictObject({
  template: line.optional().describe('Only commits with this template.'),
  principal: line.optional().describe('Only commits by this principal.'),
  sessionId: line.optional().describe('Only commits of this session.'),
  ticketId: line.optional().describe('Only commits of this ticket.'),
});

export const hunk = z.object({ op: z.enum(['same', 'added', 'removed', 'changed']), aStart: count, aCount: count, bStart: count, bCount: count });
export type Hunk = z.output<typeof hunk>;

/** Consecutive entries that both sides contain at different positions. The hunks show them as removed and added. */
const moved = z.object({ aStart: count, bStart: count, count });
export type Moved = z.output<typeof moved>;

const contextDiff = z.object({
  /** The last commit that both contexts share, or null. */
  base: contextId.nullable(),
  same: count,
  added: count,
  removed: count,
  changed: count,
  /** The sizes of both contexts as estimates. */
  tokens: z.object({ a: count, b: count }),
  /** The input of the last call of each context, as its provider counted it; null where no call has seen the context. */
  counted: z.object({ a: count.nullable(), b: count.nullable() }),
  hunks: z.array(hunk),
  moved: z.array(moved),
});
export type ContextDiff = z.output<typeof contextDiff>;

/** A field that only one of two values has, or that differs between them. */
export const fieldChange = z.object({
  op: z.enum(['added', 'removed', 'changed']),
  path: z.string(),
  a: z.unknown().optional(),
  b: z.unknown().optional(),
});
export type FieldChange = z.output<typeof fieldChange>;

export const diffLine = z.object({ op: z.enum(['same', 'added', 'removed']), text: z.string() });
export type DiffLine = z.output<typeof diffLine>;

const summarizeProgress = z.object({ done: count, total: count, id: contextId.optional() });
export type SummarizeProgress = z.output<typeof summarizeProgress>;
/** `skipped`: commits whose content cannot be read or has no words. */
const summarizeResult = z.object({ summarized: count, skipped: z.array(z.object({ id: contextId, reason: z.string() })) });
export type SummarizeResult = z.output<typeof summarizeResult>;

const graphFilter = filter
  .extend({ archived: flag('Also archived sessions and branches.') })
  .optional()
  .describe('Limits the commits.');

export const contextContract = {
  checkpoint: procedure(
    'Stores a commit: content in a format, after a parent. The same parent, content, time and template return the existing commit.',
    {
      parent: contextPrefix.nullable().describe('The commit that this one follows, or null for a new chain.'),
      type: z.enum(commitTypes).describe('New entries (`delta`), a summary of what precedes (`compaction`), or a whole context (`snapshot`).'),
      format: formatName,
      artifactRef: artifactName.optional().describe('The content, if it is stored already. Give one of `artifactRef`, `data` and `text`.'),
      data: base64.optional().describe('The content as base64.'),
      text: z.string().max(most.content).optional().describe('The content as text.'),
      ...provenance,
      checkpoint: z.enum(checkpoints).describe('What caused the commit.'),
      summary: summary.optional(),
      tags: tags.optional().describe('Tags of the commit.'),
      messageCount: count.optional().describe('The number of messages. The default is counted from the content.'),
      tokenCount: count.optional().describe('The number of tokens. The default is estimated from the content.'),
      createdAt: timestamp.optional().describe('When it was made. The default is now.'),
    },
  ).returns(commit),
  materialize: procedure(
    "Assembles a context: the content from the end of the walk toward the root up to the commit, as one artifact. Without `format`, it stays in the commit's own format, byte for byte.",
    {
      id: contextPrefix.nullable().describe('The commit, or null for an empty conversation.'),
      format: formatName.optional().describe("The format of the result. The default is the commit's own."),
      stop: stop.optional(),
      maxTokens: upTo(100_000_000).optional().describe('The most tokens of the result. Only for the format `narrative`.'),
    },
  ).returns({
    ...assembled,
    ...lost,
    /** For tier `raw`: a description of content that Stemma cannot read. */
    description: z.string().optional(),
  }),
  resolve: procedure('Finds the context of a principal (a person or an agent) at a moment: its latest commit at or before that time.', {
    principal: name.describe('The person or agent whose commit to find.'),
    at: timestamp.describe('The moment.'),
  }).returns({ id: contextId.nullable(), at: timestamp.nullable() }),
  show: procedure('Returns a commit with its children and its depth.', { id: contextPrefix }).returns(
    commit.extend({ children: z.array(contextId), depth: count, fork: graphRow.shape.fork, continues: graphRow.shape.continues }),
  ),
  history: procedure('Returns the commits from a commit toward the root, newest first.', {
    id: contextPrefix,
    depth: count.optional().describe('The most commits to return. The default is all.'),
  }).returns(z.array(commit)),
  update: procedure('Changes the summary or the tags of a commit. Its other fields never change.', {
    id: contextPrefix,
    summary: summary.optional(),
    tags: tags.optional(),
  }).returns(commit),
  tips: procedure('Lists the commits without children: the ends of all branches.', filter).returns(z.array(commit)),
  graph: procedure('Lists commits as rows of a graph with lanes, newest first, in pages.', {
    filter: graphFilter,
    together: flag('Keep the rows of each session together, instead of sorting all rows by time.'),
    offset: count.describe('How many rows to skip.'),
    limit: upTo(5_000).describe('The most rows to return.'),
  }).returns({ total: count, rows: z.array(graphRow) }),
  graphMap: procedure(
    'Returns a few numbers for stretches of similar rows of the graph, so that a graph of any length can be folded, filtered and drawn as a whole.',
    {
      filter: graphFilter,
      together: flag('Keep the rows of each session together, as in `context.graph`.'),
      text: z
        .string()
        .max(400)
        .optional()
        .describe('Also list the rows whose title, branch, id, template, principal, type or tags contain this text.'),
    },
  ).returns(graphMap),
  ...entryProcedures(stop),
  fork: procedure('Starts a new branch from a commit, or a new chain from null, and applies edits to it. The original stays as it is.', {
    id: contextPrefix.nullable().describe('The commit to fork, or null for a new chain.'),
    at: entryKey.optional().describe('The last entry to keep. The default is all.'),
    edits: list(edit, 10_000).optional().describe('Edits of the entries that are kept, in order.'),
    template: name.optional().describe("The template of the fork. The default is the commit's own."),
    principal: author,
    summary: summary.optional(),
  }).returns(commit),
  compact: procedure('Adds a compaction: a summary that stands for the context up to the commit.', {
    id: contextPrefix,
    summary: z.string().min(1).max(1_000_000).describe('The summary that stands for the context.'),
    principal: author,
  }).returns(commit),
  snapshot: procedure('Adds a snapshot: the whole context in one commit, so that later walks end there.', {
    id: contextPrefix,
    stop: stop.optional(),
    principal: author,
  }).returns(commit),
  summarize: procedure(
    'Writes summaries for commits: extracts of their own words, or texts by a model of a provider. Streams progress. A stopped call keeps the summaries that it finished, and the next call continues.',
    z
      .strictObject({
        ids: list(contextPrefix, 100_000).min(1).optional().describe('The commits to summarize. Give either `ids` or `missing`.'),
        missing: z.literal(true).optional().describe('Summarize all commits that have no summary.'),
        provider: name.optional().describe('The provider whose model writes the summaries. Without one, they are extracts.'),
        model: name.optional().describe('The model of the provider.'),
        perMinute: z.number().min(0.1).max(100_000).optional().describe('The most calls to the model per minute.'),
      })
      .refine(({ ids, missing }) => (ids === undefined) !== (missing === undefined), {
        path: ['ids'],
        message: 'give either ids, or missing: true',
      }),
  ).returns(eventIterator(summarizeProgress, summarizeResult)),
  ...summaryProcedures(commit),
  diff: procedure('Compares two contexts entry by entry.', {
    a: contextPrefix.describe('The first commit.'),
    b: contextPrefix.describe('The second commit.'),
    stop: stop.optional(),
  }).returns(contextDiff),
  diffCalls: procedure(
    'Compares the arguments of tool calls by their structure. Each pair names an entry of `a` and one of `b` by position. The result is in the order of the pairs. A pair has no fields unless both entries are tool calls.',
    {
      a: contextPrefix.describe('The first commit.'),
      b: contextPrefix.describe('The second commit.'),
      stop: stop.optional(),
      pairs: list(
        z.strictObject({ a: count.describe('The position of an entry in `a`.'), b: count.describe('The position of an entry in `b`.') }),
        1_000,
      )
        .min(1)
        .describe('The calls to compare.'),
    },
  ).returns(z.array(z.object({ a: count, b: count, fields: z.array(fieldChange) }))),
};
