import { sha256Of } from '../artifacts/index.js';
import { badRequest, StemmaError } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Ticket, TicketStatus } from '../contract/index.js';
import { ask } from './events.js';
import {
  type Change,
  type Changing,
  fromStored,
  isReady,
  type Occasion,
  type Reviewer,
  recordAt,
  recordOf,
  type Stored,
  type TicketRecord,
  toTicket,
  write,
} from './rows.js';
import { startFrom } from './understood.js';

export interface NewTicket extends Occasion {
  readonly title: string;
  readonly type: string;
  readonly body?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly parent?: string | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly assignee?: string | undefined;
}

/** @throws BAD_REQUEST for a finding without a parent; NOT_FOUND for a parent or dependency that is not there; CONFLICT for a finding in what is closed. */
export function createTicket(chain: Chain, input: NewTicket): Ticket {
  if (input.type === finding && input.parent === undefined) throw badRequest('parent', noParent);
  return chain.db.transaction(() => {
    const at = input.at ?? chain.clock();
    const parent = input.parent === undefined ? null : recordOf(chain, input.parent);
    // What was found elsewhere is brought in, and closed with what it was found in.
    if (input.type === finding && input.at === undefined) refuseOpenFindingOf(parent);
    const dependsOn = (input.dependsOn ?? []).map((id) => recordOf(chain, id).no);
    const { rowId } = chain.db.run(
      `INSERT INTO ticket (project, ticketId, title, body, type, status, reviewers, labels, createdAt, updatedAt) VALUES (?, ?, '', '', '', 'open', '[]', '[]', ?, ?)`,
      chain.project,
      newTicketId(chain, input.title, at),
      at,
      at,
    );
    const change: Change = {
      title: input.title,
      type: input.type,
      body: input.body ?? '',
      labels: input.labels ?? [],
      parent: parent?.no ?? null,
      assignee: input.assignee ?? null,
      dependsOn,
    };
    return toTicket(chain, write(chain, recordAt(chain, rowId), change, { ...input, at }));
  });
}

export const finding = 'review_finding';

const noParent = 'a review finding belongs to the ticket under review: name it as parent';

/** K3: what is closed gets no open finding, neither a new one nor one that is opened again. @throws CONFLICT */
export function refuseOpenFindingOf(parent: TicketRecord | null): void {
  if (parent?.status === 'closed')
    throw new StemmaError('CONFLICT', `${parent.ticketId} is closed, and a closed ticket has no open findings: open it again first`, {
      status: parent.status,
    });
}

export type TicketUpdate = Changing & Partial<Omit<NewTicket, keyof Changing>>;

/**
 * Changes what a ticket says; its status is changed by moves alone. Naming another assignee hands it over; naming other
 * reviewers, while it is in review, keeps the verdicts of those who stay and asks the new ones to start.
 * @throws BAD_REQUEST where a ticket would come to depend on itself or stand under itself, or a finding would slip away
 * from the ticket that it was found in; CONFLICT for reviewers of a ticket that is not in review.
 */
export function updateTicket(chain: Chain, input: TicketUpdate): Ticket {
  return chain.db.transaction(() => {
    const row = recordOf(chain, input.ticketId);
    const parent = input.parent === undefined ? undefined : recordOf(chain, input.parent);
    if (parent && standsUnder(chain, parent, row))
      throw badRequest('parent', `${input.parent} stands under ${row.ticketId}, so it cannot be its parent`);
    if (row.type === finding) refuseSlipping(row, parent, input.type);
    else if (input.type === finding) refuseBecomingFinding(chain, row, parent, input.resolution);
    const dependsOn = input.dependsOn?.map((id) => recordOf(chain, id));
    const looped = dependsOn?.find((other) => dependsUpon(chain, other.no, row.no));
    if (looped) throw badRequest('dependsOn', `${looped.ticketId} depends on ${row.ticketId} already, so each would wait for the other`);
    const reviewers = input.reviewers && changedReviewers(row, input.reviewers);
    const { title, body, type, labels, assignee, resolution } = input;
    const change: Change = {
      ...(title !== undefined && { title }),
      ...(body !== undefined && { body }),
      ...(type !== undefined && { type }),
      ...(labels !== undefined && { labels }),
      ...(assignee !== undefined && { assignee }),
      ...(reviewers && { reviewers }),
      ...(resolution !== undefined && { resolution }),
      ...(parent && { parent: parent.no }),
      ...(dependsOn && { dependsOn: dependsOn.map((other) => other.no) }),
    };
    const written = write(chain, row, change, input);
    askThoseWhoAreNew(chain, row, written, input.by);
    return toTicket(chain, written);
  });
}

/** K3: an open finding is neither called something else nor put elsewhere, which would let its ticket close without it. */
function refuseSlipping(row: TicketRecord, parent: TicketRecord | undefined, type: string | undefined): void {
  if (row.status === 'closed') return;
  if (type !== undefined && type !== finding)
    throw badRequest('type', `${row.ticketId} is an open finding: close it with a resolution, it cannot become something else`);
  if (parent && parent.no !== row.parent)
    throw badRequest('parent', `${row.ticketId} is an open finding of another ticket: close it with a resolution before it is put elsewhere`);
}

/** K3: another ticket becomes a finding as if it were made, and closed, as one. */
function refuseBecomingFinding(chain: Chain, row: TicketRecord, parent: TicketRecord | undefined, resolution: string | undefined): void {
  const above = parent ?? (row.parent === null ? null : recordAt(chain, row.parent));
  if (above === null) throw badRequest('parent', noParent);
  if (row.status !== 'closed') refuseOpenFindingOf(above);
  else if ((resolution ?? row.resolution) === null)
    throw badRequest('resolution', `${row.ticketId} is closed, and becomes a finding with a text that says how it was resolved`);
}

function changedReviewers(row: TicketRecord, names: readonly string[]): Reviewer[] {
  if (row.status !== 'review')
    throw new StemmaError('CONFLICT', `${row.ticketId} is ${row.status}; reviewers are named by the move to review, and changed while it is there`, {
      status: row.status,
    });
  if (names.length === 0) throw badRequest('reviewers', `${row.ticketId} is in review and keeps at least one reviewer: name them`);
  const before = new Map(row.reviewers.map((reviewer) => [reviewer.name, reviewer]));
  return [...new Set(names)].map((name) => before.get(name) ?? { name, verdict: 'pending' });
}

function askThoseWhoAreNew(chain: Chain, before: TicketRecord, after: TicketRecord, by: string | undefined): void {
  const known = new Set(before.reviewers.map((reviewer) => reviewer.name));
  for (const { name } of after.reviewers)
    if (!known.has(name)) ask(chain, after.no, { who: name, task: 'review', contextId: startOf(chain, after, name), by });
  if (after.status === 'in_progress' && after.assignee !== null && after.assignee !== before.assignee)
    ask(chain, after.no, {
      who: after.assignee,
      task: after.reviewers.length > 0 ? 'address_findings' : 'work',
      contextId: startOf(chain, after, after.assignee),
      by,
      move: { from: before.status, to: after.status },
    });
}

/** From where somebody starts on the ticket as it is now. */
export const startOf = (chain: Chain, row: TicketRecord, who: string): string | null => startFrom(chain, { ticketId: row.ticketId, who }).contextId;

export const ticketOf = (chain: Chain, ticketId: string): Ticket => toTicket(chain, recordOf(chain, ticketId));

export interface TicketFilter {
  readonly status?: TicketStatus | undefined;
  readonly type?: string | undefined;
  readonly parent?: string | undefined;
  readonly ready?: boolean | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** Tickets by what they are, in order of their making, each with all its versions. @throws NOT_FOUND for a parent that is not there. */
export function listTickets(chain: Chain, filter: TicketFilter): Ticket[] {
  return chain.db
    .all<Stored>(
      `SELECT t.* FROM ticket t WHERE t.project = :project AND (:status IS NULL OR t.status = :status) AND (:type IS NULL OR t.type = :type)
         AND (:parent IS NULL OR t.parent = :parent) AND (:ready IS NULL OR ${isReady} = :ready) ORDER BY t.no LIMIT :limit OFFSET :offset`,
      {
        project: chain.project,
        status: filter.status ?? null,
        type: filter.type ?? null,
        parent: filter.parent === undefined ? null : recordOf(chain, filter.parent).no,
        ready: filter.ready === undefined ? null : Number(filter.ready),
        limit: filter.limit ?? -1,
        offset: filter.offset ?? 0,
      },
    )
    .map((stored) => toTicket(chain, fromStored(stored)));
}

function standsUnder(chain: Chain, row: TicketRecord, ancestor: TicketRecord): boolean {
  for (let at: TicketRecord | undefined = row; at; at = at.parent === null ? undefined : recordAt(chain, at.parent))
    if (at.no === ancestor.no) return true;
  return false;
}

function dependsUpon(chain: Chain, from: number, on: number): boolean {
  return (
    chain.db.one(
      'WITH RECURSIVE reach(no) AS (VALUES(?) UNION SELECT d.dependsOn FROM ticketDependency d JOIN reach r ON d.ticket = r.no) SELECT 1 FROM reach WHERE no = ?',
      from,
      on,
    ) !== undefined
  );
}

const shortestTicketId = 4;

function newTicketId(chain: Chain, title: string, at: number): string {
  const hex = sha256Of(`${chain.newId()}\0${title}\0${at}`).toString('hex');
  for (let digits = shortestTicketId; ; digits++) {
    const id = `tkt-${hex.slice(0, digits)}`;
    if (!chain.db.one('SELECT 1 FROM ticket WHERE project = ? AND ticketId = ?', chain.project, id)) return id;
  }
}
