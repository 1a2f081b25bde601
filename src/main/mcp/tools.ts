import { z } from 'zod';
import { contract } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';

/** A tool for an agent: its name, description and input schema, and the procedure behind it. */
export interface AgentTool {
  name: string;
  description: string;
  readOnly: boolean;
  inputSchema: { type: 'object'; [word: string]: unknown };
  /** Calls the procedure. The contract checks the input. */
  call(client: ContractClient, input: Record<string, unknown>): Promise<unknown>;
}

type Effect = 'reads' | 'writes';

function tool<Input>(
  name: string,
  effect: Effect,
  description: string,
  input: z.ZodType<unknown, Input>,
  call: (client: ContractClient, input: Input) => Promise<unknown>,
): AgentTool {
  return {
    name,
    description,
    readOnly: effect === 'reads',
    inputSchema: { ...z.toJSONSchema(input, { io: 'input' }), type: 'object' },
    call: (client, given) => call(client, given as Input),
  };
}

const { agent, box, card, context, run, search, space, ticket, turn, usage } = contract;
const inputOf = <Schema>(procedure: { '~orpc': { inputSchema?: Schema } }): NonNullable<Schema> =>
  procedure['~orpc'].inputSchema as NonNullable<Schema>;

/** Default limits, because a whole history would fill the agent's context window in one call. */
const defaultTickets = 50;
const defaultEntries = 50;
const defaultLosses = 40;
const defaultTokens = 10_000;

export const tools: readonly AgentTool[] = [
  tool(
    'checkpoint',
    'writes',
    'Stores a moment of understanding as a commit: `text` in a format (claude-code-v1, markdown, …) after `parent`, or null for a new chain. `principal` is whose understanding it is. `checkpoint` is `explicit` if you decided to store it.',
    inputOf(context.checkpoint),
    (client, input) => client.context.checkpoint(input),
  ),
  tool(
    'search',
    'reads',
    'Finds entries in all histories, yours and those of colleagues, that contain all the words. Each hit names its commit and entry.',
    inputOf(search.query),
    (client, input) => client.search.query(input),
  ),
  tool(
    'history',
    'reads',
    'Lists the commits from a context toward the root, newest first, at most `depth`.',
    inputOf(context.history),
    (client, input) => client.context.history(input),
  ),
  tool(
    'entries',
    'reads',
    `Returns the entries of a context: messages, tool calls, results. Read it in pages with \`offset\` and \`limit\` (default ${defaultEntries}). With \`stop\` set to the id itself, returns only what that commit added.`,
    inputOf(context.entries),
    (client, input) => client.context.entries({ limit: defaultEntries, ...input }),
  ),
  tool(
    'materialize',
    'reads',
    `Tells a context as a narrative: who said what, and which tools ran with what effect. It has at most \`maxTokens\` tokens (default ${defaultTokens}).`,
    inputOf(context.materialize).omit({ format: true }),
    async (client, input) => {
      const narrative = await client.context.materialize({ maxTokens: defaultTokens, ...input, format: 'narrative' });
      const { data } = await client.artifact.get({ ref: narrative.artifactRef });
      return { ...narrative, text: Buffer.from(data, 'base64').toString('utf8') };
    },
  ),
  tool(
    'compaction',
    'reads',
    `Returns what a compaction replaced and left, as counted, and what its summary does not mention: files, decisions, errors and results (default \`limit\` ${defaultLosses}).`,
    inputOf(usage.compaction),
    (client, input) => client.usage.compaction({ limit: defaultLosses, ...input }),
  ),
  tool('resolve', 'reads', 'Returns the context that a principal had at a time (ISO 8601), or null.', inputOf(context.resolve), (client, input) =>
    client.context.resolve(input),
  ),
  tool(
    'ticket_create',
    'writes',
    'Creates a ticket. With `by` and without a context, records the context that you have at this moment.',
    inputOf(ticket.create),
    (client, input) => client.ticket.create(input),
  ),
  tool('ticket_update', 'writes', 'Changes fields of a ticket. Each change is a version that stays.', inputOf(ticket.update), (client, input) =>
    client.ticket.update(input),
  ),
  tool('ticket_get', 'reads', 'Returns a ticket with all its versions.', inputOf(ticket.get), (client, input) => client.ticket.get(input)),
  tool(
    'ticket_list',
    'reads',
    `Lists whole tickets by status, type or parent, in order of creation (default \`limit\` ${defaultTickets}). \`ready\` tickets are open and have no open dependencies.`,
    inputOf(ticket.list),
    (client, input) => client.ticket.list({ limit: defaultTickets, ...input }),
  ),
  tool(
    'ticket_overview',
    'reads',
    `Lists tickets in short form, most recently changed first, by their fields and their words (default \`limit\` ${defaultTickets}), with \`counts\` by status.`,
    inputOf(ticket.overview),
    (client, input) => client.ticket.overview({ limit: defaultTickets, ...input }),
  ),
  tool(
    'ticket_transition',
    'writes',
    'Moves a ticket to another status. A move to in_progress needs an assignee.',
    inputOf(ticket.transition),
    (client, input) => client.ticket.transition(input),
  ),
  tool('ticket_verdict', 'writes', "Records a reviewer's verdict on a ticket in review.", inputOf(ticket.verdict), (client, input) =>
    client.ticket.verdict(input),
  ),
  tool(
    'ticket_discuss',
    'writes',
    "Adds a message to a ticket's thread, which starts from the context in which the ticket was written.",
    inputOf(ticket.discuss),
    (client, input) => client.ticket.discuss(input),
  ),
  tool(
    'ticket_thread',
    'reads',
    "Returns a ticket's discussion, message by message, and the context that it starts from.",
    inputOf(ticket.thread),
    (client, input) => client.ticket.thread(input),
  ),
  tool(
    'ticket_answer',
    'writes',
    "Has a provider answer the last message of a ticket's thread, from the context of the ticket. `recorded` answers only recorded questions.",
    inputOf(ticket.answer),
    async (client, input) => {
      const reply = await client.ticket.answer(input);
      let text = '';
      for (;;) {
        const { done, value } = await reply.next();
        if (done) return { ...value, text };
        if (value.kind === 'text' || value.kind === 'notice') text += value.delta;
      }
    },
  ),
  tool(
    'ticket_start_from',
    'reads',
    'Returns the context from which somebody should start on a ticket. Set `who` to yourself for your own. Null is a fresh start; `choices` names the alternatives.',
    inputOf(ticket.startFrom),
    (client, input) => client.ticket.startFrom(input),
  ),
  tool(
    'ticket_events',
    'reads',
    `Lists requested starts: who should start what, from which context, oldest first (default \`limit\` ${defaultTickets}). Nothing runs by itself: acknowledge what you start.`,
    inputOf(ticket.events),
    (client, input) => client.ticket.events({ limit: defaultTickets, ...input }),
  ),
  tool(
    'ticket_acknowledge',
    'writes',
    'Records that you took, did or dismissed a requested start. The first to take it has it.',
    inputOf(ticket.acknowledge),
    (client, input) => client.ticket.acknowledge(input),
  ),
  tool(
    'ticket_import',
    'writes',
    "Imports tickets from GitHub's JSON of issues and reviews, or from a Markdown task list. Known tickets stay as they are.",
    inputOf(ticket.import),
    (client, input) => client.ticket.import(input),
  ),
  tool('space_messages', 'reads', 'Lists the newest messages of a space, oldest first.', inputOf(space.messages), (client, input) =>
    client.space.messages({ limit: defaultEntries, ...input }),
  ),
  tool(
    'space_post',
    'writes',
    'Posts a message in a space, outside of a run. With `wait` it expects an answer: of one member with `for`, else a reply or the next message of a person.',
    inputOf(space.post),
    (client, input) => client.space.post(input),
  ),
  tool('space_wait', 'reads', 'Returns the wait that a message set, and the message that ended it.', inputOf(space.wait), (client, input) =>
    client.space.wait(input),
  ),
  tool(
    'run_send',
    'writes',
    "Sends a message of a run's agent. With `wait` the run pauses until its answer comes.",
    inputOf(run.send),
    (client, input) => client.run.send(input),
  ),
  tool('run_timeline', 'reads', 'Returns the event context that a run reads now.', inputOf(run.timeline), (client, input) =>
    client.run.timeline(input),
  ),
  tool('card_add', 'writes', 'Writes a card. A card that a turn holds is sealed and refuses other content.', inputOf(card.add), (client, input) =>
    client.card.add(input),
  ),
  tool('card_get', 'reads', 'Returns a card.', inputOf(card.get), (client, input) => client.card.get(input)),
  tool('box_create', 'writes', 'Creates a box from cards.', inputOf(box.create), (client, input) => client.box.create(input)),
  tool('box_cards', 'reads', 'Returns the cards of a box, in its order.', inputOf(box.cards), (client, input) => client.box.cards(input)),
  tool('agent_begin', 'writes', 'Begins a turn that was handed to you. Its input is fixed from then on.', inputOf(agent.begin), (client, input) =>
    client.agent.begin(input),
  ),
  tool('agent_input', 'writes', 'Returns what your turn sees now, and records it as a call of the turn.', inputOf(agent.input), (client, input) =>
    client.agent.input(input),
  ),
  tool('agent_write', 'writes', 'Writes cards into the output box of your turn.', inputOf(agent.write), (client, input) => client.agent.write(input)),
  tool('agent_finish', 'writes', 'Ends your turn.', inputOf(agent.finish), (client, input) => client.agent.finish(input)),
  tool(
    'turn_reproduce',
    'reads',
    'Rebuilds the calls of a turn and compares them with what was recorded.',
    inputOf(turn.reproduce),
    (client, input) => client.turn.reproduce(input),
  ),
];
