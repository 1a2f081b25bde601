import { eventIterator } from '@orpc/contract';
import { jobStatuses, permissionModes, runtimes } from './kinds.js';
import { requestTokens } from './request.js';
import { contextId, contextPrefix, count, damaged, flag, list, matching, name, procedure, received, text, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

const jobId = name.describe('The id of the job.');

/** The work of a job. */
const work = z
  .union(
    [
      z.strictObject({ turnId: name.describe('A dispatched turn of an agent, by its `agentTurnId`.') }),
      z.strictObject({ runId: name.describe('A run of an agent in a space, which is running.') }),
      z.strictObject({ eventId: z.number().int().describe('A start that a ticket requests, by its number in `ticket.events`.') }),
      z.strictObject({ commit: contextPrefix.describe('A context that ends with a message, which the performer answers.') }),
      z.strictObject({
        experimentId: name.describe('An experiment.'),
        caseId: name.describe('A case of the experiment. The job makes the missing replies of the case with its provider and model.'),
      }),
    ],
    { error: 'must have exactly one of turnId, runId, eventId, commit, and experimentId with caseId' },
  )
  .describe('What to carry out.');
export type Work = z.output<typeof work>;

const modelPerformer = z.strictObject({
  provider: name.describe('The provider whose model answers, as `turn.providers` names it, or `recorded` for a commit.'),
  model: name.optional().describe('The model of the provider. The default is that of the profile or of the recorded call.'),
});

const agentPerformer = z.strictObject({
  agent: z.enum(runtimes).describe('The command-line agent, as `runner.agents` names it.'),
  folder: z.string().min(1).max(10_000).describe('The folder in which the agent works: an absolute path.'),
  permissions: z
    .enum(permissionModes)
    .optional()
    .describe(
      'What the agent may do without asking. `default` asks before each change and command, `acceptEdits` changes files in its folder, `plan` only reads, `bypassPermissions` never asks. The default is `default`.',
    ),
  model: name.optional().describe('The model of the agent. The default is its own.'),
});
export type AgentPerformer = z.output<typeof agentPerformer>;

const performer = z
  .union([modelPerformer, agentPerformer], { error: 'must be a model ({provider, model?}) or an agent ({agent, folder, permissions?})' })
  .describe("Who does the work: a model with Stemma's own tools, or a command-line agent.");
export type Performer = z.output<typeof performer>;

export const runLimits = z
  .strictObject({
    calls: upTo(10_000).optional().describe('The most model calls. The default is 50.'),
    tokens: z.number().int().min(1).optional().describe('The most tokens, as the provider counts them, input and output together.'),
    cost: z.number().positive().optional().describe('The most cost in US dollars, as the provider reports it, else at list prices.'),
    minutes: z.number().positive().max(1_440).optional().describe('The longest time in minutes. The default is 30.'),
  })
  .describe('The limits of the job. It stops at the first limit that it reaches.');
export type RunLimits = z.output<typeof runLimits>;

/** The default limits of a job and of a policy. */
export const defaultLimits = { calls: 50, minutes: 30 } as const;
/** The default number of jobs that policies run at the same time. */
export const defaultParallel = 4;

const parallel = upTo(1_000).optional();
const rule = z
  .strictObject({
    for: z
      .union(
        [
          z.strictObject({ agent: name.describe('An agent, by its id, or the name of its profile: its dispatched turns start.') }),
          z.strictObject({ space: name.describe('A space: runs that its messages start or resume.') }),
          z.strictObject({ ticketType: name.describe('A type of ticket: the starts that tickets of this type request.') }),
          z.strictObject({ plan: name.describe('A plan, by its name: the runs that it starts when it is due.') }),
          z.strictObject({
            experiment: name.describe('An experiment, by its id or title: the cases that have not run yet with the provider of the rule.'),
          }),
        ],
        { error: 'must have exactly one of agent, space, ticketType, plan and experiment' },
      )
      .describe('The work that may start by itself.'),
    who: name.optional().describe('Apply the rule only to this agent of the space or this person of the ticket. The default is everyone.'),
    from: list(
      z.strictObject({
        name: name.describe('The sender, as the hub names them.'),
        isLink: flag('True for the holder of a share link with this name. The default is a member of the hub.'),
        hub: name.optional().describe('Only from this project on a hub, such as `https://hub.example/web-shop`.'),
      }),
      1_000,
    )
      .optional()
      .describe('Also start what these senders recorded on other machines. Without it, the rule covers only work of this machine.'),
    performer,
    limits: runLimits.optional(),
    parallel: parallel.describe('The most jobs of this rule at the same time.'),
    tools: list(name, 200).optional().describe('The tools of Stemma that a model is offered, by name. The default is all.'),
    otherTools: z
      .enum(['ask', 'stop'])
      .optional()
      .describe('What happens when a model calls a tool that Stemma does not have: `ask` a person (the default), or stop the job.'),
  })
  .refine(({ for: of, performer: by }) => !('experiment' in of && 'agent' in by), {
    path: ['performer'],
    error: 'must be a model ({provider, model?}) where the rule is for an experiment, because its cases name a provider',
  })
  .describe('A rule that allows work to start by itself.');
export type PolicyRule = z.output<typeof rule>;

const policy = z.strictObject({
  rules: list(rule, 1_000).describe(
    'The rules for work that may start by itself. The first matching rule decides; without a matching rule, nothing starts.',
  ),
  limits: runLimits.optional().describe('The limits of jobs whose rule has no limits. The default is 50 calls and 30 minutes.'),
  parallel: parallel.describe('The most jobs that all rules run at the same time. The default is 4.'),
  environment: list(
    matching(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'a variable has a name of letters, digits and underscores, such as DATABASE_URL', 200),
    200,
  )
    .optional()
    .describe(
      'Further variables of the environment that command-line agents and checks get, by name. Without it, they get those of the system and of their own provider.',
    ),
});
export type RunPolicy = z.output<typeof policy>;

/** A command-line agent that can be a performer, and its abilities. */
const agentAbility = z.object({
  agent: z.enum(runtimes),
  title: z.string(),
  /** Why it cannot run on this machine; null if it can. */
  problem: z.string().nullable(),
  /** Whether it resumes a context that Stemma exports. */
  resume: z.boolean(),
  /** Whether it asks for permissions, so that a person can answer. */
  permissions: z.boolean(),
  /** Whether Stemma's MCP server can be attached. */
  mcp: z.boolean(),
});
export type AgentAbility = z.output<typeof agentAbility>;

const used = z.object({
  /** Model calls. */
  calls: count,
  /** Counted tokens of input and output; null if a call was not counted. */
  tokens: count.nullable(),
  /** In US dollars, as reported or at list prices; null if no call has a known cost. */
  cost: z.number().nullable(),
});
export type Used = z.output<typeof used>;

export const job = z.object({
  damaged,
  jobId: name,
  what: work,
  performer,
  limits: runLimits,
  /** The subject of the work, such as an agent and its instruction. */
  title: z.string(),
  /** The agent, entity or person that the job works for; null for a commit. */
  who: z.string().nullable(),
  /** The name of that agent or entity, for people. */
  whoName: z.string().nullable(),
  /** The space and the ticket that the job belongs to. */
  space: z.string().nullable(),
  ticketId: z.string().nullable(),
  /** Whether a policy started it. */
  byPolicy: z.boolean(),
  /** Questions that wait for `runner.answer`. */
  questions: z.array(z.object({ requestId: z.string(), toolName: z.string(), arguments: z.string(), askedAt: timestamp })),
  /** `interrupted`: its process ended before the job did. It can be started again. */
  status: z.enum(jobStatuses),
  used,
  /** Why the job did not end with `success`. */
  error: z.string().nullable(),
  commits: z.array(contextId),
  startedAt: timestamp,
  endedAt: timestamp.nullable(),
});
export type Job = z.output<typeof job>;

/**
 * Something that happened in a job. `began`: the first event. `text` and `thinking`: a piece of a reply; the log has the whole. `call`: a tool call
 * with its arguments as JSON. `result`: the result of a tool call. `question`: a tool call or permission request that a person must answer, by
 * `runner.answer`. `usage`: the tokens of a model call. `waiting`: the provider asks to retry later. `notice`: any other information. `ended`: the
 * last event.
 */
export const jobEvent = z.object({
  jobId: name,
  /** The position of the event in the job, from 0. The pieces of one text have the same number. */
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

const tried = z.object({
  number: count,
  jobId: name,
  status: z.enum(jobStatuses),
  /** The tip of the try's branch; null if the try made no commit. */
  commit: contextId.nullable(),
  /** The folder in which the agent worked. Stemma removes it when the branch is deleted. */
  folder: z.string().nullable(),
  /** 1 if the check passed, 0 if it failed; null without a check. The commit has it as a tag too. */
  score: z.union([z.literal(0), z.literal(1)]).nullable(),
  /** The last part of the check's output. */
  output: z.string().nullable(),
});
export type Try = z.output<typeof tried>;

export const runnerContract = {
  start: procedure(
    "Carries out a turn, a run, a start of a ticket or a context, with a model and Stemma's own tools or with a command-line agent, within limits. Streams its events. The job continues when nobody reads the stream; `runner.stop` stops it. Two jobs never work for one agent at the same time.",
    {
      what: work,
      performer,
      limits: runLimits.optional(),
      otherTools: rule.shape.otherTools,
      tools: rule.shape.tools,
      enableShareContext: flag('Whether the shared context is sent. The default is the setting of the profile, else of the project.'),
    },
  ).returns(eventIterator(jobEvent, jobResult)),
  allow: procedure(
    'Allows work that another machine sent: it may then act here as if this machine had recorded it. `runner.start` allows what it starts.',
    { what: work },
  ).returns({ received: received.nullable() }),
  repeat: procedure(
    'Lets a performer answer a context several times: each try is a job and a branch. For each try, a command-line agent works in a Git worktree or a copy of its folder. Streams the events of all jobs. After the stream ends, no further try starts.',
    {
      commit: contextPrefix.describe('A context that ends with a message, which the performer answers.'),
      times: upTo(100).describe('The number of tries.'),
      performer,
      limits: runLimits.optional().describe('The limits of each try.'),
      parallel: parallel.describe('The most tries at the same time. The default is 4.'),
      check: text(10_000)
        .optional()
        .describe(
          'A command that checks each try. The shell runs it in the folder of the try with the last message as its standard input. Exit code 0 means passed.',
        ),
      otherTools: rule.shape.otherTools,
      tools: rule.shape.tools,
    },
  ).returns(eventIterator(jobEvent, z.object({ tries: z.array(tried) }))),
  stop: procedure('Stops a job at once. Finished commits stay, and the chain is valid.', { jobId }).returns(job),
  list: procedure('Lists the newest jobs of the project.', {
    status: z.enum(jobStatuses).optional().describe('Only jobs with this status.'),
  }).returns(z.array(job)),
  log: procedure('Returns the events of a job. The last event of a running job can be a text that still grows.', {
    jobId,
    from: count.optional().describe('The first event, by its number. The default is 0.'),
    limit: upTo(10_000).optional().describe('The most events. The default is 1,000.'),
  }).returns({ job, events: z.array(jobEvent) }),
  answer: procedure('Answers a question of a job: a permission request of an agent, or a call of a tool that Stemma does not have.', {
    jobId,
    requestId: name.describe('The id of the question.'),
    allow: z.boolean().describe('False refuses the call.'),
    note: z.string().max(10_000_000).optional().describe('The result of the tool, or the reason of the refusal.'),
  }).returns(job),
  agents: procedure('Lists the command-line agents that can carry out work, each with its abilities.').returns(z.array(agentAbility)),
  getPolicy: procedure('Returns the policy: the work that may start by itself in this project on this machine.').returns(policy),
  setPolicy: procedure(
    'Sets the policy: the work that may start by itself in this project, and its limits. The policy belongs to this machine and is not stored in the project. It applies while the app or `stemma serve` is open.',
    policy,
  ).returns(policy),
};
