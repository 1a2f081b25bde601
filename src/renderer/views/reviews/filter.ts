import type { TicketStatus } from '../../../core/contract/index.js';

/** How the list of tickets is filtered. An empty text filters nothing. */
export interface TicketFilter {
  readonly text: string;
  readonly type: string;
  readonly assignee: string;
  readonly label: string;
  readonly status: TicketStatus | '';
  readonly ready: boolean;
}

export const noFilter: TicketFilter = { text: '', type: '', assignee: '', label: '', status: '', ready: false };

/** The filter as the input of `ticket.overview`. */
export const filterInput = ({ text, type, assignee, label, status, ready }: TicketFilter) => ({
  ...(text.trim() && { text: text.trim() }),
  ...(type && { type }),
  ...(assignee && { assignee }),
  ...(label && { label }),
  ...(status && { status }),
  ...(ready && { ready }),
});
