import type { TicketStatus } from '../../core/contract/index.js';

export const statusNames: Readonly<Record<TicketStatus, string>> = {
  open: 'Open',
  in_progress: 'In progress',
  review: 'In review',
  blocked: 'Blocked',
  deferred: 'Deferred',
  closed: 'Closed',
};
