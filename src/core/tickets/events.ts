import { conflict, notFound, toTimestamp } from '../base/index.js';
import { allowReceived, type ReadChain, receivedAt, type WriteChain } from '../chain/index.js';
import type { InputOf, Received, TicketEvent, TicketStatus, TicketTask } from '../contract/index.js';
import { readTicket } from './rows.js';
import { knownContext, startNow } from './understood.js';

export interface AskedStart {
  /** Null means any agent or person. */
  readonly who: string | null;
  readonly task: TicketTask;
  readonly contextId: string | null;
  readonly by: string | undefined;
  readonly move?: { readonly from: TicketStatus; readonly to: TicketStatus } | undefined;
}

/** Requests that an agent or person starts on a ticket. A person or a runner decides whether to act on it (K5). */
export function ask(chain: WriteChain, ticket: number, { who, task, contextId, by, move }: AskedStart): void {
  const moved = { moveFrom: move?.from, moveTo: move?.to };
  chain.db.insert('ticketEvent', { project: chain.project, ticket, at: chain.clock(), who, task, contextId, ...moved, by });
}

interface EventRow
  extends Readonly<Pick<TicketEvent, 'ticketId' | 'title' | 'who' | 'task' | 'contextId' | 'by' | 'state' | 'answeredBy'>>,
    Readonly<Record<'no' | 'ticket' | 'at', number>>,
    Readonly<Record<'moveFrom' | 'moveTo', TicketStatus | null>> {
  readonly answeredAt: number | null;
}

/**
 * The state of a start. It waits until the ticket shows that it was done or that it is obsolete. A later start of the same
 * person for the same task replaces an earlier one; `work` and `address_findings` count as the same task.
 */
const stateSql = /* sql */ `CASE
  WHEN a.answer IN ('done', 'dismissed') THEN a.answer
  WHEN EXISTS (SELECT 1 FROM ticketEvent later WHERE later.ticket = e.ticket AND later.no > e.no AND later.who IS e.who
    AND (later.task = e.task OR (later.task IN ('work', 'address_findings') AND e.task IN ('work', 'address_findings')))) THEN 'overtaken'
  ELSE COALESCE(CASE e.task
    WHEN 'review' THEN CASE
      WHEN t.status <> 'review' OR NOT EXISTS (SELECT 1 FROM json_each(t.reviewers) r WHERE r.value ->> 'name' = e.who) THEN 'overtaken'
      WHEN NOT EXISTS (SELECT 1 FROM json_each(t.reviewers) r WHERE r.value ->> 'name' = e.who AND r.value ->> 'verdict' = 'pending') THEN 'done' END
    WHEN 'decide' THEN CASE
      WHEN t.status <> 'review' THEN 'done'
      WHEN EXISTS (SELECT 1 FROM json_each(t.reviewers) r WHERE r.value ->> 'verdict' = 'pending') THEN 'overtaken' END
    WHEN 'answer' THEN CASE
      WHEN (SELECT c.id FROM commits c WHERE c.project = t.project AND c.threadId = t.threadId ORDER BY c.seq DESC LIMIT 1) IS NOT e.contextId THEN 'done'
      WHEN t.status = 'closed' THEN 'overtaken' END
    WHEN 'verify_resolution' THEN CASE
      WHEN t.status <> 'closed' THEN 'done'
      WHEN (SELECT p.status FROM ticket p WHERE p.no = t.parent) = 'closed' THEN 'overtaken' END
    ELSE CASE
      WHEN t.status IN ('review', 'closed') THEN 'done'
      -- Made by a claim, or for an open ticket when its last dependency was closed.
      WHEN e.moveTo IS NULL AND t.status <> 'open' THEN 'done'
      WHEN e.moveTo IS NOT NULL AND (t.status <> 'in_progress' OR t.assignee IS NOT e.who) THEN 'overtaken' END
    END, a.answer, 'waiting')
  END`;

const selectEvent = /* sql */ `SELECT e.no, e.ticket, e.at, t.ticketId, t.title, e.who, e.task, e.contextId, e.moveFrom, e.moveTo, e.by,
    ${stateSql} AS state, a.by AS answeredBy, a.at AS answeredAt
  FROM ticketEvent e JOIN ticket t ON t.no = e.ticket
  LEFT JOIN ticketAnswer a ON a.no = (SELECT MAX(no) FROM ticketAnswer WHERE event = e.no)`;

/** Lists starts, oldest first or newest first. @throws NOT_FOUND for an unknown ticket. */
export function events(chain: ReadChain, { after = 0, ticketId, who, state, newestFirst, limit }: InputOf<'ticket.events'> = {}): TicketEvent[] {
  return chain.db
    .all<EventRow>(
      `SELECT * FROM (${selectEvent} WHERE e.project = :project AND e.no > :after AND (:ticket IS NULL OR e.ticket = :ticket)
         AND (:who IS NULL OR e.who IS NULL OR e.who = :who))
        WHERE :states IS NULL OR state IN (SELECT value FROM json_each(:states)) ORDER BY no ${newestFirst ? 'DESC' : 'ASC'} LIMIT :limit`,
      {
        project: chain.project,
        after,
        ticket: ticketId === undefined ? null : readTicket(chain, ticketId).no,
        who: who ?? null,
        states: state === undefined ? null : JSON.stringify([state].flat()),
        limit: limit ?? -1,
      },
    )
    .map((row) => toEvent(chain, row));
}

/** The number of waiting starts. */
export const waitingCount = (chain: ReadChain): number =>
  chain.db.value<number>(`SELECT COUNT(*) FROM (${selectEvent} WHERE e.project = ?) WHERE state = 'waiting'`, chain.project) ?? 0;

/** Marks a start as taken, done or dismissed (K5). @throws CONFLICT if another agent or person took it, or if it is not waiting. */
export function acknowledge(chain: WriteChain, input: InputOf<'ticket.acknowledge'>): TicketEvent {
  return chain.db.transaction(() => {
    const { state, answeredBy } = eventNamed(chain, input.event);
    if (state !== 'waiting' && state !== 'taken') throw conflict(`The start ${input.event} is ${state} and cannot be taken.`, { state });
    if (state === 'taken' && answeredBy !== input.by) throw conflict(`The start ${input.event} was taken by ${answeredBy}.`, { holder: answeredBy });
    const { event, by, as: answer } = input;
    chain.db.insert('ticketAnswer', { project: chain.project, event, at: chain.clock(), by, answer });
    return eventNamed(chain, input.event);
  });
}

/** Reads a start. @throws NOT_FOUND */
export function eventNamed(chain: ReadChain, no: number): TicketEvent {
  const row = chain.db.one<EventRow>(`${selectEvent} WHERE e.project = ? AND e.no = ?`, chain.project, no);
  if (!row) throw notFound(String(no), `This project has no start ${no}.`);
  return toEvent(chain, row);
}

type Begun = Pick<EventRow, 'no' | 'ticket' | 'at' | 'task' | 'moveTo' | 'by'>;

/**
 * Who sent what a start is about, if another machine did: the start, or its ticket. A person who gives a ticket to somebody has read it. Nobody
 * here has when the start followed from closing another ticket, when an agent passed the ticket on, or when the ticket came later.
 */
function senderOf(chain: ReadChain, { no, ticket, at, task, moveTo, by }: Begun): Received | null {
  const own = receivedAt(chain, 'ticketEvent', no);
  if (own) return own;
  const from = receivedAt(chain, 'ticket', ticket);
  if (from === null) return null;
  const isUnread = (task === 'work' && moveTo === null) || Date.parse(from.at) > at || isAtWork(chain, { by, at });
  return isUnread ? from : null;
}

/** Whether this name did the work of a job then, as an agent does. */
const isAtWork = ({ db, project }: ReadChain, { by, at }: Pick<Begun, 'by' | 'at'>): boolean =>
  by !== null &&
  db.one(
    'SELECT 1 FROM job WHERE project = ? AND startedAt <= ? AND (endedAt IS NULL OR endedAt >= ?) AND (who = ? OR ?)',
    project,
    at,
    at,
    by,
    // The name of an agent that does the work of a person.
    Number(/^(?:agent|model):/.test(by)),
  ) !== undefined;

const begun = ({ db, project }: ReadChain, no: number): Begun | undefined =>
  db.one<Begun>('SELECT no, ticket, at, task, moveTo, by FROM ticketEvent WHERE no = ? AND project = ?', no, project);

/** Who sent a start or its ticket from another machine; null if a person of this machine began it. */
export function receivedStart(chain: ReadChain, no: number): Received | null {
  const event = begun(chain, no);
  return event ? senderOf(chain, event) : null;
}

/** Records that a person of this machine allows a start on the ticket as it is now. */
export function allowStart(chain: WriteChain, no: number): void {
  const event = begun(chain, no);
  if (!event) return;
  allowReceived(chain, 'ticketEvent', no);
  allowReceived(chain, 'ticket', event.ticket);
}

/** The context to start from: the current one while the start waits, and the recorded one afterwards. */
function contextOf(chain: ReadChain, { ticketId, who, task, state, contextId }: EventRow): string | null {
  if (who === null || (state !== 'waiting' && state !== 'taken')) return contextId;
  return startNow(chain, readTicket(chain, ticketId), { who, task });
}

function toEvent(chain: ReadChain, event: EventRow): TicketEvent {
  const { no, ticket: _, at, moveFrom, moveTo, answeredAt, ...row } = event;
  const contextId = contextOf(chain, event);
  const received = senderOf(chain, event);
  return {
    event: no,
    at: toTimestamp(at),
    ...row,
    contextId,
    known: knownContext(chain, contextId) !== null,
    move: moveFrom !== null && moveTo !== null ? { from: moveFrom, to: moveTo } : null,
    answeredAt: answeredAt === null ? null : toTimestamp(answeredAt),
    ...(received && { received }),
  };
}
