import { checkpointWriter, type Session } from '../project/index.js';
import { previewTicketStart } from '../runner/index.js';
import * as tickets from '../tickets/index.js';
import { reads, writes } from './procedure.js';

/** The chain for a write of a ticket, after its author's turn in progress was committed. */
const chainAfter = ({ session }: { readonly session: Session }, writer: Parameters<typeof checkpointWriter>[1]) => {
  checkpointWriter(session, writer);
  return session.project().chain;
};

export const ticketRouter = {
  create: writes.ticket.create.handler(({ input, context }) => tickets.createTicket(chainAfter(context, input), input)),
  update: writes.ticket.update.handler(({ input, context }) => tickets.updateTicket(chainAfter(context, input), input)),
  get: reads.ticket.get.handler(({ input, context }) => tickets.ticketOf(context.chain, input.ticketId)),
  list: reads.ticket.list.handler(({ input, context }) => tickets.listTickets(context.chain, input)),
  overview: reads.ticket.overview.handler(({ input, context }) => tickets.overview(context.chain, input)),
  facets: reads.ticket.facets.handler(({ context }) => tickets.facets(context.chain)),
  transition: writes.ticket.transition.handler(({ input, context }) => tickets.moveTicket(chainAfter(context, input), input)),
  verdict: writes.ticket.verdict.handler(({ input, context }) => tickets.giveVerdict(chainAfter(context, { ...input, by: input.reviewer }), input)),
  discuss: writes.ticket.discuss.handler(({ input, context }) => tickets.discuss(chainAfter(context, { by: input.principal }), input)),
  answer: writes.ticket.answer.handler(({ input, context, signal }) => tickets.answer(context.chain, input, context.providers, signal)),
  thread: reads.ticket.thread.handler(({ input, context }) => tickets.thread(context.chain, input.ticketId)),
  startFrom: reads.ticket.startFrom.handler(({ input, context }) => tickets.startFrom(context.chain, input)),
  ofContexts: reads.ticket.ofContexts.handler(({ input, context }) => tickets.ticketsOfContexts(context.chain, input)),
  events: reads.ticket.events.handler(({ input, context }) => tickets.events(context.chain, input)),
  preview: reads.ticket.preview.handler(({ input, context }) => previewTicketStart(context.chain, input)),
  acknowledge: writes.ticket.acknowledge.handler(({ input, context }) => tickets.acknowledge(context.chain, input)),
  import: writes.ticket.import.handler(({ input, context }) => tickets.importTickets(context.chain, input)),
};
