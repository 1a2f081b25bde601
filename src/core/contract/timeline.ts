import { z } from 'zod';
import {
  activeRun,
  activeSpace,
  briefHistory,
  budget,
  goal,
  goals,
  history,
  identity,
  memberSpace,
  memories,
  memory,
  messageOrigin,
  now,
  plan,
  plansBlock,
  runs,
  spacesBlock,
  timelineMessage,
  trigger,
  words,
} from './event.js';
import { contextPrefix, count, flag, list, procedure, timestamp } from './scalars.js';

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
  block('spaces', spacesBlock),
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

export const rendered = z.strictObject({ system: z.string(), blocks: z.array(timelineBlock) });
export type Rendered = z.output<typeof rendered>;

const roleMessage = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });
export type RoleMessage = z.output<typeof roleMessage>;

const timelineRow = timelineMessage.extend({
  length: count.describe('The length of the whole text in characters.'),
  silence: count.describe('The time since the previous message, in milliseconds.'),
});
export type TimelineRow = z.output<typeof timelineRow>;

const timelineRows = z.strictObject({ total: count, rows: z.array(timelineRow) });
export type TimelineRows = z.output<typeof timelineRows>;

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
      input: timelineInput,
      rendered,
      total: count.describe('The number of all messages. `input` may contain only a part of them.'),
    }),
  ),
  rows: procedure('Returns the messages of `timeline.transcript` in pages. Long texts are cut.', {
    id: contextPrefix,
    offset: count.optional().describe('The first message. The default is 0.'),
    limit: count.min(1).max(200).optional().describe('The most messages. The default is 200.'),
    longest: count.optional().describe('The maximum length of a text in characters. The default is whole texts.'),
  }).returns(timelineRows),
};
