import { boxId, card, cardContent, cardId, cardInput, packing, reasons } from './card.js';
import { droppedLayer } from './compose.js';
import { endStatuses, openStatuses, roles } from './kinds.js';
import { previewBody, previewOf, previewShared } from './request.js';
import { contextId, contextPrefix, count, damaged, flag, line, list, longestSeconds, most, name, procedure, received, timestamp } from './scalars.js';
import * as z from './z.js';

const data = z.record(line, z.unknown());

const sourceAgentId = name.describe('The agent that hands over.');

const packInput = z.strictObject({
  toolSuffix: name.describe('The name of the tool, without its prefix.'),
  sourceAgentId,
  arguments: data.describe('The arguments of the tool call.'),
  handover: data.nullish().describe('The rules of the handover, with `target_profile_config` and `context_packing_config`.'),
});

/** A card that `handover.pack` would put into a box. */
export const plannedCard = z.object({
  reason: z.enum(reasons),
  argument: z.string().optional(),
  boxId: boxId.optional(),
  /** The id of an inherited card. Other cards get an id when they are written. */
  cardId: cardId.optional(),
  type: z.string(),
  role: z.enum(roles),
  authorId: z.string(),
  content: cardContent.optional(),
  /** Set if the project does not contain the inherited card, or if models do not see it any more. */
  state: z.enum(['missing', 'deleted', 'expired']).optional(),
});
export type PlannedCard = z.output<typeof plannedCard>;

export const strategies = ['new', 'reuse', 'clone'] as const;
export type Strategy = (typeof strategies)[number];

const turnStatus = z.enum([...openStatuses, ...endStatuses]);
export type TurnStatus = z.output<typeof turnStatus>;

export const agentTurn = z.object({
  damaged,
  agentTurnId: z.string(),
  agentId: z.string(),
  status: turnStatus,
  /** Null while the turn is queued: an agent runs one turn at a time. */
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
  /** The source agent's commit at the handover, the commit with the input of this turn, and the last commit of this turn. */
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
  damaged,
  agentId: z.string(),
  displayName: z.string(),
  status: z.enum(['idle', 'dispatched', 'running', 'suspended']),
  turnEpoch: count,
  agentTurnId: z.string().optional(),
  profileBoxId: boxId.optional(),
  ownerAgentId: z.string().optional(),
  spawnedBy: z.string().optional(),
  derivedFrom: z.string().optional(),
  /** The context box of the agent's turn. */
  contextBoxId: boxId.optional(),
  /** The output box of the agent's running turn, or of its last turn. */
  outputBoxId: boxId.optional(),
  /** The newest commit of its chain. */
  tip: contextId.optional(),
  createdAt: timestamp,
});
export type Agent = z.output<typeof agent>;

/** The turns that a call dispatched; empty if the call was rejected. */
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

const strategy = line.transform((text) => text.toLowerCase()).pipe(z.enum(strategies, { error: 'must be one of new|reuse|clone' }));

const task = z.strictObject({
  targetStrategy: strategy.describe('Whether to create an agent, use an existing one, or clone one.'),
  targetRef: line.min(1).describe('The profile for `new`, or the agent for `reuse` and `clone`.'),
  instruction: z.string().max(most.text).min(1).describe('What to do.'),
  contextBoxId: z.string().max(200).nullish().describe('A box whose cards the agent inherits.'),
});
export type Task = z.output<typeof task>;

const yes = ['true', '1', 'yes', 'on'];
const no = ['false', '0', 'no', 'off', ''];
const failFast = z
  .union([z.boolean(), z.number(), line, z.null()])
  .transform((given, context) => {
    if (typeof given !== 'string') return Boolean(given);
    const word = given.trim().toLowerCase();
    if (!yes.includes(word) && !no.includes(word)) context.addIssue({ code: 'custom', message: 'must be a boolean or boolean-like string' });
    return yes.includes(word);
  })
  .optional();
const deadlineRule = `must be a positive number of at most ${longestSeconds}`;
const deadlineSeconds = z
  .union([z.number(), line, z.boolean()], { error: deadlineRule })
  .transform((given, context) => {
    const seconds = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    if (typeof seconds === 'number' && seconds > 0 && seconds <= longestSeconds) return seconds;
    context.addIssue({ code: 'custom', message: deadlineRule });
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
  /** In the order of the tasks. */
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

const profileName = line.describe('The name of the profile.');
const instruction = z.string().max(most.text).describe('What to do.');

export const handoverContract = {
  pack: procedure(
    "Packs a tool call's arguments into cards and a context box for another agent, by the rules of a handover. One transaction: a refused call leaves no cards and no box.",
    packInput,
  ).returns({ contextBoxId: boxId, targetProfileBoxId: boxId, attachedCardIds: z.array(cardId) }),
  preview: procedure(
    'Returns the box that `handover.pack` would write, with the reason for each card and what would be dropped. Writes nothing.',
    packInput,
  ).returns({
    profile: z.object({ name: z.string(), profileBoxId: boxId }),
    cards: z.array(plannedCard),
    dropped: packing.shape.dropped,
  }),
  packWithInstruction: procedure('Packs an instruction and inherited boxes into a context box for another agent.', {
    toolSuffix: packInput.shape.toolSuffix,
    sourceAgentId,
    profileName,
    instruction,
    inheritBoxIds: list(z.string().max(200).nullable()).nullish().describe('Boxes whose cards the agent inherits.'),
  }).returns({ contextBoxId: boxId, targetProfileBoxId: boxId, attachedCardIds: z.array(cardId) }),
  delegate: procedure('Delegates an instruction to an agent: a new one, an existing one, or a clone of one.', {
    sourceAgentId,
    targetStrategy: line.describe('`new`, `reuse` or `clone`.'),
    targetRef: line.describe(task.shape.targetRef.description ?? ''),
    instruction,
    contextBoxId: task.shape.contextBoxId,
    toolName: line.optional().describe('The name of the tool if the call was relayed, such as `delegate_async`.'),
  }).returns(dispatchedOne),
  forkJoin: procedure('Delegates several tasks at once and joins their results. Validates every task before it dispatches the first.', {
    sourceAgentId,
    tasks: list(task, 1_000).min(1).describe('The tasks.'),
    failFast: failFast.describe('Cancel the other tasks when one fails.'),
    deadlineSeconds: deadlineSeconds.describe('The number of seconds after which open tasks time out.'),
  }).returns(dispatched.extend({ batchId: z.string().optional(), taskCount: count })),
  launchPrincipal: procedure('Starts a new agent with a profile and an instruction.', {
    sourceAgentId: sourceAgentId.optional(),
    profileName,
    instruction,
  }).returns(dispatchedOne),
  askExpert: procedure('Asks a new agent with a profile a question, with or without the history of the asking agent.', {
    sourceAgentId,
    profileName,
    question: z.string().max(most.text).describe('The question.'),
    includeHistory: flag("Pass the asking agent's current output box."),
  }).returns(dispatchedOne),
  batch: procedure('Returns the state and the results of a fork-join, in the order of its tasks.', {
    batchId: line.describe('The id of the fork-join.'),
  }).returns(batchResult),
  map: procedure('Returns every agent and every agent turn, oldest first: who delegated what to whom.').returns({
    agents: z.array(agent),
    turns: z.array(
      agentTurn.extend({
        cards: count,
        instruction: z.string().optional(),
        /** Who sent it, if another machine dispatched the turn. */
        received: received.optional(),
      }),
    ),
  }),
};

const agentTurnId = line.describe('The id of the agent turn.');
const epoch = { agentTurnId, turnEpoch: count.optional().describe('The epoch of the turn. A call for an earlier epoch is refused.') };
export const message = z.looseObject({
  role: z.enum(roles),
  content: z.string(),
  tool_calls: z.array(data).optional(),
  tool_call_id: z.string().optional(),
  reasoning_content: z.string().optional(),
});
export type Message = z.output<typeof message>;

/** Procedures for the program that runs the turns of agents, in this process or elsewhere. */
const agentId = line.describe('The id of the agent.');

export const agentContract = {
  register: procedure('Registers an agent that Stemma did not create: an imported agent or a person.', {
    agentId: name.describe('The id of the agent.'),
    displayName: name.optional().describe('The name that people see.'),
    profileName: profileName.optional(),
    contextId: contextPrefix.optional().describe('The commit from which its chain continues.'),
  }).returns(agent),
  get: procedure('Returns an agent.', { agentId }).returns(agent),
  turns: procedure('Lists the turns of an agent.', { agentId }).returns(z.array(agentTurn)),
  input: procedure(
    "Returns the input of the turn's model now: the context at the beginning of the turn, then the output box, with the profile's prompt and the tools. While the turn runs, this call is recorded as a model call of the turn.",
    {
      agentTurnId,
      tools: list(data).optional().describe('Definitions of tools. The profile can restrict them.'),
      appendix: z.string().max(most.text).optional().describe('Text to add to the system prompt.'),
      stepCount: count.optional().describe('The number of steps so far.'),
      maxSteps: count.optional().describe('The most steps of the turn.'),
      parameters: data.optional().describe('The model, the sampling settings and the tool choice. The default is the `llm_config` of the profile.'),
      preview: flag('True to look at the input without recording a call.'),
      enableShareContext: previewShared,
      ...previewOf,
    },
  ).returns({
    messages: z.array(message),
    tools: z.array(data).nullable(),
    parameters: data,
    cardIds: z.array(cardId),
    /** The layer of each message: `system_prompt`, the key of a block, or `checkpoint_messages` for the boxes. */
    layers: z.array(z.string()),
    /** The layers that are not sent, with the reason. */
    dropped: z.array(droppedLayer),
    /** The box with the cards that record this model call: the rendered prompt, the tools and the parameters. */
    requestBoxId: boxId.optional(),
    body: previewBody,
  }),
  begin: procedure('Begins a dispatched turn. From then on, its context box cannot change.', epoch).returns(agentTurn),
  write: procedure('Writes cards into the output box of a turn.', {
    ...epoch,
    cards: list(cardInput, 10_000).min(1).describe('The cards to write.'),
  }).returns({ turn: agentTurn, cards: z.array(card) }),
  suspend: procedure('Suspends a turn until it has the results of tool calls.', {
    ...epoch,
    toolCallIds: list(line.min(1)).min(1).describe('The tool calls to wait for.'),
  }).returns(agentTurn),
  answer: procedure(
    'Adds a result that a suspended turn waits for. After the last result, the turn continues in a new epoch, or ends if a result says so.',
    { ...epoch, card: cardInput.describe('The card with the result.') },
  ).returns({ turn: agentTurn, card }),
  submit: procedure('Submits the result of a turn. If required fields are missing, the refusal goes to the model as a tool result.', {
    ...epoch,
    toolCallId: line.min(1).describe('The tool call that submits.'),
    args: data.describe('The fields of the result.'),
  }).returns({ turn: agentTurn, complete: z.boolean(), cards: z.array(card) }),
  finish: procedure('Ends a turn.', {
    ...epoch,
    status: z.enum(endStatuses).optional().describe('How it ended. The default is `success`.'),
    error: z.string().max(most.text).optional().describe('What went wrong.'),
  }).returns(agentTurn),
};
