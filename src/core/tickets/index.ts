// tickets: work items that remember what was understood when they changed: status, findings, verdicts, versions, discussions.
// moves.ts is the state machine as a table; nothing here runs an agent, it records who should start and from which context.
// Rules K1 to K5 of test/spec/tickets.md; a ticket's contextId is opaque, only discussions look behind it.
export { discuss } from './discuss.js';
export { events } from './events.js';
export { importTickets } from './import.js';
export { createTicket, giveVerdict, listTickets, moveTicket, ticketOf, updateTicket } from './tickets.js';
