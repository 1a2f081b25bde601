import type { TicketStatus } from '../contract/index.js';

/** What a move does with the one who holds the ticket. */
type Holder = 'kept' | 'cleared' | 'needed';

/** K1: every move that there is. What is not in the table is a conflict. */
const moves: Readonly<Record<TicketStatus, Partial<Record<TicketStatus, Holder>>>> = {
  open: { in_progress: 'needed', review: 'kept', blocked: 'kept', deferred: 'kept', closed: 'kept' },
  in_progress: { open: 'cleared', review: 'kept', blocked: 'kept', closed: 'kept' },
  review: { in_progress: 'kept', blocked: 'kept', open: 'cleared', closed: 'cleared' },
  blocked: { open: 'kept', in_progress: 'needed', review: 'kept', closed: 'kept' },
  deferred: { open: 'kept', in_progress: 'needed', review: 'kept', closed: 'kept' },
  closed: { open: 'kept' },
};

/** What the move does with the assignee, or undefined where there is no such move. */
export const moveOf = (from: TicketStatus, to: TicketStatus): Holder | undefined => moves[from][to];

export const movesFrom = (from: TicketStatus): string[] => Object.keys(moves[from]);
