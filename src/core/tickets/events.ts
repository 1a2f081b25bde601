import { timestampOf } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { TicketEvent } from '../contract/index.js';

/** Records that somebody should start: acting on it is a person's or a runner's choice (K5). */
export function ask(chain: Chain, ticket: number, who: string, task: TicketEvent['task'], contextId: string | null): void {
  chain.db.run(
    'INSERT INTO ticketEvent (project, ticket, at, who, task, contextId) VALUES (?, ?, ?, ?, ?, ?)',
    chain.project,
    ticket,
    chain.clock(),
    who,
    task,
    contextId,
  );
}

/** What was asked for, oldest first, after an event that is known already. */
export function events(chain: Chain, after = 0): TicketEvent[] {
  return chain.db
    .all<{ event: number; at: number; ticketId: string; who: string; task: TicketEvent['task']; contextId: string | null }>(
      'SELECT e.no AS event, e.at, t.ticketId, e.who, e.task, e.contextId FROM ticketEvent e JOIN ticket t ON t.no = e.ticket WHERE e.project = ? AND e.no > ? ORDER BY e.no',
      chain.project,
      after,
    )
    .map((row) => ({ ...row, at: timestampOf(row.at) }));
}
