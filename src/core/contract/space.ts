import { droppedLayer } from './compose.js';
import { message } from './handover.js';
import { previewAs, previewBody, previewOf } from './request.js';
import { contextId, count, damaged, flag, list, longestSeconds, procedure, timestamp, upTo } from './scalars.js';
import { budget, entityTypes, eventContext, goal, goals, id, memory, messageOrigin, person, plan, resume, trigger, words } from './timeline.js';
import * as z from './z.js';

const entity = z.object({ entityId: id, name: words, type: z.enum(entityTypes), createdAt: timestamp, damaged });
export type Entity = z.output<typeof entity>;

const space = z.object({
  spaceId: id,
  name: words.nullable(),
  createdAt: timestamp,
  members: z.array(entity),
  messages: count,
  lastMessageAt: timestamp.nullable(),
  damaged,
});
export type Space = z.output<typeof space>;

const membership = z.object({
  spaceId: id,
  entityId: id,
  joinedAt: timestamp,
  /** The newest message that the agent has processed. Changes only when a run of the agent completes. */
  lastProcessedMessageId: id.nullable(),
  /** The newest message that the human has read. Changes only by a read receipt. */
  lastSeenMessageId: id.nullable(),
});
export type Membership = z.output<typeof membership>;

const spaceMessage = z.object({
  messageId: id,
  spaceId: id,
  seq: count,
  at: timestamp,
  sender: person.extend({ damaged }),
  text: words,
  replyTo: id.nullable(),
  expectsReply: z.boolean(),
  chainDepth: count,
  origin: messageOrigin.nullable(),
  runId: id.nullable(),
  damaged,
});
export type SpaceMessage = z.output<typeof spaceMessage>;

/** A wait that a message started. It ends with the answer or after its time limit. */
const messageWait = z.object({
  messageId: id,
  spaceId: id,
  /** The entity that waits. */
  waiterId: id,
  /** The only sender whose message ends the wait; null if a reply or a message of any person ends it. */
  for: words.nullable(),
  until: timestamp,
  endedAt: timestamp.nullable(),
  /** The message that ended the wait. */
  answer: id.nullable(),
  damaged,
});
export type MessageWait = z.output<typeof messageWait>;

const waitFor = z
  .strictObject({
    for: words
      .optional()
      .describe('The member whose next message ends the wait, by id or name. Without it, a reply or a message of any person ends the wait.'),
    timeoutMs: count
      .max(longestSeconds * 1_000)
      .optional()
      .describe('The longest wait in milliseconds. The default is 5 minutes.'),
  })
  .describe('Wait for an answer.');

export const runStatuses = ['running', 'waiting_reply', 'completed', 'failed', 'canceled'] as const;
export type RunStatus = (typeof runStatuses)[number];

const run = z.object({
  runId: id,
  entityId: id,
  status: z.enum(runStatuses),
  trigger,
  chainDepth: count,
  activeSpaceId: id.nullable(),
  createdAt: timestamp,
  /** When the agent was last called: at the start, or when a wait ended. Its timeline shows the state at this moment. */
  invokedAt: timestamp,
  endedAt: timestamp.nullable(),
  /** The message whose answer the run waits for, and the deadline. */
  waiting: z.object({ messageId: id, spaceId: id, for: words.nullable(), until: timestamp }).nullable(),
  /** How the last wait of the run ended. */
  resumed: resume.nullable(),
  /** The run's context, stored as a commit when it ended. */
  contextId: contextId.nullable(),
  damaged,
});
export type Run = z.output<typeof run>;

/** For a member of the space: whether a message would start a run, or the reason why not. */
const triggered = z.object({
  entityId: id,
  name: words,
  runs: z.boolean(),
  code: z
    .enum(['starts', 'sender', 'no-agent', 'resumes', 'limit'])
    .describe(
      'starts: a run begins. resumes: a run that waits in this space continues instead. sender: the member wrote the message. no-agent: the member is not an agent. limit: agents have answered each other as often as allowed.',
    ),
  reason: z.string().describe('The same as a sentence.'),
});
export type Triggered = z.output<typeof triggered>;

/** A model call as it is sent. */
export const shownCall = z.object({
  messages: z.array(message),
  /** The layer of each message. */
  layers: z.array(z.string()),
  tools: z.array(z.record(z.string(), z.unknown())).nullable(),
  parameters: z.record(z.string(), z.unknown()),
  /** The layers that are not sent, with the reason. */
  dropped: z.array(droppedLayer),
  body: previewBody,
});

/** The event context of a run, and its next model call. */
const nextCall = shownCall.extend(eventContext);

const spaceId = id.describe('The id of the space.');
const entityId = id.describe('The id of the entity.');
const senderId = id.describe('Who sends the message.');
const runId = id.describe('The id of the run.');
const text = words.min(1).describe('The text of the message.');
const replyTo = id
  .optional()
  .describe('The message that this message replies to: its id, with or without its prefix, or a unique beginning of the id.');
const messageLimit = upTo(10_000).optional().describe('The most messages to return.');

export const spaceContract = {
  addEntity: procedure('Adds a human, an agent or a service that can join spaces.', {
    entityId: entityId.optional().describe('The id of the entity. Without it, Stemma makes one.'),
    name: words.min(1).describe('The display name.'),
    type: z.enum(entityTypes).describe('Who it is.'),
  }).returns(entity),
  entities: procedure('Lists the entities.').returns(z.array(entity)),
  create: procedure('Creates a space with its members.', {
    spaceId: spaceId.optional().describe('The id of the space. Without it, Stemma makes one.'),
    name: words.nullable().optional().describe('The display name.'),
    members: list(id, 1_000).describe('The ids of the members.'),
  }).returns(space),
  join: procedure('Adds an entity to a space.', { spaceId, entityId }).returns(membership),
  leave: procedure('Removes an entity from a space.', { spaceId, entityId }).returns(space),
  list: procedure('Lists the spaces, or those of an entity with the number of its unread messages.', { entityId: entityId.optional() }).returns(
    z.array(space.extend({ unread: count })),
  ),
  get: procedure('Returns a space with its members.', { spaceId }).returns(space.extend({ memberships: z.array(membership) })),
  messages: procedure('Lists messages of a space, oldest first: the newest, or the newest before a position.', {
    spaceId,
    before: count.optional().describe('Only messages before this position.'),
    limit: messageLimit,
  }).returns({ total: count, messages: z.array(spaceMessage) }),
  lines: procedure('Returns the newest messages of a space as lines of its history, with what a member has seen.', {
    spaceId,
    entityId,
    limit: messageLimit,
  }).returns({ lines: z.array(z.string()) }),
  wouldTrigger: procedure('Says for each member whether a message would start a run, and why not. Posts nothing.', {
    spaceId,
    senderId,
    runId: runId.optional().describe('The run that would send it.'),
    replyTo,
  }).returns(z.array(triggered)),
  post: procedure('Posts a message of a human, of a service, or of an agent outside of a run. Starts a run for every other agent in the space.', {
    spaceId,
    senderId,
    text,
    replyTo,
    expectsReply: flag('Whether the sender expects a reply. The default is true with `wait`.'),
    wait: z.union([waitFor, z.boolean()]).optional().describe('Wait for an answer. `space.wait` returns the answer.'),
  }).returns({ message: spaceMessage, started: z.array(run), resumed: z.array(run), waiting: messageWait.optional() }),
  wait: procedure('Returns the wait that a message started, and the message that ended it.', {
    messageId: id.describe('The message that started the wait.'),
  }).returns(messageWait),
  waits: procedure(
    'Lists the waits that no message has ended yet, oldest first, each with its space, the entity that waits, the awaited sender and the deadline.',
    {
      spaceId: spaceId.optional().describe('Only waits in this space.'),
      entityId: entityId.optional().describe('Only waits of this member.'),
    },
  ).returns(z.array(messageWait)),
  read: procedure(
    { method: 'POST', path: '/spaces/{spaceId}/read', description: 'Records what a human has read in a space. The mark never moves backward.' },
    {
      spaceId,
      entityId: entityId.optional().describe('The human. The default is the only one in the space.'),
      lastMessageId: id.describe('The newest message that was read.'),
    },
  ).returns({ membership, unread: count, dividerBefore: id.nullable() }),
};

const goalRow = goal.extend({ goalId: id });
const memoryRow = memory.extend({ memoryId: id });
const planRow = plan.extend({ planId: id, instruction: words });

const agentId = id.describe('The agent.');
const currentSpace = spaceId.optional().describe("The space. The default is the space that the run's agent is in.");

export const runContract = {
  list: procedure('Lists runs of agents, newest first.', {
    entityId: entityId.optional().describe('Only runs of this agent.'),
    status: z.enum(runStatuses).optional().describe('Only runs with this status.'),
  }).returns(z.array(run)),
  get: procedure('Returns a run.', { runId }).returns(run),
  timeline: procedure("Returns the event context that the run's agent reads now.", {
    runId,
    budget: budget.optional(),
    ...previewOf,
    ...previewAs,
  }).returns(nextCall),
  preview: procedure(
    'Returns the next call of an agent in a space: that of its run that is to be performed, else the one that a message of another member would start. Starts nothing.',
    {
      spaceId,
      entityId: id.describe('The agent.'),
      messageId: id.optional().describe('The message. The default is the newest that can start a run of the agent.'),
      budget: budget.optional(),
      ...previewOf,
      ...previewAs,
    },
  ).returns(
    nextCall.extend({
      runId: id.nullable().describe('The run whose call this is, or null if no run is to be performed.'),
      note: z.string().nullable().describe('Why nothing starts this call now, if no run is to be performed.'),
    }),
  ),
  start: procedure('Starts a run for a plan or a service.', {
    entityId: id.describe('The agent.'),
    trigger: trigger.describe('What starts the run.'),
  }).returns(run),
  enterSpace: procedure("Changes the space that a run's agent is in.", { runId, spaceId }).returns(run),
  send: procedure("Sends a message of the run's agent. With `wait`, the run pauses until somebody answers.", {
    runId,
    spaceId: currentSpace,
    text,
    replyTo,
    wait: z.union([waitFor, z.boolean()]).optional().describe('Pause the run until the answer comes.'),
  }).returns({ message: spaceMessage, run, started: z.array(run), resumed: z.array(run), waiting: messageWait.optional() }),
  read: procedure('Returns messages of a space, newest last. The run counts them as seen.', {
    runId,
    spaceId: currentSpace,
    limit: messageLimit,
  }).returns({ messages: z.array(spaceMessage), lines: z.array(z.string()).describe('The messages as lines of a space history.') }),
  tick: procedure('Ends waits that timed out and starts plans that are due. The program that runs the agents calls it regularly.').returns({
    started: z.array(run),
    resumed: z.array(run),
  }),
  finish: procedure(
    'Ends a run. If it completed, marks the messages that it has seen as processed by the agent, and stores its context as a commit.',
    {
      runId,
      status: z.enum(['completed', 'failed', 'canceled']).describe('How the run ended.'),
      output: words.optional().describe('What the agent said at the end.'),
    },
  ).returns(run),
  goals: procedure("Lists an agent's goals.", { entityId: agentId }).returns(z.array(goalRow)),
  setGoals: procedure("Replaces an agent's goals.", { entityId: agentId, goals }).returns(z.array(goalRow)),
  memories: procedure("Lists an agent's memories.", { entityId: agentId }).returns(z.array(memoryRow)),
  setMemory: procedure('Stores a memory, or deletes it if its content is null.', {
    entityId: agentId,
    topic: words.nullable().describe('The topic of the memory. A memory with the same topic is replaced; null adds a new memory.'),
    content: words.nullable().describe('The memory, or null to delete it.'),
    memoryId: id.optional().describe('The memory to replace or delete. Without it, the topic decides.'),
  }).returns(z.array(memoryRow)),
  plans: procedure("Lists an agent's plans.", { entityId: agentId }).returns(z.array(planRow)),
  setPlan: procedure(
    'Stores a plan, or deletes it if its instruction is null. A plan of the same name is replaced. A stored plan has exactly one of `cron`, `scheduledAt` and `runAfter`.',
    {
      entityId: agentId,
      name: words.min(1).describe('The name of the plan.'),
      instruction: words.nullable().describe('What the agent must do, or null to delete the plan.'),
      cron: words
        .optional()
        .describe('Run repeatedly, by a cron expression of five fields in UTC. With both day fields, either is enough; only a bare * means any day.'),
      scheduledAt: timestamp.optional().describe('Run once, at this time.'),
      runAfter: words.optional().describe('Run once, after a delay such as `2 hours`.'),
    },
  ).returns(z.array(planRow)),
};
