import { commit } from './context.js';
import { contextId, contextPrefix, count, damaged, entryKey, flag, inOrder, line, list, name, procedure, timestamp, upTo } from './scalars.js';
import { money } from './usage.js';
import * as z from './z.js';

const tags = list(name, 100);

/** A session of an agent, regardless of the number of imported files or checkpoints. */
export const session = z.object({
  /** The agent's own id of the session. For a subagent without an id, the id of its first commit. */
  sessionId: z.string(),
  agent: z.string(),
  /** Set if a person's own mapping read the session. Such a mapping counts as experimental, because Stemma was never tested with it. */
  hasOwnMapping: z.literal(true).optional(),
  /** The title that `session.rename` set, else the agent's own title, else the first prompt that a person typed. */
  title: z.string(),
  /** The working directory. */
  repository: z.string().nullable(),
  lastAt: timestamp,
  /** Turns of the main branch. */
  turns: count,
  branches: count,
  /** The largest input that a provider counted; null is "not recorded". */
  peakTokens: count.nullable(),
  /** The window of the model; null for an unknown model. */
  limit: count.nullable(),
  /** The price of the calls, subagents included; null is "no price". */
  cost: money.nullable(),
  /** Set if some content is only on the hub. The calls are then not counted: `peakTokens`, `limit` and `cost` are null. */
  isOnHub: z.literal(true).optional(),
  /** What the agent wrote as the sum of its calls, where their sum differs: tokens, or US dollars where it wrote only a cost. */
  drift: z.object({ recorded: z.number(), counted: z.number(), unit: z.enum(['tokens', 'USD']) }).optional(),
  errors: count,
  /** True while live capture sees the agent work on it. */
  live: z.boolean(),
  parentSessionId: z.string().optional(),
  /** The kind of a subagent, such as `Explore`. */
  subagent: z.string().optional(),
  /** The number of imported files. */
  sources: count,
  /**
   * The session that this one goes on from: `recorded` by its agent (a plan that was accepted with a cleared context, a file that goes on in another
   * one), or `cleared`, the last one in the folder before a session that begins with `/clear`.
   */
  continues: z.object({ sessionId: z.string(), how: z.enum(['recorded', 'cleared']) }).optional(),
  /** The ids of the sessions in which agents continued this session after *Resume*. */
  continuedAs: z.array(z.string()),
  /** The ends of its branches, newest first. */
  tips: z.array(contextId),
  models: z.array(z.string()),
  pinned: z.boolean(),
  archived: z.boolean(),
  tags,
  damaged,
});
export type SessionRow = z.output<typeof session>;

export const sessionSorts = ['lastAt', 'title', 'agent', 'repository', 'turns', 'branches', 'peakTokens', 'cost', 'errors'] as const;
export type SessionSort = (typeof sessionSorts)[number];

const filter = inOrder(
  z.strictObject({
    text: line.optional().describe('Only sessions whose title, repository, tags or id contain this text.'),
    agent: line.optional().describe('Only sessions of this agent, such as `claude-code`.'),
    repository: line.optional().describe('Only sessions in this working directory.'),
    model: line.optional().describe('Only sessions with calls of this model.'),
    from: timestamp.optional().describe('Only sessions that were active at or after this time.'),
    to: timestamp.optional().describe('Only sessions that were active before this time.'),
    tag: line.optional().describe('Only sessions with this tag.'),
    pinned: flag('True for pinned sessions only, false for unpinned sessions only.'),
    archived: flag('True for archived sessions only. The default is sessions that are not archived.'),
  }),
).describe('Which sessions to list. Subagents are listed with the session that started them.');

const sessionId = name.describe('The session, as `session.list` names it.');
const branch = { commit: contextPrefix.describe('A commit of the branch, such as its end.') };

/** The turns that the place of a commit lists around it, and the most in a page. */
export const nearTurns = 200;
export const maxTurns = 5_000;

/** Where a commit is: its session, its branch and its turn, with their siblings. */
const place = z.object({
  sessionId: z.string().nullable(),
  title: z.string().nullable(),
  agent: z.string().nullable(),
  repository: z.string().nullable(),
  parentSessionId: z.string().optional(),
  branch: z.object({ tip: contextId, title: z.string(), main: z.boolean(), named: z.boolean() }),
  branches: z.array(z.object({ tip: contextId, title: z.string(), main: z.boolean(), archived: z.boolean() })),
  turn: z.object({ number: count, of: count }).nullable(),
  /** The number of turns of the branch. */
  turnCount: count,
  /** What became of a fork, of a context that an agent was asked to continue, or of what the agent wrote then; null for another commit. */
  handed: z
    .object({
      /** The agents that were asked to continue the commit and have written nothing. */
      waiting: count,
      /** How the commit ends: with a reply, with a prompt, or in the middle of the work with tools. */
      ends: z.enum(['reply', 'prompt', 'work']),
      /** True if a file that was written for an agent is gone. */
      fileGone: z.boolean(),
    })
    .nullable(),
  /** A page of the turns of the branch, first to last. Without a page in the input, the turns around the commit. */
  turns: z.array(
    z.object({
      commit: contextId,
      number: count,
      title: z.string(),
      /** The commits of the turn before `commit`: the prompt that was edited here, and parts of its answer. */
      parts: z.array(contextId).optional(),
    }),
  ),
});
export type CommitPlace = z.output<typeof place>;

const branchState = z.object({ commit: contextId, title: z.string(), archived: z.boolean(), deleted: z.boolean(), commits: count });

/** What a model's API would refuse in a context. */
export const problemKinds = [
  'orphan_result',
  'unanswered_call',
  'empty_thinking',
  'unsigned_thinking',
  'empty_text',
  'lone_surrogate',
  'nul',
  'large_image',
  'torn_line',
  'broken_parent',
] as const;
export type SessionProblemKind = (typeof problemKinds)[number];

const problem = z.object({
  kind: z.enum(problemKinds),
  key: entryKey.optional(),
  message: z.string(),
  /** What a repair does; null if it can do nothing. */
  fix: z.string().nullable(),
});
export type SessionProblem = z.output<typeof problem>;

/** One change of a repair. `after` is null for an entry that is left out. */
const change = z.object({ key: entryKey, kind: z.enum(problemKinds), before: z.string(), after: z.string().nullable() });
export type SessionChange = z.output<typeof change>;

export const sessionContract = {
  diagnose: procedure(
    'Says what a model’s API would refuse in the latest branch of a session: orphan results, unanswered calls, empty texts and others.',
    z
      .strictObject({
        sessionId: name.optional().describe('The session, as `session.list` names it.'),
        path: line.optional().describe('An imported file, in place of the session.'),
      })
      .refine(({ sessionId, path }) => (sessionId === undefined) !== (path === undefined), {
        error: 'give either the sessionId or the path of an imported file',
        path: ['sessionId'],
      }),
  ).returns({ problems: z.array(problem) }),
  repair: procedure(
    'Makes a fork of the latest branch of a session with only the edits that its agent and a model’s API need. The original stays as it is.',
    {
      sessionId,
      kinds: list(z.enum(problemKinds), problemKinds.length).optional().describe('Only problems of these kinds. The default is all.'),
      principal: name.optional().describe('In whose name the fork is made. The default is the person at this machine.'),
      dryRun: flag('True to see the changes and make no fork.'),
    },
  ).returns({ commit: commit.nullable(), changes: z.array(change) }),
  list: procedure('Lists the sessions of the project, most recently active first. Subagents follow the session that started them.', {
    filter: filter.optional(),
    sort: z.enum(sessionSorts).optional().describe('What to sort by. The default is the last activity. Pinned sessions come first.'),
    ascending: flag('Ascending order: smallest or earliest first. The default is descending, except for titles, agents and repositories.'),
    offset: count.optional().describe('The number of rows to skip.'),
    limit: upTo(100_000).optional().describe('The most rows. The default is all.'),
  }).returns({ total: count, sessions: z.array(session) }),
  place: procedure('Returns where a commit is: its session, branch and turn, each with its siblings.', {
    id: contextPrefix,
    session: sessionId
      .optional()
      .describe('The session to return if several sessions contain the commit. The default is the session that was imported first.'),
    turns: z
      .strictObject({ offset: count.describe('How many turns to skip.'), limit: z.int().min(1).max(maxTurns).describe('The most turns.') })
      .optional()
      .describe(`Which turns of the branch to list. The default is ${nearTurns} around the commit.`),
  }).returns(place),
  rename: procedure('Sets the title of a session, or removes the title that was set here.', {
    sessionId,
    title: z.string().trim().min(1).max(300).nullable().describe("The title, or null for the agent's own."),
  }).returns(session),
  archive: procedure('Archives a session: lists and the chain omit it unless archived sessions are requested.', {
    sessionId,
    archived: z.boolean().default(true).describe('False brings it back.'),
  }).returns(session),
  pin: procedure('Pins a session to the top of the list.', { sessionId, pinned: z.boolean().default(true).describe('False unpins it.') }).returns(
    session,
  ),
  tag: procedure('Sets the tags of a session.', { sessionId, tags: tags.describe('The tags, in place of the present ones.') }).returns(session),
  delete: procedure(
    "Deletes a session from the project with its subagents and branches. The agent's own file is never touched. The content stays in the project, and `deleted: false` restores the session.",
    { sessionId, deleted: z.boolean().default(true).describe('False brings it back.') },
  ).returns({ sessionId: z.string(), title: z.string(), deleted: z.boolean(), commits: count }),
};

export const branchContract = {
  rename: procedure('Sets or removes the name of a branch.', {
    ...branch,
    title: z.string().trim().min(1).max(300).nullable().describe('The name. Null removes it.'),
  }).returns(branchState),
  archive: procedure('Archives a branch: the chain omits it unless archived branches are requested.', {
    ...branch,
    archived: z.boolean().default(true).describe('False brings it back.'),
  }).returns(branchState),
  delete: procedure(
    'Deletes a branch and the branches that start from it. To delete the main branch of a session, delete the session. The content stays in the project, and `deleted: false` restores the branch.',
    { ...branch, deleted: z.boolean().default(true).describe('False brings it back.') },
  ).returns(branchState),
};
