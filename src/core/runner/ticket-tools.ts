import { picked } from '../base/index.js';
import { type Ticket, type TicketRow, ticketStatuses, verdicts, z } from '../contract/index.js';
import { createTicket, discuss, giveVerdict, moveTicket, overview, thread, ticketOf, updateTicket } from '../tickets/index.js';
import { type Actor, maxResults, type Tool, text, tool } from './tool.js';

const ticketId = text('The ticket.');
const occasion = (actor: Actor) => ({ by: actor.who, contextId: actor.context() });

const shown = (ticket: Ticket) => ({
  ticket_id: ticket.ticketId,
  ...picked(ticket, 'title', 'type', 'status', 'assignee', 'reviewers', 'parent', 'body', 'resolution', 'children', 'findings'),
});

const inList = (row: TicketRow) => ({ ticket_id: row.ticketId, ...picked(row, 'title', 'type', 'status', 'assignee', 'parent', 'ready') });

/** Tools for tickets. Each write records the name of the actor and the newest commit of its work. */
export const ticketTools: readonly Tool[] = [
  tool('ticket_get', 'Returns a ticket with its discussion.', z.strictObject({ ticket_id: ticketId }), (chain, _actor, { ticket_id: id }) => ({
    result: { ...shown(ticketOf(chain, id)), thread: thread(chain, id).messages.map(({ by, at, text: said }) => ({ by, at, text: said })) },
  })),
  tool(
    'ticket_list',
    'Lists tickets, most recently changed first.',
    z.strictObject({
      status: z.enum(ticketStatuses).optional().describe('Only tickets with this status.'),
      type: z.string().optional().describe('Only tickets of this type.'),
      parent: z.string().optional().describe('Only subtickets of this ticket.'),
      mine: z.boolean().optional().describe('Only tickets that are assigned to you.'),
      ready: z.boolean().optional().describe('Only tickets that are open, with no open dependencies.'),
    }),
    (chain, { who }, { mine, ...filter }) => ({
      result: { tickets: overview(chain, { ...filter, assignee: mine === true ? who : undefined, limit: maxResults }).rows.map(inList) },
    }),
  ),
  tool(
    'ticket_create',
    'Creates a ticket. A finding of a review has the type review_finding and the reviewed ticket as its parent.',
    z.strictObject({
      title: text('The title.'),
      type: text('The type: task, bug, feature, question, review, review_finding or another label.'),
      body: z.string().max(1_000_000).optional().describe('The description.'),
      parent: z.string().optional().describe('The ticket that this ticket belongs to.'),
      assignee: z.string().optional().describe('Who works on it.'),
    }),
    (chain, actor, input) => ({ result: shown(createTicket(chain, { ...input, ...occasion(actor) })) }),
  ),
  tool(
    'ticket_update',
    'Changes a ticket.',
    z.strictObject({
      ticket_id: ticketId,
      title: z.string().min(1).optional().describe('The new title.'),
      body: z.string().optional().describe('The new description.'),
      assignee: z.string().min(1).optional().describe('The new assignee.'),
      reviewers: z.array(z.string()).optional().describe('Who reviews it.'),
      reason: z.string().min(1).optional().describe('Why.'),
    }),
    (chain, actor, { ticket_id: id, ...input }) => ({ result: shown(updateTicket(chain, { ticketId: id, ...input, ...occasion(actor) })) }),
  ),
  tool(
    'ticket_transition',
    'Moves a ticket to another status. in_progress needs an assignee, review needs reviewers, and closing a finding needs a resolution.',
    z.strictObject({
      ticket_id: ticketId,
      to: z.enum(ticketStatuses).describe('The new status.'),
      assignee: z.string().min(1).optional().describe('Who works on it.'),
      reviewers: z.array(z.string()).optional().describe('Who reviews it.'),
      resolution: z.string().min(1).optional().describe('How it was resolved.'),
      reason: z.string().min(1).optional().describe('Why, such as why it is closed with open findings.'),
    }),
    (chain, actor, { ticket_id: id, ...input }) => ({ result: shown(moveTicket(chain, { ticketId: id, ...input, ...occasion(actor) })) }),
  ),
  tool(
    'ticket_verdict',
    'Gives your verdict on a ticket that you review.',
    z.strictObject({
      ticket_id: ticketId,
      verdict: z.enum(verdicts).describe('The verdict.'),
      reason: z.string().min(1).optional().describe('Why.'),
    }),
    (chain, actor, { ticket_id: id, ...input }) => ({
      result: shown(giveVerdict(chain, { ticketId: id, reviewer: actor.who, ...input, contextId: actor.context() })),
    }),
  ),
  tool(
    'ticket_discuss',
    "Adds a message to a ticket's thread. Its author or assignee answers from the context of that time.",
    z.strictObject({ ticket_id: ticketId, text: text('The message.') }),
    (chain, actor, { ticket_id: id, text: said }) => {
      const { threadId, commit } = discuss(chain, { ticketId: id, text: said, principal: actor.who });
      return { result: { thread_id: threadId, context_id: commit.id } };
    },
  ),
];
