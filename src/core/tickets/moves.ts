import { type Holder, type TicketStatus, ticketMoves } from '../contract/index.js';

/** What the move does with the assignee, or undefined where there is no such move. */
export const moveOf = (from: TicketStatus, to: TicketStatus): Holder | undefined => ticketMoves[from][to];

export const movesFrom = (from: TicketStatus): string[] => Object.keys(ticketMoves[from]);
