import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { requestTokens } from './request.js';
import { contextId, contextPrefix, count, name, procedure, timestamp } from './scalars.js';

export const jobStatuses = ['running', 'success', 'failed', 'stopped', 'limit', 'interrupted'] as const;
export type JobStatus = (typeof jobStatuses)[number];

const jobId = name.describe('The id of the job.');

/** What a job carries out. */
const work = z
  .union(
    [
      z.strictObject({ turnId: name.describe('A dispatched turn of an agent, by its `agentTurnId`.') }),
      z.strictObject({ commit: contextPrefix.describe('A context that ends with a message, which the performer answers.') }),
    ],
    { error: 'must have exactly one of turnId and commit' },
  )
  .describe('What to carry out.');
export type Work = z.output<typeof work>;

const performer = z
  .strictObject({
    provider: name.describe('The provider whose model answers, as `turn.providers` names it, or `recorded` for a commit.'),
    model: name.optional().describe('The model of the provider. The default is that of the profile or of the recorded call.'),
  })
  .describe('Who carries it out.');
export type Performer = z.output<typeof performer>;

export const runLimits = z
  .strictObject({
    calls: z.number().int().min(1).max(10_000).optional().describe('The most model calls. The default is 50.'),
    tokens: z.number().int().min(1).optional().describe('The most tokens, as the provider counts them, input and output together.'),
    cost: z.number().positive().optional().describe('The most cost in US dollars, where the provider reports it.'),
    minutes: z.number().positive().max(1_440).optional().describe('The longest time in minutes. The default is 30.'),
  })
  .describe('The limits of the job. It stops at the first that it reaches.');
export type RunLimits = z.output<typeof runLimits>;

const used = z.object({
  /** Model calls. */
  calls: count,
  /** Counted tokens of input and output; null if a call was not counted. */
  tokens: count.nullable(),
  /** In US dollars; null if a call reported none. */
  cost: z.number().nullable(),
});
export type Used = z.output<typeof used>;

export const job = z.object({
  jobId: name,
  what: work,
  performer,
  limits: runLimits,
  /** `interrupted`: its process ended before the job did. It can be started again. */
  status: z.enum(jobStatuses),
  used,
  /** Why it did not end with `success`. */
  error: z.string().nullable(),
  commits: z.array(contextId),
  startedAt: timestamp,
  endedAt: timestamp.nullable(),
});
export type Job = z.output<typeof job>;

/**
 * Something that happened in a job. `began`: the first event. `text` and `thinking`: a piece of a reply; the log has the whole. `call`: a tool call with its
 * arguments as JSON. `result`: the result of a tool call. `question`: a tool call that a person must answer, by `runner.answer`. `usage`:
 * what a model call used. `waiting`: the provider asks to retry later. `notice`: something else to know. `ended`: the last event.
 */
export const jobEvent = z.object({
  jobId: name,
  /** Its place in the job, from 0. The pieces of one text have the same number. */
  number: count,
  at: timestamp,
  kind: z.enum(['began', 'text', 'thinking', 'call', 'result', 'question', 'usage', 'waiting', 'notice', 'ended']),
  text: z.string(),
  toolName: z.string().optional(),
  requestId: z.string().optional(),
  tokens: requestTokens.optional(),
  status: z.enum(jobStatuses).optional(),
});
export type JobEvent = z.output<typeof jobEvent>;

const jobResult = z.object({ jobId: name, status: z.enum(jobStatuses), commits: z.array(contextId) });
export type JobResult = z.output<typeof jobResult>;

export const runnerContract = {
  start: procedure(
    "Carries out a turn or answers a context with a model and Stemma's own tools, within limits. Streams what happens. The job goes on when nobody reads the stream; `runner.stop` stops it. Two jobs never work for one agent at the same time.",
  )
    .input(z.strictObject({ what: work, performer, limits: runLimits.optional() }))
    .output(eventIterator(jobEvent, jobResult)),
  stop: procedure('Stops a job at once. What was finished stays, and the chain is valid.').input(z.strictObject({ jobId })).output(job),
  list: procedure('Lists the newest jobs of the project.')
    .input(z.strictObject({ status: z.enum(jobStatuses).optional().describe('Only jobs with this status.') }))
    .output(z.array(job)),
  log: procedure('Returns what happened in a job.')
    .input(
      z.strictObject({
        jobId,
        from: count.optional().describe('The first event, by its number. The default is 0.'),
        limit: z.number().int().min(1).max(10_000).optional().describe('The most events. The default is 1,000.'),
      }),
    )
    .output(z.object({ job, events: z.array(jobEvent) })),
  answer: procedure('Answers a question of a job: a call of a tool that Stemma does not have.')
    .input(
      z.strictObject({
        jobId,
        requestId: name.describe('The id of the question.'),
        allow: z.boolean().describe('False refuses the call.'),
        note: z.string().max(10_000_000).optional().describe('The result of the tool, or the reason of the refusal.'),
      }),
    )
    .output(job),
};
