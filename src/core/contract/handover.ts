import { oc } from '@orpc/contract';
import { z } from 'zod';
import { boxId, card, cardContent, cardId, cardInput, packing, reasons } from './card.js';
import { roles } from './kinds.js';
import { contextId, contextPrefix, count, name, timestamp } from './scalars.js';

const data = z.record(z.string(), z.unknown());

/** A handover's rules in the seed's own words: `target_profile_config`, `context_packing_config`. */
const packInput = z.object({
  toolSuffix: name,
  sourceAgentId: name,
  arguments: data,
  handover: data.nullish(),
});

/** A card of a box that is not written yet. */
export const plannedCard = z.object({
  reason: z.enum(reasons),
  argument: z.string().optional(),
  boxId: boxId.optional(),
  /** Of an inherited card; the others get theirs when they are written. */
  cardId: cardId.optional(),
  type: z.string(),
  role: z.enum(roles),
  authorId: z.string(),
  content: cardContent.optional(),
  /** An inherited id of which the project has no card, or one that no model sees any more. */
  state: z.enum(['missing', 'deleted', 'expired']).optional(),
});
export type PlannedCard = z.output<typeof plannedCard>;

export const strategies = ['new', 'reuse', 'clone'] as const;
export type Strategy = (typeof strategies)[number];

/** What a turn does: it waits in line, is handed out, runs, waits for tools; then how it ended. */
export const openStatuses = ['queued', 'dispatched', 'running', 'suspended'] as const;
export const endStatuses = ['success', 'failed', 'canceled', 'timeout', 'partial'] as const;
const turnStatus = z.enum([...openStatuses, ...endStatuses]);
export type TurnStatus = z.output<typeof turnStatus>;
export type EndStatus = (typeof endStatuses)[number];

export const agentTurn = z.object({
  agentTurnId: z.string(),
  agentId: z.string(),
  status: turnStatus,
  /** Null while it waits in line: an agent does one turn at a time. */
  turnEpoch: count.nullable(),
  depth: count,
  contextBoxId: boxId,
  outputBoxId: boxId,
  profileBoxId: boxId.optional(),
  sourceAgentId: z.string().optional(),
  tool: z.string(),
  strategy: z.enum(strategies),
  parentTurnId: z.string().optional(),
  batchId: z.string().optional(),
  taskIndex: count.optional(),
  waiting: z.array(z.string()).optional(),
  /** The commit of the source that it was handed over at, the one with its input, its last. */
  fromCommit: contextId.optional(),
  startCommit: contextId.optional(),
  endCommit: contextId.optional(),
  error: z.string().optional(),
  createdAt: timestamp,
  startedAt: timestamp.optional(),
  endedAt: timestamp.optional(),
});
export type AgentTurn = z.output<typeof agentTurn>;

export const agent = z.object({
  agentId: z.string(),
  displayName: z.string(),
  status: z.enum(['idle', 'dispatched', 'running', 'suspended']),
  turnEpoch: count,
  agentTurnId: z.string().optional(),
  profileBoxId: boxId.optional(),
  ownerAgentId: z.string().optional(),
  spawnedBy: z.string().optional(),
  derivedFrom: z.string().optional(),
  /** Of its running turn, else of its last. */
  outputBoxId: boxId.optional(),
  /** The newest commit of its chain. */
  tip: contextId.optional(),
  createdAt: timestamp,
});
export type Agent = z.output<typeof agent>;

/** The turns that a call handed out. What hands out one has its fields at the top, too. A refused one hands out none. */
const dispatched = z.object({ status: z.enum(['accepted', 'rejected']), errorCode: z.string().optional(), turns: z.array(agentTurn) });
const dispatchedOne = dispatched.extend({
  agentId: z.string().optional(),
  agentTurnId: z.string().optional(),
  turnEpoch: count.nullish(),
  contextBoxId: boxId.optional(),
  outputBoxId: boxId.optional(),
  profileBoxId: boxId.optional(),
});
export type Dispatched = z.output<typeof dispatched>;
export type DispatchedOne = z.output<typeof dispatchedOne>;

const strategy = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(z.enum(strategies, { error: 'must be one of new|reuse|clone' }));

const task = z.strictObject({
  targetStrategy: strategy,
  targetRef: z.string().min(1),
  instruction: z.string().min(1),
  contextBoxId: z.string().max(200).nullish(),
});
export type Task = z.output<typeof task>;

const yes = ['true', '1', 'yes', 'on'];
const no = ['false', '0', 'no', 'off', ''];
const failFast = z
  .union([z.boolean(), z.number(), z.string(), z.null()])
  .transform((given, context) => {
    if (typeof given !== 'string') return Boolean(given);
    const word = given.trim().toLowerCase();
    if (!yes.includes(word) && !no.includes(word)) context.addIssue({ code: 'custom', message: 'must be a boolean or boolean-like string' });
    return yes.includes(word);
  })
  .optional();
const deadlineSeconds = z
  .union([z.number(), z.string(), z.boolean()], { error: 'must be a positive number' })
  .transform((given, context) => {
    const seconds = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    if (typeof seconds === 'number' && seconds > 0 && Number.isFinite(seconds)) return seconds;
    context.addIssue({ code: 'custom', message: 'must be a positive number' });
    return z.NEVER;
  })
  .nullish();

const batchResult = z.object({
  batchId: z.string(),
  sourceAgentId: z.string(),
  status: z.enum(['running', ...endStatuses]),
  failFast: z.boolean(),
  deadline: timestamp.optional(),
  createdAt: timestamp,
  endedAt: timestamp.optional(),
  /** In the order in which the tasks were given. */
  results: z.array(
    z.object({
      taskIndex: count,
      label: z.string(),
      agentId: z.string(),
      agentTurnId: z.string(),
      status: turnStatus,
      summary: z.string().optional(),
      outputBoxId: boxId,
      error: z.string().optional(),
    }),
  ),
});
export type BatchResult = z.output<typeof batchResult>;

export const handoverContract = {
  pack: oc.input(packInput).output(z.object({ contextBoxId: boxId, targetProfileBoxId: boxId, attachedCardIds: z.array(cardId) })),
  /** The box that `pack` would write, with the reason for each card, and what would be left out; writes nothing. */
  preview: oc.input(packInput).output(
    z.object({
      profile: z.object({ name: z.string(), profileBoxId: boxId }),
      cards: z.array(plannedCard),
      dropped: packing.shape.dropped,
    }),
  ),
  packWithInstruction: oc
    .input(
      z.object({
        toolSuffix: name,
        sourceAgentId: name,
        profileName: z.string(),
        instruction: z.string(),
        inheritBoxIds: z.array(z.string().max(200).nullable()).nullish(),
      }),
    )
    .output(z.object({ contextBoxId: boxId, targetProfileBoxId: boxId, attachedCardIds: z.array(cardId) })),
  delegate: oc
    .input(
      z.object({
        sourceAgentId: name,
        targetStrategy: z.string(),
        targetRef: z.string(),
        instruction: z.string(),
        contextBoxId: z.string().max(200).nullish(),
        /** The tool that a relayed call names: delegate_async. */
        toolName: z.string().optional(),
      }),
    )
    .output(dispatchedOne),
  forkJoin: oc
    .input(z.strictObject({ sourceAgentId: name, tasks: z.array(task).min(1).max(1_000), failFast, deadlineSeconds }))
    .output(dispatched.extend({ batchId: z.string().optional(), taskCount: count })),
  launchPrincipal: oc.input(z.object({ sourceAgentId: name.optional(), profileName: z.string(), instruction: z.string() })).output(dispatchedOne),
  askExpert: oc
    .input(z.object({ sourceAgentId: name, profileName: z.string(), question: z.string(), includeHistory: z.boolean().optional() }))
    .output(dispatchedOne),
  batch: oc.input(z.object({ batchId: z.string() })).output(batchResult),
  /** Who handed what to whom: every agent, and every turn, oldest first. */
  map: oc
    .input(z.object({}))
    .output(z.object({ agents: z.array(agent), turns: z.array(agentTurn.extend({ cards: count, instruction: z.string().optional() })) })),
};

const epoch = { agentTurnId: z.string(), turnEpoch: count.optional() };
const message = z.looseObject({
  role: z.enum(roles),
  content: z.string(),
  tool_calls: z.array(data).optional(),
  tool_call_id: z.string().optional(),
  reasoning_content: z.string().optional(),
});
export type Message = z.output<typeof message>;

/** What runs an agent's turns, in this process or elsewhere, says here what happens in them. */
export const agentContract = {
  /** An agent that is not of our making: one that was imported, a person. `contextId` is where its chain goes on. */
  register: oc
    .input(z.object({ agentId: name, displayName: name.optional(), profileName: z.string().optional(), contextId: contextPrefix.optional() }))
    .output(agent),
  get: oc.input(z.object({ agentId: z.string() })).output(agent),
  turns: oc.input(z.object({ agentId: z.string() })).output(z.array(agentTurn)),
  /** What the turn's model sees now: the context box, then the output box, nothing else but its profile's prompt and the tools. */
  input: oc
    .input(
      z.object({
        agentTurnId: z.string(),
        tools: z.array(data).optional(),
        appendix: z.string().optional(),
        stepCount: count.optional(),
        maxSteps: count.optional(),
      }),
    )
    .output(z.object({ messages: z.array(message), tools: z.array(data).nullable(), cardIds: z.array(cardId) })),
  begin: oc.input(z.object(epoch)).output(agentTurn),
  /** Writes cards into the output box. */
  write: oc.input(z.object({ ...epoch, cards: z.array(cardInput).min(1).max(10_000) })).output(z.object({ turn: agentTurn, cards: z.array(card) })),
  /** The turn waits for the results of these calls. */
  suspend: oc.input(z.object({ ...epoch, toolCallIds: z.array(z.string().min(1)).min(1) })).output(agentTurn),
  /** A result that a turn waits for. With the last one it goes on, in a new epoch, or ends where a result says so. */
  answer: oc.input(z.object({ ...epoch, card: cardInput })).output(z.object({ turn: agentTurn, card })),
  /** The result of the whole turn; what its context asks for must be in it, else the refusal goes to the model as a result. */
  submit: oc
    .input(z.object({ ...epoch, toolCallId: z.string().min(1), args: data }))
    .output(z.object({ turn: agentTurn, complete: z.boolean(), cards: z.array(card) })),
  finish: oc.input(z.object({ ...epoch, status: z.enum(endStatuses).optional(), error: z.string().optional() })).output(agentTurn),
};
