// tickets: work items that remember what was understood when they changed: status, findings, verdicts, versions, discussions.
// moves.ts is the state machine; nothing here runs an agent by itself, it records who should start and from which context.
// Rules K1 to K8 of test/spec/tickets.md; a ticket's contextId is opaque, understood.ts says which one to resume from.
export { answer, discuss, thread } from './discuss.js';
export { acknowledge, events } from './events.js';
export { importTickets } from './import.js';
export { facets, overview, ticketsOfContexts } from './overview.js';
export { createTicket, listTickets, ticketOf, updateTicket } from './tickets.js';
export { giveVerdict, moveTicket } from './transition.js';
export { startFrom } from './understood.js';
