import { contextId, contextPrefix, count, flag, name, procedure, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

const summarizerStatus = z.object({
  enabled: z.boolean(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  callsPerDay: count,
  perMinute: z.number(),
  callsToday: count,
  running: z.boolean(),
  /** The number of summaries written since the project was opened, and of commits without a summary. */
  summarized: count,
  missing: count,
  /** Why the filling stopped, such as a used budget. */
  problem: z.string().nullable(),
});

/** Procedures for the summaries and tags of commits, and for the agents that were started from a commit. `commit` is the schema of a commit. */
export const summaryProcedures = <Commit extends z.ZodType>(commit: Commit) => ({
  summaries: procedure('Lists commits with their summaries, oldest first, and counts the commits without a summary.', {
    missing: flag('Only commits that have no summary.'),
    offset: count.optional().describe('How many commits to skip.'),
    limit: upTo(5_000).optional().describe('The most commits to return. The default is 100.'),
  }).returns({ total: count, missing: count, commits: z.array(commit) }),
  summarizer: procedure('Returns whether missing summaries are filled while the project is idle, with its budget and its progress.').returns(
    summarizerStatus,
  ),
  setSummarizer: procedure('Turns the filling of missing summaries on or off, on this machine. Calls a provider only if one is named here.', {
    enabled: z.boolean().describe('Whether missing summaries are filled while the project is idle.'),
    provider: name.nullish().describe('The provider whose model writes the summaries. Without a provider, summaries are extracts.'),
    model: name.nullish().describe('The model of the provider.'),
    callsPerDay: upTo(1_000_000).optional().describe('The maximum number of model calls per day (UTC). The default is 200.'),
    perMinute: z.number().min(0.1).max(100_000).optional().describe('The maximum number of model calls per minute. The default is 10.'),
  }).returns(summarizerStatus),
  versions: procedure('Lists every change of the summary and the tags of a commit, oldest first.', { id: contextPrefix }).returns(
    z.array(
      z.object({
        at: timestamp,
        author: z.string().nullable(),
        summary: z.object({ from: z.string().nullable(), to: z.string().nullable() }),
        tags: z.object({ from: z.array(z.string()), to: z.array(z.string()) }),
      }),
    ),
  ),
  instantiations: procedure('Lists the starts of agents from a template and a context, newest first.', {
    id: contextPrefix.optional().describe('Only starts from this commit.'),
    template: name.optional().describe('Only starts of this template: of any version, or of the given version.'),
    limit: upTo(10_000).optional().describe('The most starts to return. The default is 1000.'),
  }).returns(
    z.array(
      z.object({
        at: timestamp,
        template: z.string(),
        context: contextId.nullable(),
        principal: z.string().nullable(),
        machine: z.string().nullable(),
      }),
    ),
  ),
});
