import { notFound, StemmaError, timestampOf } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { EventState, TicketEvent, TicketStatus, TicketTask } from '../contract/index.js';
import { recordAt, recordOf, type TicketRecord } from './rows.js';
import { discussionTip } from './understood.js';

interface Asked {
  /** Null: anybody. */
  readonly who: string | null;
  readonly task: TicketTask;
  readonly contextId: string | null;
  readonly by: string | undefined;
  readonly move?: { readonly from: TicketStatus; readonly to: TicketStatus } | undefined;
}

/** Records that somebody should start: acting on it is a person's or a runner's choice (K5). */
export function ask(chain: Chain, ticket: number, { who, task, contextId, by, move }: Asked): void {
  chain.db.run(
    'INSERT INTO ticketEvent (project, ticket, at, who, task, contextId, moveFrom, moveTo, by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    chain.project,
    ticket,
    chain.clock(),
    who,
    task,
    contextId,
    move?.from ?? null,
    move?.to ?? null,
    by ?? null,
  );
}

interface EventRow {
  readonly no: number;
  readonly ticket: number;
  readonly at: number;
  readonly who: string | null;
  readonly task: TicketTask;
  readonly contextId: string | null;
  readonly moveFrom: TicketStatus | null;
  readonly moveTo: TicketStatus | null;
  readonly by: string | null;
  readonly answer: 'taken' | 'done' | 'dismissed' | null;
  readonly answeredBy: string | null;
  readonly answeredAt: number | null;
}

export interface EventFilter {
  readonly after?: number | undefined;
  readonly ticketId?: string | undefined;
  readonly who?: string | undefined;
  readonly state?: EventState | undefined;
}

/** What was asked for, oldest first. @throws NOT_FOUND for a ticket that is not there. */
export function events(chain: Chain, { after = 0, ticketId, who, state }: EventFilter = {}): TicketEvent[] {
  const ticket = ticketId === undefined ? null : recordOf(chain, ticketId).no;
  const rows = chain.db.all<EventRow>(
    'SELECT * FROM ticketEvent WHERE project = ? AND no > ? AND (? IS NULL OR ticket = ?) AND (? IS NULL OR who IS NULL OR who = ?) ORDER BY no',
    chain.project,
    after,
    ticket,
    ticket,
    who ?? null,
    who ?? null,
  );
  return rows.map((row) => toEvent(chain, row)).filter((event) => state === undefined || event.state === state);
}

/** Says of an event that it was taken, done or let be (K5). @throws CONFLICT where somebody else took it, or it waits no more. */
export function acknowledge(chain: Chain, input: { event: number; by: string; as: 'taken' | 'done' | 'dismissed' }): TicketEvent {
  return chain.db.transaction(() => {
    const row = eventRow(chain, input.event);
    const { state, answeredBy } = toEvent(chain, row);
    if (state !== 'waiting' && state !== 'taken')
      throw new StemmaError('CONFLICT', `the start ${row.no} is ${state}: there is nothing to take any more`, { state });
    if (state === 'taken' && answeredBy !== input.by)
      throw new StemmaError('CONFLICT', `the start ${row.no} is taken, held by ${answeredBy}: whoever takes it first has it`, { holder: answeredBy });
    chain.db.run('UPDATE ticketEvent SET answer = ?, answeredBy = ?, answeredAt = ? WHERE no = ?', input.as, input.by, chain.clock(), row.no);
    return toEvent(chain, eventRow(chain, row.no));
  });
}

function eventRow(chain: Chain, no: number): EventRow {
  const row = chain.db.one<EventRow>('SELECT * FROM ticketEvent WHERE project = ? AND no = ?', chain.project, no);
  if (!row) throw notFound(String(no), `no start ${no} was asked for in this project`);
  return row;
}

function toEvent(chain: Chain, row: EventRow): TicketEvent {
  const ticket = recordAt(chain, row.ticket);
  return {
    event: row.no,
    at: timestampOf(row.at),
    ticketId: ticket.ticketId,
    title: ticket.title,
    who: row.who,
    task: row.task,
    contextId: row.contextId,
    move: row.moveFrom !== null && row.moveTo !== null ? { from: row.moveFrom, to: row.moveTo } : null,
    by: row.by,
    state: row.answer === 'done' || row.answer === 'dismissed' ? row.answer : stateOf(chain, row, ticket),
    answeredBy: row.answeredBy,
    answeredAt: row.answeredAt === null ? null : timestampOf(row.answeredAt),
  };
}

/** One doing under two names: a later one takes the place of an earlier. */
const doing: readonly TicketTask[] = ['work', 'address_findings'];
const isDoing = (task: TicketTask): boolean => doing.includes(task);

/** A start that was asked for waits until the ticket shows that it was made, or goes on without it. */
function stateOf(chain: Chain, row: EventRow, ticket: TicketRecord): EventState {
  const waiting = row.answer === 'taken' ? 'taken' : 'waiting';
  const isLast =
    chain.db.one(
      'SELECT 1 FROM ticketEvent WHERE ticket = ? AND task IN (SELECT value FROM json_each(?)) AND who IS ? AND no > ? AND project = ?',
      row.ticket,
      JSON.stringify(isDoing(row.task) ? doing : [row.task]),
      row.who,
      row.no,
      chain.project,
    ) === undefined;
  if (!isLast) return 'overtaken';
  switch (row.task) {
    case 'review': {
      const reviewer = ticket.reviewers.find(({ name }) => name === row.who);
      if (ticket.status !== 'review' || !reviewer) return 'overtaken';
      return reviewer.verdict === 'pending' ? waiting : 'done';
    }
    case 'work':
    case 'address_findings':
      if (ticket.status === 'review' || ticket.status === 'closed') return 'done';
      // Asked for by a claim, or of an open ticket when the last that it waited for was closed.
      if (row.moveTo === null) return ticket.status === 'open' ? waiting : 'done';
      return ticket.status === 'in_progress' && ticket.assignee === row.who ? waiting : 'overtaken';
    case 'decide':
      if (ticket.status !== 'review') return 'done';
      return ticket.reviewers.some(({ verdict }) => verdict === 'pending') ? 'overtaken' : waiting;
    case 'answer':
      return discussionTip(chain, ticket) === row.contextId ? waiting : 'done';
    case 'verify_resolution':
      return ticket.status === 'closed' ? waiting : 'done';
  }
}
