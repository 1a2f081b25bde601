import { z } from 'zod';
import { contract } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';

/** A tool of an agent: its name, what it says of itself, the JSON Schema of what it takes, and the procedure behind it. */
export interface AgentTool {
  name: string;
  description: string;
  readOnly: boolean;
  inputSchema: { type: 'object'; [word: string]: unknown };
  /** The contract checks the input: whatever came is handed on. */
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

const { context, search, ticket } = contract;
const inputOf = <Schema>(procedure: { '~orpc': { inputSchema?: Schema } }): NonNullable<Schema> =>
  procedure['~orpc'].inputSchema as NonNullable<Schema>;

/** What an agent gets that named no limit: a whole history would fill its window at one call. */
const ticketsUnasked = 50;
const entriesUnasked = 50;
const tokensUnasked = 10_000;

export const tools: readonly AgentTool[] = [
  tool(
    'checkpoint',
    'writes',
    'Keeps a moment of understanding as a commit: `text` in the named format (claude-code-v1, markdown, …) after `parent`, or null for a new chain. `principal` is whose understanding it is; `checkpoint` is explicit when you decide it.',
    inputOf(context.checkpoint),
    (client, input) => client.context.checkpoint(input),
  ),
  tool(
    'search',
    'reads',
    'Finds entries of all histories, your own and those of colleagues, that hold all the words. Each hit names its commit and entry.',
    inputOf(search.query),
    (client, input) => client.search.query(input),
  ),
  tool(
    'history',
    'reads',
    'The commits from a context back towards the root, newest first; `depth` is the most of them.',
    inputOf(context.history),
    (client, input) => client.context.history(input),
  ),
  tool(
    'entries',
    'reads',
    `What a context holds, entry by entry: messages, tool calls, results. Long: read it in pages with \`offset\` and \`limit\` (${entriesUnasked} where you give none); with \`stop\` set to the id itself, only what that commit added.`,
    inputOf(context.entries),
    (client, input) => client.context.entries({ limit: entriesUnasked, ...input }),
  ),
  tool(
    'materialize',
    'reads',
    `A context told as a narrative: who said what, which tools ran with what effect. \`maxTokens\` is the most that it may take, ${tokensUnasked} where you give none.`,
    inputOf(context.materialize).omit({ format: true }),
    async (client, input) => {
      const narrative = await client.context.materialize({ maxTokens: tokensUnasked, ...input, format: 'narrative' });
      const { data } = await client.artifact.get({ ref: narrative.artifactRef });
      return { ...narrative, text: Buffer.from(data, 'base64').toString('utf8') };
    },
  ),
  tool(
    'resolve',
    'reads',
    'The context that a principal had at an instant (ISO 8601); null where there was none.',
    inputOf(context.resolve),
    (client, input) => client.context.resolve(input),
  ),
  tool(
    'ticket_create',
    'writes',
    'Makes a ticket. With `by`, the context that you had at this moment is kept with it, where none is given.',
    inputOf(ticket.create),
    (client, input) => client.ticket.create(input),
  ),
  tool('ticket_update', 'writes', 'Changes fields of a ticket; each change is a version that stays.', inputOf(ticket.update), (client, input) =>
    client.ticket.update(input),
  ),
  tool('ticket_get', 'reads', 'A ticket with all its versions.', inputOf(ticket.get), (client, input) => client.ticket.get(input)),
  tool(
    'ticket_list',
    'reads',
    `Tickets by status, type or parent, each whole, in the order of their making (${ticketsUnasked} where you give no \`limit\`); \`ready\` ones wait for no other.`,
    inputOf(ticket.list),
    (client, input) => client.ticket.list({ limit: ticketsUnasked, ...input }),
  ),
  tool(
    'ticket_overview',
    'reads',
    `Tickets in short, those changed last first, by what they are and the words they have (${ticketsUnasked} where you give no \`limit\`); \`counts\` by status.`,
    inputOf(ticket.overview),
    (client, input) => client.ticket.overview({ limit: ticketsUnasked, ...input }),
  ),
  tool(
    'ticket_transition',
    'writes',
    'Moves a ticket to another status; a move to in_progress needs an assignee.',
    inputOf(ticket.transition),
    (client, input) => client.ticket.transition(input),
  ),
  tool('ticket_verdict', 'writes', "A reviewer's verdict on a ticket that is in review.", inputOf(ticket.verdict), (client, input) =>
    client.ticket.verdict(input),
  ),
  tool(
    'ticket_discuss',
    'writes',
    "Says something in a ticket's thread, which goes on from the context that the ticket was written with.",
    inputOf(ticket.discuss),
    (client, input) => client.ticket.discuss(input),
  ),
  tool(
    'ticket_thread',
    'reads',
    "A ticket's discussion, message by message, and the context that it goes on from.",
    inputOf(ticket.thread),
    (client, input) => client.ticket.thread(input),
  ),
  tool(
    'ticket_answer',
    'writes',
    "Has the last message of a ticket's thread answered by a provider, as whoever understood the ticket then; `recorded` answers what was asked before.",
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
    'From which context somebody should start on a ticket: yours, where `who` is you. Null is a fresh start; `choices` names the others.',
    inputOf(ticket.startFrom),
    (client, input) => client.ticket.startFrom(input),
  ),
  tool(
    'ticket_events',
    'reads',
    `Who was asked to start what, from which context, by moves and questions, oldest first (${ticketsUnasked} where you give no \`limit\`). Nothing runs by itself: take what is yours.`,
    inputOf(ticket.events),
    (client, input) => client.ticket.events({ limit: ticketsUnasked, ...input }),
  ),
  tool(
    'ticket_acknowledge',
    'writes',
    'Says that you took, did or dismissed a start that was asked for; whoever takes it first has it.',
    inputOf(ticket.acknowledge),
    (client, input) => client.ticket.acknowledge(input),
  ),
  tool(
    'ticket_import',
    'writes',
    "Makes tickets of GitHub's JSON of issues and reviews, or of a Markdown task list; what was brought in before stays as it is.",
    inputOf(ticket.import),
    (client, input) => client.ticket.import(input),
  ),
];
