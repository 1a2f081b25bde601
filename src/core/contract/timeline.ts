import { oc } from '@orpc/contract';
import { z } from 'zod';
import { contextId, contextPrefix, count, timestamp } from './scalars.js';

/** Who can be a member of a space and who can write into one. */
export const entityTypes = ['human', 'agent', 'service'] as const;
export type EntityType = (typeof entityTypes)[number];

const id = z.string().min(1).max(400);
/** Texts that stand in a line of a block. What would break the line is escaped when it is set. */
const words = z.string().max(1_000_000);

/** A sender or member. Without a name it is shown as `Unknown`. */
const person = z.object({ name: words.nullable(), type: z.enum(entityTypes), id });
export type Person = z.output<typeof person>;

const spaceName = z.object({ id, name: words.nullable() });

/** Why a run was started. */
const trigger = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('space_message'),
    space: spaceName,
    sender: person,
    message: words.nullable(),
    messageId: id,
    timestamp,
    senderExpectsReply: z.boolean().default(false),
    chainDepth: count.default(0),
  }),
  z.object({ type: z.literal('plan'), plan: spaceName, instruction: words.nullable(), scheduledAt: timestamp }),
  z.object({ type: z.literal('service'), service: words, payload: z.unknown() }),
]);
export type Trigger = z.output<typeof trigger>;

/** Why an agent wrote something into a space where nobody had asked it. */
const knownOrigin = z.discriminatedUnion('type', [
  z.object({ type: z.literal('space_message'), senderName: words.nullable(), message: words, spaceName: words }),
  z.object({ type: z.literal('plan'), planName: words }),
  z.object({ type: z.literal('service'), service: words }),
]);
export type MessageOrigin = z.output<typeof knownOrigin>;

/** A trigger is an origin too: its sender, space and plan are things with names there. */
const namesOf = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return given;
  const { type = 'space_message', sender, space, plan, text, ...rest } = given as Record<string, unknown>;
  const nameIn = (thing: unknown): unknown => (typeof thing === 'object' && thing !== null && 'name' in thing ? thing.name : thing);
  const names = { senderName: nameIn(sender), spaceName: nameIn(space), planName: nameIn(plan), message: text };
  return { type, ...Object.fromEntries(Object.entries(names).filter(([, name]) => name !== undefined)), ...rest };
};
const messageOrigin = z.preprocess(namesOf, knownOrigin);

const timelineMessage = z.object({
  id,
  /** Its place in the space, where one is known. */
  seq: z.number().int().optional(),
  at: timestamp,
  sender: person.nullable(),
  text: words.nullable(),
  origin: messageOrigin.optional(),
});
export type TimelineMessage = z.output<typeof timelineMessage>;

/** How a wait ended: by a reply, or by time. */
const resume = z.union([z.object({ replier: words }), z.object({ timeoutMs: count })]);
export type Resume = z.output<typeof resume>;

const history = z.object({
  space: spaceName,
  selfEntityId: id,
  messages: z.array(timelineMessage),
  /** The newest message that the agent's last completed run had before it. */
  lastProcessedMessageId: id.nullish(),
  /** Its place, which holds where the message itself is gone. */
  lastProcessedSeq: z.number().int().nullish(),
  triggerMessageId: id.nullish(),
  /** How many messages are shown: the newest, and always the trigger. */
  limit: z.number().int().min(1).optional(),
  /** What stands for the messages before the window. */
  summary: z.object({ text: words, messages: count }).optional(),
  resume: resume.optional(),
});
export type History = z.output<typeof history>;

/** The short form of the seed's waiting example: clock times, no ids. */
const briefHistory = z.object({
  style: z.literal('brief'),
  space: spaceName,
  entries: z.array(
    z.union([
      z.object({ clock: z.string(), toolCall: z.object({ name: words, text: words, wait: z.boolean().optional() }) }),
      z.object({ clock: z.string(), label: words, text: words.nullable() }),
    ]),
  ),
  resume: resume.optional(),
});
export type BriefHistory = z.output<typeof briefHistory>;

const identity = z.object({ name: words.nullable(), entityId: id });
export type Identity = z.output<typeof identity>;

const activeSpace = z.object({
  /** Absent: the space of the trigger, where it has one. */
  space: spaceName.nullish(),
  autoSetFromTrigger: z.boolean().optional(),
  trigger: trigger.optional(),
});
export type ActiveSpace = z.output<typeof activeSpace>;

const memberSpace = spaceName.extend({ members: z.array(person) });
export type MemberSpace = z.output<typeof memberSpace>;

const goal = z.object({ description: words, priority: z.number().optional(), longTerm: z.boolean().optional() });
export type Goal = z.output<typeof goal>;

const memory = z.object({ topic: words.nullish(), content: words, updatedAt: timestamp.optional() });
export type Memory = z.output<typeof memory>;

const plan = z.object({
  name: words,
  cron: words.nullish(),
  nextRunAt: timestamp.nullish(),
  scheduledAt: timestamp.nullish(),
  /** The delay as it was given, where the time was made from one. */
  runAfter: words.nullish(),
});
export type Plan = z.output<typeof plan>;

const activeRun = z.object({
  id,
  isCurrent: z.boolean().optional(),
  triggeredBy: words.nullish(),
  status: words.nullish(),
  space: words.nullish(),
  waitingFor: words.nullish(),
});
export type ActiveRun = z.output<typeof activeRun>;

const plansBlock = z.object({ now: timestamp, plans: z.array(plan) });
const spacesBlock = z.object({ selfEntityId: id, activeSpaceId: id.nullish(), spaces: z.array(memberSpace) });

/** One block and what it is made from. */
export const blockInput = z.discriminatedUnion('block', [
  z.object({ block: z.literal('identity'), input: identity.extend({ now: timestamp }) }),
  z.object({ block: z.literal('trigger'), input: trigger }),
  z.object({ block: z.literal('activeSpace'), input: activeSpace }),
  z.object({ block: z.literal('history'), input: z.union([briefHistory, history]) }),
  z.object({ block: z.literal('crossSpace'), input: z.object({ at: timestamp, origin: messageOrigin, text: words.nullable() }) }),
  z.object({ block: z.literal('spaces'), input: spacesBlock }),
  z.object({ block: z.literal('goals'), input: z.object({ goals: z.array(goal) }) }),
  z.object({ block: z.literal('memories'), input: z.object({ memories: z.array(memory) }) }),
  z.object({ block: z.literal('plans'), input: plansBlock }),
  z.object({ block: z.literal('activeRuns'), input: z.object({ runs: z.array(activeRun) }) }),
  z.object({
    block: z.literal('agentContext'),
    input: z.object({ goals: z.array(goal), memories: z.array(memory), plans: plansBlock, runs: z.array(activeRun) }),
  }),
  z.object({ block: z.literal('instructions'), input: z.object({ variant: z.enum(['space_message', 'plan', 'service']) }) }),
]);
export type BlockInput = z.output<typeof blockInput>;

/** A list, or the same list as its block's own input has it. */
const listOr = <Item extends z.ZodType, Key extends string>(item: Item, key: Key) =>
  z.union([z.array(item), z.looseObject({ [key]: z.array(item) }).transform((input) => input[key] as z.output<Item>[])]);

export const timelineInput = z.object({
  identity,
  trigger,
  activeSpace: activeSpace.nullish(),
  spaces: listOr(memberSpace, 'spaces'),
  /** Only runs that a message started have one; it is left out for others. */
  history: history.partial({ space: true, selfEntityId: true }).nullish(),
  goals: listOr(goal, 'goals').optional(),
  memories: listOr(memory, 'memories').optional(),
  /** In the order of their creation. */
  plans: listOr(plan, 'plans').optional(),
  activeRuns: listOr(activeRun, 'runs').optional(),
  now: timestamp,
  /** How many messages of the history are shown. */
  budget: z.number().int().min(1).optional(),
});
export type TimelineInput = z.output<typeof timelineInput>;

export const timelineBlockNames = ['identity', 'trigger', 'activeSpace', 'history', 'spaces', 'agentContext', 'instructions'] as const;
export type TimelineBlockName = (typeof timelineBlockNames)[number];

const timelineBlock = z.object({
  name: z.enum(timelineBlockNames),
  text: z.string(),
  tokens: count,
  /** For the history: which letters of `text` are which message's. */
  lines: z.array(z.object({ messageId: z.string(), start: count, end: count, seen: z.boolean() })).optional(),
});
export type TimelineBlock = z.output<typeof timelineBlock>;

const rendered = z.object({ system: z.string(), blocks: z.array(timelineBlock) });
export type Rendered = z.output<typeof rendered>;

const roleMessage = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
export type RoleMessage = z.output<typeof roleMessage>;

export const timelineContract = {
  block: oc.input(blockInput).output(z.object({ text: z.string() })),
  render: oc.input(timelineInput).output(rendered),
  messages: oc.input(timelineInput).output(z.object({ messages: z.array(roleMessage) })),
  /** A commit's context as a timeline: its user, agent, subagents and tools as entities, at the time of its last entry. */
  transcript: oc
    .input(z.object({ id: contextPrefix, budget: z.number().int().min(1).max(100_000).optional() }))
    .output(z.object({ input: timelineInput, rendered })),
};

// --- spaces and runs in the store ------------------------------------------------------------------------------------

const entity = z.object({ entityId: id, name: words, type: z.enum(entityTypes), createdAt: timestamp });
export type Entity = z.output<typeof entity>;

const space = z.object({
  spaceId: id,
  name: words.nullable(),
  createdAt: timestamp,
  members: z.array(entity),
  messages: count,
  lastMessageAt: timestamp.nullable(),
});
export type Space = z.output<typeof space>;

const membership = z.object({
  spaceId: id,
  entityId: id,
  joinedAt: timestamp,
  /** The agent's mark, moved only when a run of it completes. */
  lastProcessedMessageId: id.nullable(),
  /** The human's mark, moved only by a read receipt. */
  lastSeenMessageId: id.nullable(),
});
export type Membership = z.output<typeof membership>;

const spaceMessage = z.object({
  messageId: id,
  spaceId: id,
  seq: count,
  at: timestamp,
  sender: person,
  text: words,
  replyTo: id.nullable(),
  expectsReply: z.boolean(),
  chainDepth: count,
  origin: messageOrigin.nullable(),
  runId: id.nullable(),
});
export type SpaceMessage = z.output<typeof spaceMessage>;

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
  /** When the agent was last called: at the start, and again when a wait was over. Its timeline is of this moment. */
  invokedAt: timestamp,
  endedAt: timestamp.nullable(),
  /** The message that it waits for an answer to, and until when. */
  waiting: z.object({ messageId: id, spaceId: id, for: words.nullable(), until: timestamp }).nullable(),
  /** How its last wait ended. */
  resumed: resume.nullable(),
  /** The run's context, committed to the chain when it ended. */
  contextId: contextId.nullable(),
});
export type Run = z.output<typeof run>;

/** A run that a message would start, or why a member of the space gets none. */
const triggered = z.object({ entityId: id, name: words, runs: z.boolean(), reason: z.string() });
export type Triggered = z.output<typeof triggered>;

const posting = {
  spaceId: id,
  senderId: id,
  text: words.min(1),
  /** The id of a message, also without its prefix, or a beginning of it that no other message has. */
  replyTo: id.optional(),
};

export const spaceContract = {
  addEntity: oc.input(z.object({ entityId: id.optional(), name: words.min(1), type: z.enum(entityTypes) })).output(entity),
  entities: oc.input(z.object({})).output(z.array(entity)),
  create: oc.input(z.object({ spaceId: id.optional(), name: words.nullable().optional(), members: z.array(id).max(1_000) })).output(space),
  join: oc.input(z.object({ spaceId: id, entityId: id })).output(membership),
  leave: oc.input(z.object({ spaceId: id, entityId: id })).output(space),
  list: oc.input(z.object({ entityId: id.optional() })).output(z.array(space.extend({ unread: count }))),
  get: oc.input(z.object({ spaceId: id })).output(space.extend({ memberships: z.array(membership) })),
  messages: oc
    .input(z.object({ spaceId: id, before: count.optional(), limit: z.number().int().min(1).max(10_000).optional() }))
    .output(z.object({ total: count, messages: z.array(spaceMessage) })),
  /** What posting this would start, without posting it. */
  wouldTrigger: oc.input(z.object({ spaceId: id, senderId: id, runId: id.optional(), replyTo: id.optional() })).output(z.array(triggered)),
  /** A message of a human or a service, or of an agent outside of a run. Starts a run for every other agent of the space. */
  post: oc.input(z.object(posting)).output(z.object({ message: spaceMessage, started: z.array(run), resumed: z.array(run) })),
  /** A read receipt of a human: of the first one in the space where nobody is named. The mark never moves backwards. */
  read: oc
    .route({ method: 'POST', path: '/spaces/{spaceId}/read', summary: 'A read receipt' })
    .input(z.object({ spaceId: id, entityId: id.optional(), lastMessageId: id }))
    .output(z.object({ membership, unread: count, dividerBefore: id.nullable() })),
};

const goalRow = goal.extend({ goalId: id });
const memoryRow = memory.extend({ memoryId: id });
const planRow = plan.extend({ planId: id, instruction: words });

export const runContract = {
  list: oc.input(z.object({ entityId: id.optional(), status: z.enum(runStatuses).optional() })).output(z.array(run)),
  get: oc.input(z.object({ runId: id })).output(run),
  /** What the run's agent reads now: the whole timeline, from the store. A run that was resumed reads it with the mark that says so. */
  timeline: oc.input(z.object({ runId: id, budget: z.number().int().min(1).optional() })).output(z.object({ input: timelineInput, rendered })),
  /** What the agent would read if a message started it now. Starts nothing. */
  preview: oc
    .input(z.object({ spaceId: id, entityId: id, messageId: id.optional(), budget: z.number().int().min(1).optional() }))
    .output(z.object({ input: timelineInput, rendered })),
  /** The one way for a plan or a service to start a run. */
  start: oc.input(z.object({ entityId: id, trigger })).output(run),
  enterSpace: oc.input(z.object({ runId: id, spaceId: id })).output(run),
  /** A message of the run's agent. With `wait` the run pauses until somebody else answers. */
  send: oc
    .input(
      z.object({
        runId: id,
        spaceId: id.optional(),
        text: words.min(1),
        replyTo: id.optional(),
        wait: z.boolean().optional(),
        timeoutMs: count.optional(),
      }),
    )
    .output(z.object({ message: spaceMessage, run, started: z.array(run), resumed: z.array(run) })),
  /** Messages of a space that the agent is in, the newest last; what it reads counts as seen by the run. */
  read: oc
    .input(z.object({ runId: id, spaceId: id.optional(), limit: z.number().int().min(1).max(10_000).optional() }))
    .output(z.object({ messages: z.array(spaceMessage) })),
  /**
   * What time has brought: waits that are over, and plans that are due. Who runs the agents of a space calls it as time goes by, as it
   * calls `send` and `finish`: Stemma starts no agent by itself, and a run that nobody takes up would only wait.
   */
  tick: oc.input(z.object({})).output(z.object({ started: z.array(run), resumed: z.array(run) })),
  /** Ends a run. Completing it moves the agent's marks to what the run had seen, and commits its context to the chain. */
  finish: oc.input(z.object({ runId: id, status: z.enum(['completed', 'failed', 'canceled']), output: words.optional() })).output(run),
  goals: oc.input(z.object({ entityId: id })).output(z.array(goalRow)),
  setGoals: oc.input(z.object({ entityId: id, goals: z.array(goal) })).output(z.array(goalRow)),
  memories: oc.input(z.object({ entityId: id })).output(z.array(memoryRow)),
  setMemory: oc.input(z.object({ entityId: id, topic: words.nullable(), content: words.nullable() })).output(z.array(memoryRow)),
  plans: oc.input(z.object({ entityId: id })).output(z.array(planRow)),
  /** By name: a plan of the same name is replaced. Exactly one of `cron`, `scheduledAt`, `runAfter`. */
  setPlan: oc
    .input(
      z.object({
        entityId: id,
        name: words.min(1),
        instruction: words,
        cron: words.optional(),
        scheduledAt: timestamp.optional(),
        runAfter: words.optional(),
      }),
    )
    .output(z.array(planRow)),
};
