import { checkpointWriter } from '../project/index.js';
import * as tickets from '../tickets/index.js';
import { chainOf, os, type RouterContext } from './procedure.js';

/** The chain for a write of a ticket, after its author's turn in progress was committed. */
const chainAfter = ({ session }: RouterContext, writer: Parameters<typeof checkpointWriter>[1]) => {
  checkpointWriter(session, writer);
  return session.project().chain;
};

/** The procedures of `ticket`. */
export const ticketRouter = {
  create: os.ticket.create.handler(({ input, context }) => tickets.createTicket(chainAfter(context, input), input)),
  update: os.ticket.update.handler(({ input, context }) => tickets.updateTicket(chainAfter(context, input), input)),
  get: os.ticket.get.handler(({ input, context }) => tickets.ticketOf(chainOf(context), input.ticketId)),
  list: os.ticket.list.handler(({ input, context }) => tickets.listTickets(chainOf(context), input)),
  overview: os.ticket.overview.handler(({ input, context }) => tickets.overview(chainOf(context), input)),
  facets: os.ticket.facets.handler(({ context }) => tickets.facets(chainOf(context))),
  transition: os.ticket.transition.handler(({ input, context }) => tickets.moveTicket(chainAfter(context, input), input)),
  verdict: os.ticket.verdict.handler(({ input, context }) => tickets.giveVerdict(chainAfter(context, { ...input, by: input.reviewer }), input)),
  discuss: os.ticket.discuss.handler(({ input, context }) => tickets.discuss(chainAfter(context, { by: input.principal }), input)),
  answer: os.ticket.answer.handler(({ input, context, signal }) =>
    tickets.answer(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  thread: os.ticket.thread.handler(({ input, context }) => tickets.thread(chainOf(context), input.ticketId)),
  startFrom: os.ticket.startFrom.handler(({ input, context }) => tickets.startFrom(chainOf(context), input)),
  ofContexts: os.ticket.ofContexts.handler(({ input, context }) => tickets.ticketsOfContexts(chainOf(context), input)),
  events: os.ticket.events.handler(({ input, context }) => tickets.events(chainOf(context), input)),
  acknowledge: os.ticket.acknowledge.handler(({ input, context }) => tickets.acknowledge(chainOf(context), input)),
  import: os.ticket.import.handler(({ input, context }) => tickets.importTickets(chainOf(context), input)),
};
