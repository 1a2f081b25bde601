import { type AssigneeEffect, type TicketStatus, ticketMoves } from '../contract/index.js';

/** The effect of a move on the assignee; undefined if the move is not allowed. */
export const moveOf = (from: TicketStatus, to: TicketStatus): AssigneeEffect | undefined => ticketMoves[from][to];

/** The statuses that a status can move to. */
export const movesFrom = (from: TicketStatus): string[] => Object.keys(ticketMoves[from]);
