// tickets: work items that store the context of each change: status, findings, verdicts, versions, discussions.
// `ticketMoves` of the contract is the state machine. Nothing here runs an agent: moves record who should start, and from which context.
// The rules are in test/spec/tickets.md. A contextId can be any string; understood.ts selects the commit to resume from.
export { answer, discuss, discussedIn, findingText, thread } from './discuss.js';
export { acknowledge, allowStart, eventNamed, events, receivedStart } from './events.js';
export { importTickets } from './import.js';
export { facets, overview, ticketsOfContexts } from './overview.js';
export { createTicket, listTickets, ticketOf, updateTicket } from './tickets.js';
export { giveVerdict, moveTicket } from './transition.js';
export { startFrom } from './understood.js';
