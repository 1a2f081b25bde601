import { z } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { type AgentTool, custom, type McpCaller, NotYours, ownAgent, ownCards, ownRun, ownTurn, reads, toolsOf, writes } from './tool.js';

/** A default limit, because a whole space would fill the agent's context window in one call. */
const defaultMessages = 50;

const id = z.string().min(1).max(200);
const runId = id.optional().describe('Your run. Outside of a run, leave it out.');
const entityId = id.optional().describe('You, as an entity of spaces.');
const spaceId = id.optional().describe('The space. The default is the space that you are in.');
const wait = z
  .union([
    z.boolean(),
    z.strictObject({
      for: id.optional().describe('The member whose next message ends the wait, by name or id.'),
      timeoutMs: z.number().int().min(0).optional().describe('The longest wait in milliseconds. The default is 5 minutes.'),
    }),
  ])
  .optional()
  .describe('Pause until a reply arrives.');

const sending = z.strictObject({
  text: z.string().min(1).max(1_000_000).describe('The message.'),
  messageId: id.optional().describe('The message that this message replies to.'),
  wait,
  spaceId,
  runId,
  entityId,
});
const reading = z.strictObject({
  spaceId,
  limit: z.number().int().min(1).max(1_000).optional().describe('The most messages. The default is 50.'),
  runId,
  entityId,
});

const ownRunIfAny = async (client: ContractClient, input: Record<string, unknown>, caller: McpCaller): Promise<void> => {
  if (input.runId !== undefined) await ownRun(client, input, caller);
};

/** Outside of a run, a call says who acts, and where. @throws NotYours */
function requirePlace({ entityId: who, spaceId: space }: Pick<z.output<typeof reading>, 'entityId' | 'spaceId'>) {
  if (who === undefined) throw new NotYours('Outside of a run, `entityId` says who you are.');
  if (space === undefined) throw new NotYours('You are not in a space. Name one as `spaceId`.');
  return { entityId: who, spaceId: space };
}

/** The tools of an agent in spaces. They have the same names and arguments as for Stemma's own models. */
const conversationTools = {
  send_message: custom(
    'writes',
    'Sends a message to a space. With `wait`, the run pauses until a reply arrives: end your turn then.',
    sending,
    (client, { runId: run, text, messageId: replyTo, wait: until, ...place }) => {
      if (run !== undefined) return client.run.send({ runId: run, text, replyTo, wait: until, spaceId: place.spaceId });
      const { entityId: senderId, spaceId: space } = requirePlace(place);
      return client.space.post({ spaceId: space, senderId, text, replyTo, ...(until && { wait: until === true ? {} : until }) });
    },
    { who: 'entityId', check: ownRunIfAny },
  ),
  read_messages: custom(
    'writes',
    'Returns the newest messages of a space, oldest first, as lines of its history. Your run counts them as seen.',
    reading,
    async (client, { runId: run, limit = defaultMessages, ...place }) => {
      if (run !== undefined) return { lines: (await client.run.read({ runId: run, spaceId: place.spaceId, limit })).lines };
      return { lines: (await client.space.lines({ ...requirePlace(place), limit })).lines };
    },
    { who: 'entityId', check: ownRunIfAny },
  ),
  enter_space: custom(
    'writes',
    'Goes to another space of yours.',
    z.strictObject({ spaceId: id.describe('The space.'), runId: id.describe('Your run.') }),
    (client, input) => client.run.enterSpace(input),
    { check: ownRun },
  ),
  get_my_runs: custom(
    'reads',
    'Lists your runs, newest first, with those that wait.',
    z.strictObject({ entityId: id.describe('You, as an entity of spaces.') }),
    async (client, input) => ({ runs: (await client.run.list(input)).slice(0, defaultMessages) }),
    { who: 'entityId' },
  ),
};

const spaceTools = toolsOf('spaces', {
  space_list: reads('space.list', 'Lists the spaces, or yours with `entityId` set to yourself, with unread messages.'),
  space_messages: reads('space.messages', 'Lists the newest messages of a space, oldest first.', { limit: defaultMessages }),
  space_post: writes(
    'space.post',
    'Posts a message in a space, outside of a run. With `wait`, it expects an answer: a message of one member with `for`, else a reply or the next message of a person.',
    { who: 'senderId' },
  ),
  space_wait: reads('space.wait', 'Returns the wait that a message set, and the message that ended it.'),
});

const runTools = toolsOf('runs', {
  run_list: reads('run.list', 'Lists runs of agents in spaces, newest first, each with its trigger and the entity that it waits for.'),
  ...conversationTools,
  run_send: writes('run.send', "Sends a message of a run's agent. With `wait`, the run pauses until the answer comes.", {
    check: ownRun,
    isOld: true,
  }),
  run_timeline: reads('run.timeline', 'Returns the event context that a run reads now.', { check: ownRun }),
  run_read: writes('run.read', 'Returns the newest messages of a space, oldest first. The run counts them as seen.', {
    check: ownRun,
    limit: defaultMessages,
    isOld: true,
  }),
  run_enter_space: writes('run.enterSpace', "Changes the space that a run's agent is in.", { check: ownRun, isOld: true }),
});

const cardTools = toolsOf('cards', {
  card_add: writes('card.add', 'Writes a card. Fails if a turn holds a card with this id and other content.', {
    who: 'card.authorId',
    check: (client, { card }, caller) => ownCards(client, [card], caller),
  }),
  card_get: reads('card.get', 'Returns a card.'),
  box_create: writes('box.create', 'Creates a box from cards.'),
  box_cards: reads('box.cards', 'Returns the cards of a box, in its order.'),
  box_append: writes('box.append', 'Adds cards to the end of a box. Fails if a turn holds the box.'),
});

const handoverTools = toolsOf('handover', {
  handover_delegate: writes(
    'handover.delegate',
    'Hands an instruction to another agent: a new agent with a profile, an existing agent, or a clone. It runs when a person or the policy starts it.',
    { who: 'sourceAgentId', check: ownAgent },
  ),
  handover_fork_join: writes('handover.forkJoin', 'Hands tasks to several agents at once. `handover_batch` returns their results.', {
    who: 'sourceAgentId',
    check: ownAgent,
  }),
  handover_ask_expert: writes('handover.askExpert', 'Asks a new agent with a profile a question. The answer is in its output box.', {
    who: 'sourceAgentId',
    check: ownAgent,
  }),
  handover_batch: reads('handover.batch', 'Returns the state and the results of a fork-join, in the order of its tasks.'),
  agent_begin: writes('agent.begin', 'Begins a turn that was handed to you. From then on, its input cannot change.', { check: ownTurn }),
  agent_input: writes('agent.input', 'Returns the current input of your turn, and records this as a model call of the turn.', { check: ownTurn }),
  agent_write: writes('agent.write', 'Writes cards into the output box of your turn.', {
    who: 'cards.[].authorId',
    check: async (client, input, caller) => {
      await ownTurn(client, input, caller);
      await ownCards(client, input.cards, caller);
    },
  }),
  agent_finish: writes('agent.finish', 'Ends your turn.', { check: ownTurn }),
});

const composeTools = toolsOf('compose', {
  compose_preview: reads(
    'compose.preview',
    "Returns what a commit's model would see with a process and a switch, and where each layer comes from. Stores nothing.",
  ),
  compose_messages: reads('compose.messages', 'Composes messages from a system prompt, a memory and context blocks. Reads and stores nothing.'),
});

export const agentTools: readonly AgentTool[] = [...spaceTools, ...runTools, ...cardTools, ...handoverTools, ...composeTools];
