import { contract } from '../../core/contract/index.js';
import { type AgentTool, inputOf, ownAgent, ownRun, ownTurn, toolsOf } from './tool.js';

const { agent, box, card, compose, handover, run, space } = contract;
const [spaces, runs, cards, handovers, composing] = [toolsOf('spaces'), toolsOf('runs'), toolsOf('cards'), toolsOf('handover'), toolsOf('compose')];

/** A default limit, because a whole space would fill the agent's context window in one call. */
const defaultMessages = 50;

const spaceTools: readonly AgentTool[] = [
  spaces(
    'space_list',
    'reads',
    'Lists the spaces, or yours with `entityId` set to yourself, with unread messages.',
    inputOf(space.list),
    (client, input) => client.space.list(input),
  ),
  spaces('space_messages', 'reads', 'Lists the newest messages of a space, oldest first.', inputOf(space.messages), (client, input) =>
    client.space.messages({ limit: defaultMessages, ...input }),
  ),
  spaces(
    'space_post',
    'writes',
    'Posts a message in a space, outside of a run. With `wait`, it expects an answer: a message of one member with `for`, else a reply or the next message of a person.',
    inputOf(space.post),
    (client, input) => client.space.post(input),
    { who: 'senderId' },
  ),
  spaces('space_wait', 'reads', 'Returns the wait that a message set, and the message that ended it.', inputOf(space.wait), (client, input) =>
    client.space.wait(input),
  ),
];

const runTools: readonly AgentTool[] = [
  runs(
    'run_list',
    'reads',
    'Lists runs of agents in spaces, newest first, each with its trigger and the entity that it waits for.',
    inputOf(run.list),
    (client, input) => client.run.list(input),
  ),
  runs(
    'run_send',
    'writes',
    "Sends a message of a run's agent. With `wait`, the run pauses until the answer comes.",
    inputOf(run.send),
    (client, input) => client.run.send(input),
    { check: ownRun },
  ),
  runs(
    'run_timeline',
    'reads',
    'Returns the event context that a run reads now.',
    inputOf(run.timeline),
    (client, input) => client.run.timeline(input),
    { check: ownRun },
  ),
  runs(
    'run_read',
    'writes',
    'Returns the newest messages of a space, oldest first. The run counts them as seen.',
    inputOf(run.read),
    (client, input) => client.run.read({ limit: defaultMessages, ...input }),
    { check: ownRun },
  ),
  runs(
    'run_enter_space',
    'writes',
    "Changes the space that a run's agent is in.",
    inputOf(run.enterSpace),
    (client, input) => client.run.enterSpace(input),
    { check: ownRun },
  ),
];

const cardTools: readonly AgentTool[] = [
  cards(
    'card_add',
    'writes',
    'Writes a card. Fails if a turn holds a card with this id and other content.',
    inputOf(card.add),
    (client, input) => client.card.add(input),
    { who: 'card.authorId' },
  ),
  cards('card_get', 'reads', 'Returns a card.', inputOf(card.get), (client, input) => client.card.get(input)),
  cards('box_create', 'writes', 'Creates a box from cards.', inputOf(box.create), (client, input) => client.box.create(input)),
  cards('box_cards', 'reads', 'Returns the cards of a box, in its order.', inputOf(box.cards), (client, input) => client.box.cards(input)),
  cards('box_append', 'writes', 'Adds cards to the end of a box. Fails if a turn holds the box.', inputOf(box.append), (client, input) =>
    client.box.append(input),
  ),
];

const handoverTools: readonly AgentTool[] = [
  handovers(
    'handover_delegate',
    'writes',
    'Hands an instruction to another agent: a new agent with a profile, an existing agent, or a clone. It runs when a person or the policy starts it.',
    inputOf(handover.delegate),
    (client, input) => client.handover.delegate(input),
    { who: 'sourceAgentId', check: ownAgent },
  ),
  handovers(
    'handover_fork_join',
    'writes',
    'Hands tasks to several agents at once. `handover_batch` returns their results.',
    inputOf(handover.forkJoin),
    (client, input) => client.handover.forkJoin(input),
    { who: 'sourceAgentId', check: ownAgent },
  ),
  handovers(
    'handover_ask_expert',
    'writes',
    'Asks a new agent with a profile a question. The answer is in its output box.',
    inputOf(handover.askExpert),
    (client, input) => client.handover.askExpert(input),
    { who: 'sourceAgentId', check: ownAgent },
  ),
  handovers(
    'handover_batch',
    'reads',
    'Returns the state and the results of a fork-join, in the order of its tasks.',
    inputOf(handover.batch),
    (client, input) => client.handover.batch(input),
  ),
  handovers(
    'agent_begin',
    'writes',
    'Begins a turn that was handed to you. From then on, its input cannot change.',
    inputOf(agent.begin),
    (client, input) => client.agent.begin(input),
    { check: ownTurn },
  ),
  handovers(
    'agent_input',
    'writes',
    'Returns the current input of your turn, and records this as a model call of the turn.',
    inputOf(agent.input),
    (client, input) => client.agent.input(input),
    { check: ownTurn },
  ),
  handovers(
    'agent_write',
    'writes',
    'Writes cards into the output box of your turn.',
    inputOf(agent.write),
    (client, input) => client.agent.write(input),
    { check: ownTurn },
  ),
  handovers('agent_finish', 'writes', 'Ends your turn.', inputOf(agent.finish), (client, input) => client.agent.finish(input), { check: ownTurn }),
];

const composeTools: readonly AgentTool[] = [
  composing(
    'compose_preview',
    'reads',
    "Returns what a commit's model would see with a process and a switch, and where each layer comes from. Stores nothing.",
    inputOf(compose.preview),
    (client, input) => client.compose.preview(input),
  ),
  composing(
    'compose_messages',
    'reads',
    'Composes messages from a system prompt, a memory and context blocks. Reads and stores nothing.',
    inputOf(compose.messages),
    (client, input) => client.compose.messages(input),
  ),
];

/** Tools for work with other agents: spaces, runs, cards, handovers and composition. */
export const agentTools: readonly AgentTool[] = [...spaceTools, ...runTools, ...cardTools, ...handoverTools, ...composeTools];
