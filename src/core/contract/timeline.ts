import { contextPrefix, count, flag, line, list, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

/** The types of entities that can join a space and write into it. */
export const entityTypes = ['human', 'agent', 'service'] as const;
export type EntityType = (typeof entityTypes)[number];

export const id = z.string().min(1).max(400).describe('An id.');
/** Text inside a line of a block. Rendering escapes characters that would break the line. */
export const words = z.string().max(1_000_000);

/** A sender or member. Without a name it is shown as `Unknown`. */
export const person = z.strictObject({
  name: words.nullable().describe('The display name.'),
  type: z.enum(entityTypes).describe('Who it is.'),
  id: id.describe('The id of the entity.'),
});
export type Person = z.output<typeof person>;

const spaceName = z.strictObject({ id, name: words.nullable().describe('The display name.') });

/** Why a run was started. */
export const trigger = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('space_message').describe('A message in a space.'),
    space: spaceName.describe('The space of the message.'),
    sender: person.describe('Who sent the message.'),
    message: words.nullable().describe('The text of the message.'),
    messageId: id.describe('The id of the message.'),
    timestamp: timestamp.describe('When the message was sent.'),
    senderExpectsReply: z.boolean().default(false).describe('True if the sender expects a reply.'),
    chainDepth: count.default(0).describe('The number of agent messages in a row that led to this one.'),
  }),
  z.strictObject({
    type: z.literal('plan').describe('A plan that is due.'),
    plan: spaceName.describe('The plan.'),
    instruction: words.nullable().describe('What the plan asks for.'),
    scheduledAt: timestamp.describe('When the plan was due.'),
  }),
  z.strictObject({
    type: z.literal('service').describe('An event of a service.'),
    service: words.describe('The name of the service.'),
    payload: z.unknown().optional().describe('The data of the event.'),
  }),
]);
export type Trigger = z.output<typeof trigger>;

/** Why an agent wrote a message into a space that did not trigger it. */
const knownOrigin = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('space_message').describe('A message in another space.'),
    senderName: words.nullable().describe('Who sent that message.'),
    message: words.describe('The text of that message.'),
    spaceName: words.describe('The name of that space.'),
  }),
  z.strictObject({ type: z.literal('plan').describe('A plan.'), planName: words.describe('The name of the plan.') }),
  z.strictObject({ type: z.literal('service').describe('An event of a service.'), service: words.describe('The name of the service.') }),
]);
export type MessageOrigin = z.output<typeof knownOrigin>;

/** Accepts a trigger as an origin by taking the names of its sender, space and plan. */
const normalizeEvent = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return given;
  const { type = 'space_message', sender, space, plan, text, ...rest } = given as Record<string, unknown>;
  const nameIn = (value: unknown): unknown => (typeof value === 'object' && value !== null && 'name' in value ? value.name : value);
  const names = { senderName: nameIn(sender), spaceName: nameIn(space), planName: nameIn(plan), message: text };
  return { type, ...Object.fromEntries(Object.entries(names).filter(([, name]) => name !== undefined)), ...rest };
};
export const messageOrigin = z.preprocess(normalizeEvent, knownOrigin).describe('Why an agent wrote the message, if its space did not trigger it.');

const timelineMessage = z.strictObject({
  id: id.describe('The id of the message.'),
  seq: z.number().int().optional().describe('The position of the message in its space, if known.'),
  at: timestamp.describe('When it was sent.'),
  sender: person.nullable().describe('Who sent it.'),
  text: words.nullable().describe('The text.'),
  origin: messageOrigin.optional(),
  wait: flag('True if the agent paused its run with this message. The message is then shown as a tool call.'),
});
export type TimelineMessage = z.output<typeof timelineMessage>;

export const resume = z
  .union([
    z.strictObject({ replier: words.describe('Who replied.') }),
    z.strictObject({ timeoutMs: count.describe('The time limit that ran out, in milliseconds.') }),
  ])
  .describe('How the wait ended: by a reply or by a time limit.');
export type Resume = z.output<typeof resume>;

const history = z.strictObject({
  space: spaceName.describe('The space.'),
  selfEntityId: id.describe('The agent that reads.'),
  messages: list(timelineMessage).describe('The messages of the space, oldest first.'),
  lastProcessedMessageId: id.nullish().describe("The newest message that the agent's last completed run has seen."),
  lastProcessedSeq: z.number().int().nullish().describe('The position of that message, which stays valid if the message is deleted.'),
  triggerMessageId: id.nullish().describe('The message that started the run.'),
  limit: z.number().int().min(1).optional().describe('The number of messages to show: the newest, and always the trigger.'),
  summary: z
    .strictObject({ text: words.describe('The summary.'), messages: count.describe('The number of messages that it summarizes.') })
    .optional()
    .describe('A summary of the earlier messages.'),
  resume: resume.optional(),
});
export type History = z.output<typeof history>;

/** The short form of a history for a waiting run: clock times, no ids. */
const clock = line.describe('The time of day, such as `14:05`.');

const briefHistory = z.strictObject({
  style: z.literal('brief').describe('The short form, with clock times and without ids.'),
  space: spaceName.describe('The space.'),
  entries: list(
    z.union([
      z.strictObject({
        clock,
        toolCall: z
          .strictObject({
            name: words.describe('The name of the tool.'),
            text: words.describe('The text of the message.'),
            wait: flag('True if the call waits for a reply.'),
          })
          .describe("The agent's own call."),
      }),
      z.strictObject({ clock, label: words.describe('The author.'), text: words.nullable().describe('The text.') }),
    ]),
  ).describe('The entries, oldest first.'),
  resume: resume.optional(),
});
export type BriefHistory = z.output<typeof briefHistory>;

const identity = z.strictObject({ name: words.nullable().describe("The agent's display name."), entityId: id.describe("The agent's id.") });
export type Identity = z.output<typeof identity>;

const activeSpace = z.strictObject({
  space: spaceName.nullish().describe('The space. The default is that of the trigger.'),
  autoSetFromTrigger: flag('True if the trigger selected the space.'),
  trigger: trigger.optional().describe('Why the run was started.'),
});
export type ActiveSpace = z.output<typeof activeSpace>;

const memberSpace = spaceName.extend({ members: list(person).describe('The members of the space.') });
export type MemberSpace = z.output<typeof memberSpace>;

export const goal = z.strictObject({
  description: words.describe('The goal.'),
  priority: z.number().optional().describe('Higher is more important.'),
  longTerm: flag('True for a long-term goal.'),
});
export type Goal = z.output<typeof goal>;

export const memory = z.strictObject({
  topic: words.nullish().describe('What it is about.'),
  content: words.describe('The memory.'),
  updatedAt: timestamp.optional().describe('When it was last changed.'),
});
export type Memory = z.output<typeof memory>;

export const plan = z.strictObject({
  name: words.describe('The name of the plan.'),
  cron: words.nullish().describe('When it runs, as a cron expression.'),
  nextRunAt: timestamp.nullish().describe('When it runs next.'),
  scheduledAt: timestamp.nullish().describe('When it runs once.'),
  runAfter: words.nullish().describe('The delay after which it runs once, if it was scheduled by a delay.'),
});
export type Plan = z.output<typeof plan>;

const activeRun = z.strictObject({
  id: id.describe('The id of the run.'),
  isCurrent: flag('True for the run that reads this.'),
  triggeredBy: words.nullish().describe('What started it.'),
  status: words.nullish().describe('Its status.'),
  space: words.nullish().describe('The name of its space.'),
  waitingFor: words.nullish().describe('The entity that it waits for.'),
});
export type ActiveRun = z.output<typeof activeRun>;

const now = timestamp.describe('The current time.');
export const goals = list(goal).describe("The agent's goals.");
const memories = list(memory).describe("The agent's memories.");
const plans = list(plan).describe("The agent's plans, in order of creation.");
const runs = list(activeRun).describe("The agent's runs that have not ended.");
const plansBlock = z.strictObject({ now, plans });

export const budget = z.number().int().min(1).describe('The number of messages of the history to show.');

const block = <Name extends string, Input extends z.ZodType>(name: Name, input: Input) =>
  z.strictObject({ block: z.literal(name).describe('The name of the block.'), input: input.describe('The data that the block is made from.') });

/** A block and the data that it is made from. */
export const blockInput = z.discriminatedUnion('block', [
  block('identity', identity.extend({ now })),
  block('trigger', trigger),
  block('activeSpace', activeSpace),
  block('history', z.union([briefHistory, history])),
  block(
    'crossSpace',
    z.strictObject({ at: timestamp.describe('When the message was sent.'), origin: messageOrigin, text: words.nullable().describe('The text.') }),
  ),
  block(
    'spaces',
    z.strictObject({
      selfEntityId: id.describe('The agent that reads.'),
      activeSpaceId: id.nullish().describe('The space that the agent is in.'),
      spaces: list(memberSpace).describe('The spaces of the agent.'),
    }),
  ),
  block('goals', z.strictObject({ goals })),
  block('memories', z.strictObject({ memories })),
  block('plans', plansBlock),
  block('activeRuns', z.strictObject({ runs })),
  block('agentContext', z.strictObject({ goals, memories, plans: plansBlock.describe("The agent's plans."), runs })),
  block('instructions', z.strictObject({ variant: z.enum(['space_message', 'plan', 'service']).describe('What started the run.') })),
]);
export type BlockInput = z.output<typeof blockInput>;

/** A list, or an object that contains the list as the input of its block does. */
const listOr = <Item extends z.ZodType, Key extends string>(item: Item, key: Key) =>
  z.union([list(item), z.strictObject({ [key]: list(item).describe('The list.') }).transform((input) => input[key] as z.output<Item>[])]);

export const timelineInput = z.strictObject({
  identity: identity.describe('The agent that reads.'),
  trigger: trigger.describe('Why the run was started.'),
  activeSpace: activeSpace.nullish().describe('The space that the agent is in.'),
  spaces: listOr(memberSpace, 'spaces').describe('The spaces of the agent.'),
  history: history
    .partial({ space: true, selfEntityId: true })
    .nullish()
    .describe('The messages of the space. Only for a run that a message started.'),
  histories: list(history, 100).optional().describe('Histories of further spaces: where the run waited, and where the agent is now.'),
  tools: list(z.string().max(200), 1_000).optional().describe('The tools that the agent is offered. Without it, all tools that the blocks name.'),
  goals: listOr(goal, 'goals').optional().describe("The agent's goals."),
  memories: listOr(memory, 'memories').optional().describe("The agent's memories."),
  plans: listOr(plan, 'plans').optional().describe("The agent's plans, in order of creation."),
  activeRuns: listOr(activeRun, 'runs').optional().describe("The agent's runs that have not ended."),
  now,
  budget: budget.optional(),
});
export type TimelineInput = z.output<typeof timelineInput>;

export const timelineBlockNames = ['identity', 'trigger', 'activeSpace', 'history', 'spaces', 'agentContext', 'instructions'] as const;
export type TimelineBlockName = (typeof timelineBlockNames)[number];

const timelineBlock = z.strictObject({
  name: z.enum(timelineBlockNames),
  text: z.string(),
  tokens: count,
  /** For the history: the range of each message in `text`. */
  lines: z.array(z.strictObject({ messageId: z.string(), start: count, end: count, seen: z.boolean() })).optional(),
});
export type TimelineBlock = z.output<typeof timelineBlock>;

const rendered = z.strictObject({ system: z.string(), blocks: z.array(timelineBlock) });
export type Rendered = z.output<typeof rendered>;
/** The event context that an agent reads: as data and as text. */
export const eventContext = { input: timelineInput, rendered };

const roleMessage = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
export type RoleMessage = z.output<typeof roleMessage>;

const timelineRow = timelineMessage.extend({
  length: count.describe('The length of the whole text in characters.'),
  silence: count.describe('The time since the previous message, in milliseconds.'),
});
export type TimelineRow = z.output<typeof timelineRow>;

export const timelineContract = {
  block: procedure("Renders one block of an agent's event context.", blockInput).returns(z.strictObject({ text: z.string() })),
  render: procedure("Renders an agent's event context as blocks of text.", timelineInput).returns(rendered),
  messages: procedure("Renders an agent's event context as messages with roles: one system message, then the history.", timelineInput).returns(
    z.strictObject({ messages: z.array(roleMessage) }),
  ),
  transcript: procedure('Renders a context as a timeline with its user, agents and tools as entities, at the time of its last entry.', {
    id: contextPrefix,
    budget: budget
      .max(100_000)
      .optional()
      .describe(budget.description ?? ''),
    window: flag('Omits messages that are not rendered from `input`, for a caller that reads them with `timeline.rows`.'),
  }).returns(
    z.strictObject({
      ...eventContext,
      total: count.describe('The number of all messages. `input` may contain only a part of them.'),
    }),
  ),
  rows: procedure('Returns the messages of `timeline.transcript` in pages. Long texts are cut.', {
    id: contextPrefix,
    offset: count.optional().describe('The first message. The default is 0.'),
    limit: count.min(1).max(200).optional().describe('The most messages. The default is 200.'),
    longest: count.optional().describe('The maximum length of a text in characters. The default is whole texts.'),
  }).returns(z.strictObject({ total: count, rows: z.array(timelineRow) })),
};
