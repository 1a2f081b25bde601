import { z } from 'zod';
import { contract } from '../../core/contract/index.js';
import { type AgentTool, inputOf, toolsOf } from './tool.js';

const { ticket } = contract;
const tool = toolsOf('tickets');

/** A default limit, because all tickets would fill the agent's context window in one call. */
const defaultTickets = 50;

/** Tools for tickets, their reviews and their discussions. */
export const ticketTools: readonly AgentTool[] = [
  tool(
    'ticket_create',
    'writes',
    'Creates a ticket. With `by` and without a context, records your latest context.',
    inputOf(ticket.create),
    (client, input) => client.ticket.create(input),
    { who: 'by' },
  ),
  tool(
    'ticket_update',
    'writes',
    'Changes fields of a ticket. Each change is stored as a version.',
    inputOf(ticket.update),
    (client, input) => client.ticket.update(input),
    { who: 'by' },
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
    { who: 'by' },
  ),
  tool(
    'ticket_verdict',
    'writes',
    "Records a reviewer's verdict on a ticket in review.",
    inputOf(ticket.verdict),
    (client, input) => client.ticket.verdict(input),
    { who: 'reviewer' },
  ),
  tool(
    'ticket_discuss',
    'writes',
    "Adds a message to a ticket's thread, which starts from the context in which the ticket was written.",
    inputOf(ticket.discuss),
    (client, input) => client.ticket.discuss(input),
    { who: 'principal' },
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
    "Lets a provider answer the last message of a ticket's thread, from the context of the ticket. `recorded` answers only recorded questions.",
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
    { starts: true },
  ),
  tool(
    'ticket_start_from',
    'reads',
    'Returns the context from which a person or agent should start on a ticket. Set `who` to your own name to get yours. Null is a fresh start; `choices` lists the alternatives.',
    inputOf(ticket.startFrom),
    (client, input) => client.ticket.startFrom(input),
  ),
  tool(
    'ticket_events',
    'reads',
    `Lists requested starts: who should start on which ticket and from which context, oldest first (default \`limit\` ${defaultTickets}). Acknowledge the requests that you start on.`,
    inputOf(ticket.events),
    (client, input) => client.ticket.events({ limit: defaultTickets, ...input }),
  ),
  tool(
    'ticket_acknowledge',
    'writes',
    'Records that you took, did or dismissed a requested start. A start can be taken only once.',
    inputOf(ticket.acknowledge),
    (client, input) => client.ticket.acknowledge(input),
    { who: 'by' },
  ),
  tool(
    'ticket_import',
    'writes',
    "Imports tickets from GitHub's JSON of issues and reviews, or from a Markdown task list. Known tickets stay as they are.",
    inputOf(ticket.import),
    (client, input) => client.ticket.import(input),
  ),
  tool(
    'ticket_mine',
    'reads',
    'Lists your tickets: those that are assigned to you, and the starts that wait for you.',
    z.strictObject({ who: z.string().min(1).describe('Your name.') }),
    async (client, { who }) => ({
      assigned: (await client.ticket.overview({ assignee: who, limit: defaultTickets })).rows,
      asked: await client.ticket.events({ who, state: ['waiting', 'taken'], limit: defaultTickets }),
    }),
    { who: 'who' },
  ),
];
