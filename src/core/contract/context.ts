import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { entry, entryDraft } from './entry.js';
import { kinds, roles } from './kinds.js';
import { artifactName, artifactRef, base64, contextId, contextPrefix, count, entryKey, formatName, name, runtimes, timestamp } from './scalars.js';

export const commitTypes = ['delta', 'compaction', 'snapshot'] as const;
export const checkpoints = ['turn_boundary', 'tool_call', 'compaction', 'session_end', 'explicit'] as const;
export const tiers = ['native', 'translated', 'rendered', 'raw'] as const;
export type CommitType = (typeof commitTypes)[number];
export type Checkpoint = (typeof checkpoints)[number];
export type Tier = (typeof tiers)[number];

const provenance = {
  template: name,
  principal: name.optional(),
  machine: name.optional(),
  sessionId: name.optional(),
  ticketId: name.optional(),
  threadId: name.optional(),
};
const summary = z.string().max(100_000);
const tags = z.array(name).max(1_000);

export const commit = z.object({
  id: contextId,
  parent: contextId.nullable(),
  type: z.enum(commitTypes),
  artifactRef,
  format: formatName,
  ...provenance,
  checkpoint: z.enum(checkpoints),
  summary: summary.optional(),
  tags,
  messageCount: count,
  tokenCount: count,
  createdAt: timestamp,
});
export type Commit = z.output<typeof commit>;

/** Where a walk towards the root ends (decisions, rules 3 to 5). */
export const stop = z.union([z.enum(['compaction', 'root']), contextPrefix]);
export type Stop = z.output<typeof stop>;

/** What the asked format could not take along: the first thousand by entry, most telling first, and how much of each in all. */
export const lost = {
  losses: z.array(z.object({ entry: entryKey, what: z.string() })),
  lossCounts: z.array(z.object({ what: z.string(), count })),
};

export const edit = z.object({
  op: z.enum(['drop', 'replace', 'insert', 'append']),
  /** The entry that is dropped or replaced; for `insert` the entry before which it goes; `append` has none. */
  key: entryKey.optional(),
  entry: entryDraft.optional(),
});
export type Edit = z.output<typeof edit>;

/** What a row of the chain view shows beside the commit itself. */
export const graphRow = z.object({
  commit,
  lane: count,
  edges: z.array(z.object({ fromLane: count, toLane: count })),
  /** The number of the lanes that are in use at this row. */
  width: count,
  depth: count,
  children: count,
  /** Tokens of the whole context at this commit, as the model had it. */
  contextTokens: count,
  /** Only for a compaction: the tokens of the context that it replaced. */
  replacedTokens: count.optional(),
  /** The commit was made in Stemma, by a fork or an edit. */
  forked: z.boolean(),
  /** The chain is that of a subagent, which this call started. */
  startedBy: z.object({ commit: contextId, toolCallId: z.string() }).optional(),
  /** Tips have names: the session's title, else its first prompt. */
  tipOf: z.string().optional(),
  errors: count,
});
export type GraphRow = z.output<typeof graphRow>;

/** One entry as the token bar and the list need it before its text is read. */
export const outlineRow = z.object({
  key: entryKey,
  role: z.enum(roles),
  kind: z.enum(kinds),
  tokens: count,
  commit: contextId,
  /** The beginning of the text: prompts for the outline, tool names for calls. */
  head: z.string().optional(),
  /** Of calls and results, so that the list sets the two as one block before either is read. */
  toolCallId: z.string().optional(),
  isError: z.boolean().optional(),
  /** Recorded by the runtime, never sent to the model: here only when asked for. */
  hidden: z.boolean().optional(),
});
export type OutlineRow = z.output<typeof outlineRow>;

/** Which entries of which context: `hidden` adds what the runtime recorded but never sent (events, errors, progress). */
const query = { id: contextPrefix, stop: stop.optional(), hidden: z.boolean().optional() };

const filter = z.object({
  template: z.string().optional(),
  principal: z.string().optional(),
  sessionId: z.string().optional(),
  ticketId: z.string().optional(),
});

export const hunk = z.object({ op: z.enum(['same', 'added', 'removed', 'changed']), aStart: count, aCount: count, bStart: count, bCount: count });
export type Hunk = z.output<typeof hunk>;

/** Entries in a row that both sides have, each at another place: the hunks call them removed and added. */
const moved = z.object({ aStart: count, bStart: count, count });
export type Moved = z.output<typeof moved>;

const contextDiff = z.object({
  /** The last commit that both stand on; null where they share none. */
  base: contextId.nullable(),
  same: count,
  added: count,
  removed: count,
  changed: count,
  tokens: z.object({ a: count, b: count }),
  hunks: z.array(hunk),
  moved: z.array(moved),
});
export type ContextDiff = z.output<typeof contextDiff>;

/** A part that one of two values has, or both with other content. */
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
/** `skipped`: commits whose content could not be read, or has no words. */
const summarizeResult = z.object({ summarized: count, skipped: z.array(z.object({ id: contextId, reason: z.string() })) });
export type SummarizeResult = z.output<typeof summarizeResult>;

export const contextContract = {
  checkpoint: oc
    .input(
      z.object({
        parent: contextPrefix.nullable(),
        type: z.enum(commitTypes),
        format: formatName,
        artifactRef: artifactName.optional(),
        data: base64.optional(),
        text: z.string().optional(),
        ...provenance,
        checkpoint: z.enum(checkpoints),
        summary: summary.optional(),
        tags: tags.optional(),
        messageCount: count.optional(),
        tokenCount: count.optional(),
        createdAt: timestamp.optional(),
      }),
    )
    .output(commit),
  materialize: oc
    .input(
      z.object({
        id: contextPrefix.nullable(),
        format: formatName.optional(),
        stop: stop.optional(),
        /** Only for `narrative`: the most that the account may take. */
        maxTokens: z.number().int().min(1).max(100_000_000).optional(),
      }),
    )
    .output(
      z.object({
        artifactRef,
        format: formatName,
        contentType: z.string(),
        tier: z.enum(tiers),
        messageCount: count,
        tokenCount: count,
        cached: z.boolean(),
        commits: z.array(contextId),
        ...lost,
        /** Of tier `raw` in the stored format: what can be said of content that is not read here. */
        description: z.string().optional(),
      }),
    ),
  resolve: oc.input(z.object({ principal: name, at: timestamp })).output(z.object({ id: contextId.nullable(), at: timestamp.nullable() })),
  show: oc.input(z.object({ id: contextPrefix })).output(commit.extend({ children: z.array(contextId), depth: count })),
  history: oc.input(z.object({ id: contextPrefix, depth: count.optional() })).output(z.array(commit)),
  update: oc.input(z.strictObject({ id: contextPrefix, summary: summary.optional(), tags: tags.optional() })).output(commit),
  tips: oc.input(filter).output(z.array(commit)),
  graph: oc
    .input(z.object({ filter: filter.optional(), offset: count, limit: z.number().int().min(1).max(5_000) }))
    .output(z.object({ total: count, rows: z.array(graphRow) })),
  entries: oc
    .input(z.object({ ...query, offset: count.optional(), limit: z.number().int().min(1).max(10_000).optional() }))
    .output(z.object({ total: count, entries: z.array(entry) })),
  /** Every entry of a context without its content: for the token bar, the outline and the list's heights. */
  outline: oc.input(z.object(query)).output(z.object({ total: count, tokens: count, rows: z.array(outlineRow) })),
  /** Positions of the entries whose text, call or result holds the words, without regard to case. */
  find: oc.input(z.object({ ...query, text: z.string().min(1).max(400) })).output(z.object({ hits: z.array(count) })),
  fork: oc
    .input(
      z.object({
        id: contextPrefix.nullable(),
        at: entryKey.optional(),
        edits: z.array(edit).max(10_000).optional(),
        template: name.optional(),
        principal: name.optional(),
        summary: summary.optional(),
      }),
    )
    .output(commit),
  compact: oc.input(z.object({ id: contextPrefix, summary: z.string().min(1).max(1_000_000) })).output(commit),
  snapshot: oc.input(z.object({ id: contextPrefix, stop: stop.optional() })).output(commit),
  /**
   * Summaries for these commits, or for all that have none: of their own words, or by a model of the provider. Streams how
   * far it is; a call that is ended early has done whole commits, and the next goes on.
   */
  summarize: oc
    .input(
      z
        .object({
          ids: z.array(contextPrefix).min(1).max(100_000).optional(),
          missing: z.literal(true).optional(),
          provider: name.optional(),
          model: name.optional(),
          /** Calls of the model in a minute. */
          perMinute: z.number().min(0.1).max(100_000).optional(),
        })
        .refine(({ ids, missing }) => (ids === undefined) !== (missing === undefined), {
          path: ['ids'],
          message: 'either ids or missing: true says which commits',
        }),
    )
    .output(eventIterator(summarizeProgress, summarizeResult)),
  diff: oc.input(z.object({ a: contextPrefix, b: contextPrefix, stop: stop.optional() })).output(contextDiff),
  /**
   * What differs between calls of tools, by the structure of their arguments: each pair an entry of `a` and one of `b`, by their places.
   * In the order of the pairs; of entries that are no calls there are no fields.
   */
  diffCalls: oc
    .input(
      z.object({
        a: contextPrefix,
        b: contextPrefix,
        stop: stop.optional(),
        pairs: z
          .array(z.object({ a: count, b: count }))
          .min(1)
          .max(1_000),
      }),
    )
    .output(z.array(z.object({ a: count, b: count, fields: z.array(fieldChange) }))),
};

export const redactionKinds = ['secret', 'path', 'email'] as const;

/** What an export is for: to be read, to be resumed by an agent, or to be read by a program. */
export const exportUses = ['people', 'agents', 'programs'] as const;
export type ExportUse = (typeof exportUses)[number];

export const exportFormat = z.object({
  format: formatName,
  name: z.string(),
  what: z.string(),
  use: z.enum(exportUses),
  extension: z.string(),
  contentType: z.string(),
  tier: z.enum(tiers),
  /** Whether what is secret can be taken out of it. */
  redacts: z.boolean(),
  lossCounts: lost.lossCounts,
});
export type ExportFormat = z.output<typeof exportFormat>;

export const exportContract = {
  /** Every form that this context can leave as, and what each has no place for. */
  formats: oc.input(z.object({ id: contextPrefix, stop: stop.optional() })).output(z.array(exportFormat)),
  context: oc
    .input(
      z.object({
        id: contextPrefix,
        stop: stop.optional(),
        format: formatName,
        path: z.string().min(1).optional(),
        /** Secrets, homes of people in paths and e-mail addresses are replaced by placeholders, each by its own. */
        redact: z.boolean().optional(),
        /** Nothing is written and no content returned: only what the export would be. */
        dryRun: z.boolean().optional(),
      }),
    )
    .output(
      z.object({
        path: z.string().optional(),
        text: z.string().optional(),
        data: base64.optional(),
        bytes: count,
        format: formatName,
        tier: z.enum(tiers),
        /** With `redact`: what was replaced, and how often. */
        redactions: z.array(z.object({ placeholder: z.string(), kind: z.enum(redactionKinds), count })).optional(),
        ...lost,
      }),
    ),
  /**
   * A comparison of contexts as Markdown: two in full, each entry that differs with what changed in it, or up to 16 side by side. Without
   * a path it is returned as text; nothing is ever written over a file.
   */
  comparison: oc
    .input(z.object({ ids: z.array(contextPrefix).min(2).max(16), stop: stop.optional(), path: z.string().min(1).optional() }))
    .output(z.object({ path: z.string().optional(), text: z.string().optional(), bytes: count })),
  /**
   * Writes the context where an agent looks for its sessions, and says the command that resumes it. Without `agent` it is the one that
   * wrote the context; where none did, Claude Code. Never overwrites a file.
   */
  resume: oc
    .input(z.object({ id: contextPrefix, agent: z.enum(runtimes).optional(), cwd: z.string().min(1).optional() }))
    .output(z.object({ agent: z.enum(runtimes), path: z.string(), cwd: z.string(), sessionId: z.string(), command: z.string() })),
};
