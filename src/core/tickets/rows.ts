import { type ContextId, notFound, picked, present, toTimestamp } from '../base/index.js';
import { newestOf, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Ticket, TicketVersion } from '../contract/index.js';

export type Reviewer = Ticket['reviewers'][number];
type ContextFound = Ticket['contextFound'];

export interface TicketRecord
  extends Readonly<
    Pick<Ticket, 'ticketId' | 'title' | 'body' | 'type' | 'status' | 'assignee' | 'contextId' | 'contextFound' | 'resolution' | 'threadId'>
  > {
  readonly no: number;
  readonly reviewers: readonly Reviewer[];
  readonly labels: readonly string[];
  readonly parent: number | null;
  readonly createdAt: number;
}

export type StoredTicket = Omit<TicketRecord, 'reviewers' | 'labels'> & { readonly reviewers: string; readonly labels: string };

/** The fields that a write changes. Missing fields stay. */
export type Change = Partial<Omit<TicketRecord, 'no' | 'ticketId' | 'createdAt'>> & { readonly dependsOn?: readonly number[] };

export interface Occasion {
  readonly by?: string | undefined;
  readonly contextId?: string | undefined;
  readonly reason?: string | undefined;
  /** The time of an imported write; by default now. */
  readonly at?: number | undefined;
  /** The context was found, not given by the author. */
  readonly isFound?: boolean | undefined;
  /** A message in the thread, which does not change the ticket's context. */
  readonly isAside?: boolean | undefined;
}

/** SQL: ticket `t` is open and has no open dependencies. */
export const isReady = /* sql */ `(t.status = 'open' AND NOT EXISTS (
  SELECT 1 FROM ticketDependency d JOIN ticket o ON o.no = d.dependsOn WHERE d.ticket = t.no AND o.status <> 'closed'))`;

export interface Changing extends Occasion {
  readonly ticketId: string;
  readonly assignee?: string | undefined;
  readonly reviewers?: readonly string[] | undefined;
  readonly resolution?: string | undefined;
}

/** Reads a ticket by its id. @throws NOT_FOUND */
export function readTicket(chain: ReadChain, ticketId: string): TicketRecord {
  const stored = chain.db.one<StoredTicket>('SELECT * FROM ticket WHERE project = ? AND ticketId = ?', chain.project, ticketId);
  if (!stored) throw notFound(ticketId, `This project has no ticket ${ticketId}.`);
  return fromStored(stored);
}

/** Reads a ticket by its row number. */
export const recordAt = (chain: ReadChain, no: number): TicketRecord =>
  fromStored(chain.db.one<StoredTicket>('SELECT * FROM ticket WHERE no = ? AND project = ?', no, chain.project) as StoredTicket);

/** Parses the JSON columns of a row. */
export const fromStored = (row: StoredTicket): TicketRecord => ({
  ...row,
  reviewers: JSON.parse(row.reviewers) as Reviewer[],
  labels: JSON.parse(row.labels) as string[],
});

/** Converts a row to the ticket of the contract. */
export function toTicket(chain: ReadChain, row: TicketRecord): Ticket {
  const waitsFor = readIds(chain, dependencies.replace(' ORDER', " AND t.status <> 'closed' ORDER"), row.no);
  return {
    ...picked(row, 'ticketId', 'title', 'body', 'type', 'status', 'assignee'),
    reviewers: [...row.reviewers],
    labels: [...row.labels],
    parent: ticketIdAt(chain, row.parent),
    children: readIds(chain, 'SELECT ticketId FROM ticket WHERE parent = ? AND project = ? ORDER BY no', row.no),
    dependsOn: readIds(chain, dependencies, row.no),
    ...picked(row, 'contextId', 'contextFound', 'resolution', 'threadId'),
    ready: row.status === 'open' && waitsFor.length === 0,
    findings: findingsOf(chain, row.no),
    createdAt: toTimestamp(row.createdAt),
    versions: versionsOf(chain, row),
  };
}

const findingsOf = (chain: ReadChain, no: number): Ticket['findings'] =>
  chain.db.one<Ticket['findings']>(
    "SELECT COUNT(*) FILTER (WHERE status <> 'closed') AS open, COUNT(*) AS total FROM ticket WHERE parent = ? AND project = ? AND type = 'review_finding'",
    [no, chain.project],
  ) ?? { open: 0, total: 0 };

const ticketIdAt = (chain: ReadChain, no: number | null): string | null => (no === null ? null : recordAt(chain, no).ticketId);

const readIds = (chain: ReadChain, sql: string, no: number): string[] => chain.db.column(sql, no, chain.project);

/** SQLite runs a CROSS JOIN in the written order: from the few given ids to their tickets, not from all tickets. */
const dependencies =
  'SELECT t.ticketId FROM ticketDependency d CROSS JOIN ticket t ON t.no = d.dependsOn WHERE d.ticket = ? AND t.project = ? ORDER BY t.no';

function versionsOf(chain: ReadChain, row: TicketRecord): TicketVersion[] {
  type Version = Pick<TicketVersion, 'by' | 'contextId' | 'contextFound'> & { at: number; changes: string; reason: string | null; known: number };
  return chain.db
    .all<Version>(
      `SELECT at, by, changes, reason, contextId, contextFound, EXISTS (SELECT 1 FROM commits c WHERE c.project = v.project AND c.id = v.contextId) AS known
         FROM ticketVersion v WHERE ticket = ? AND project = ? ORDER BY no`,
      [row.no, chain.project],
    )
    .map((version) => ({
      at: toTimestamp(version.at),
      by: version.by,
      changes: JSON.parse(version.changes) as TicketVersion['changes'],
      ...present({ reason: version.reason }),
      ...picked(version, 'contextId', 'contextFound'),
      known: version.known === 1,
    }));
}

/** K4: every write makes a version, with the given or found context. */
export function write(chain: WriteChain, row: TicketRecord, change: Change, occasion: Occasion): TicketRecord {
  const at = occasion.at ?? chain.clock();
  const context = contextOf(chain, occasion, at);
  const { dependsOn, ...columns } = change;
  const next: TicketRecord = { ...row, ...columns, ...(context.contextId !== null && !occasion.isAside && context) };
  const stored = { ...next, reviewers: JSON.stringify(next.reviewers), labels: JSON.stringify(next.labels), updatedAt: at };
  chain.db.run(
    `UPDATE ticket SET title = :title, body = :body, type = :type, status = :status, assignee = :assignee, reviewers = :reviewers, labels = :labels,
       parent = :parent, contextId = :contextId, contextFound = :contextFound, resolution = :resolution, threadId = :threadId, updatedAt = :updatedAt
      WHERE no = :no`,
    stored,
  );
  const before = dependsOn && readIds(chain, dependencies, row.no);
  if (dependsOn) {
    chain.db.run('DELETE FROM ticketDependency WHERE ticket = ?', row.no);
    for (const other of new Set(dependsOn)) chain.db.run('INSERT INTO ticketDependency (ticket, dependsOn) VALUES (?, ?)', row.no, other);
  }
  const changes = differences(chain, row, next, before && { from: before, to: readIds(chain, dependencies, row.no) });
  const { by, reason } = occasion;
  chain.db.insert('ticketVersion', { project: chain.project, ticket: row.no, at, by, changes: JSON.stringify(changes), reason, ...context });
  return next;
}

function contextOf(chain: ReadChain, occasion: Occasion, at: number): { contextId: string | null; contextFound: ContextFound } {
  if (occasion.contextId !== undefined) return { contextId: occasion.contextId, contextFound: occasion.isFound ? 'resolved' : 'given' };
  const found = occasion.by === undefined ? null : (workingContext(chain, occasion.by) ?? understoodBy(chain, occasion.by, at));
  return found === null ? { contextId: null, contextFound: null } : { contextId: found, contextFound: 'resolved' };
}

/** The newest commit of the job in which a command-line agent works under this name. */
const workingContext = (chain: ReadChain, principal: string): ContextId | undefined =>
  chain.db.value<ContextId>(
    `SELECT tip FROM job WHERE project = ? AND who = ? AND status = 'running' AND tip IS NOT NULL AND performer ->> 'agent' IS NOT NULL
      ORDER BY no DESC LIMIT 1`,
    [chain.project, principal],
  );

/** SQL: the author of a finding; for other tickets the assignee, else the author. */
const answererSql = /* sql */ `(SELECT COALESCE(CASE WHEN t.type <> 'review_finding' THEN t.assignee END, v.by)
  FROM ticketVersion v WHERE v.ticket = t.no ORDER BY v.no LIMIT 1)`;

/** The person or agent who answers in a ticket's thread; null if unknown. */
export const answererOf = (chain: ReadChain, row: TicketRecord): string | null =>
  chain.db.value<string | null>(`SELECT ${answererSql} FROM ticket t WHERE t.no = ? AND t.project = ?`, row.no, chain.project) ?? null;

/** The newest commit of a principal at an instant, for writes of tickets. Skips thread messages, which belong to the answerer's context. */
export const understoodBy = (chain: ReadChain, principal: string, at: number): ContextId | null =>
  newestOf(
    chain,
    principal,
    at,
    `NOT EXISTS (SELECT 1 FROM ticket t WHERE t.threadId = c.threadId AND +t.project = c.project AND ${answererSql} IS NOT c.principal)`,
  )?.id ?? null;

const tracked = ['title', 'body', 'type', 'status', 'assignee', 'reviewers', 'labels', 'contextId', 'resolution', 'threadId'] as const;

function differences(
  chain: ReadChain,
  before: TicketRecord,
  after: TicketRecord,
  dependsOn?: { from: string[]; to: string[] },
): TicketVersion['changes'] {
  const changed = tracked.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries([
    ...changed.map((field) => [field, { from: before[field], to: after[field] }] as const),
    ...(before.parent === after.parent ? [] : [['parent', { from: ticketIdAt(chain, before.parent), to: ticketIdAt(chain, after.parent) }] as const]),
    ...(dependsOn && JSON.stringify(dependsOn.from) !== JSON.stringify(dependsOn.to) ? [['dependsOn', dependsOn] as const] : []),
  ]);
}
