import { sha256Of } from '../artifacts/index.js';
import { badRequest, conflict, defined } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { InputOf, Ticket } from '../contract/index.js';
import { type AskedStart, ask } from './events.js';
import {
  type Change,
  type Changing,
  fromStored,
  isReady,
  type Occasion,
  type Reviewer,
  readTicket,
  recordAt,
  type StoredTicket,
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

/** Creates a ticket. @throws BAD_REQUEST for a finding without a parent; NOT_FOUND for an unknown parent or dependency; CONFLICT for a finding of a closed ticket. */
export function createTicket(chain: WriteChain, input: NewTicket): Ticket {
  if (input.type === finding && input.parent === undefined) throw badRequest('parent', noParent);
  return chain.db.transaction(() => {
    const at = input.at ?? chain.clock();
    const parent = input.parent === undefined ? null : readTicket(chain, input.parent);
    // An imported finding may belong to a closed ticket: it is closed together with it.
    if (input.type === finding && input.at === undefined) refuseOpenFindingOf(parent);
    const dependsOn = (input.dependsOn ?? []).map((id) => readTicket(chain, id).no);
    const { title, type, body = '', labels = [], assignee = null } = input;
    const { rowId } = chain.db.insert('ticket', {
      project: chain.project,
      ticketId: newTicketId(chain, title, at),
      createdAt: at,
      updatedAt: at,
      title: '',
      body: '',
      type: '',
      status: 'open',
      reviewers: '[]',
      labels: '[]',
    });
    const change: Change = { title, type, body, labels, parent: parent?.no ?? null, assignee, dependsOn };
    return toTicket(chain, write(chain, recordAt(chain, rowId), change, { ...input, at }));
  });
}

export const finding = 'review_finding';

const noParent = 'A review finding needs a parent: the ticket under review.';

/** K3: a closed ticket cannot get an open finding, new or reopened. @throws CONFLICT */
export function refuseOpenFindingOf(parent: TicketRecord | null): void {
  if (parent?.status === 'closed')
    throw conflict(`${parent.ticketId} is closed and cannot get an open finding. Reopen it first.`, { status: parent.status });
}

export type TicketUpdate = Changing & Partial<Omit<NewTicket, keyof Changing>>;

/**
 * Changes the fields of a ticket. Only moves change its status. A new assignee takes over the work. New reviewers during a
 * review are asked to start, and the others keep their verdicts.
 * @throws BAD_REQUEST for a cycle of dependencies or parents, or for a finding that would leave its ticket; CONFLICT for
 * reviewers of a ticket that is not in review.
 */
export function updateTicket(chain: WriteChain, input: TicketUpdate): Ticket {
  return chain.db.transaction(() => {
    const row = readTicket(chain, input.ticketId);
    const parent = input.parent === undefined ? undefined : readTicket(chain, input.parent);
    if (parent && isBelow(chain, parent, row)) throw badRequest('parent', `${input.parent} is below ${row.ticketId}, so it cannot be its parent.`);
    if (row.type === finding) refuseSlipping(row, parent, input.type);
    else if (input.type === finding) refuseBecomingFinding(chain, row, parent, input.resolution);
    const dependsOn = input.dependsOn?.map((id) => readTicket(chain, id));
    const looped = dependsOn?.find((other) => dependsUpon(chain, other.no, row.no));
    if (looped) throw badRequest('dependsOn', `${looped.ticketId} already depends on ${row.ticketId}, so each would wait for the other.`);
    const reviewers = input.reviewers && changedReviewers(row, input.reviewers);
    const { title, body, type, labels, assignee, resolution } = input;
    const change: Change = {
      ...defined({ title, body, type, labels, assignee, reviewers, resolution, parent: parent?.no, dependsOn: dependsOn?.map(({ no }) => no) }),
    };
    const written = write(chain, row, change, input);
    requestNewStarts(chain, row, written, input.by);
    return toTicket(chain, written);
  });
}

/** K3: an open finding keeps its type and parent, because its ticket could close without it otherwise. */
function refuseSlipping(row: TicketRecord, parent: TicketRecord | undefined, type: string | undefined): void {
  if (row.status === 'closed') return;
  if (type !== undefined && type !== finding)
    throw badRequest('type', `${row.ticketId} is an open finding and cannot change its type. Close it with a resolution first.`);
  if (parent && parent.no !== row.parent)
    throw badRequest('parent', `${row.ticketId} is an open finding and cannot change its parent. Close it with a resolution first.`);
}

/** K3: a ticket that becomes a finding follows the rules of a new or closed finding. */
function refuseBecomingFinding(chain: ReadChain, row: TicketRecord, parent: TicketRecord | undefined, resolution: string | undefined): void {
  const above = parent ?? (row.parent === null ? null : recordAt(chain, row.parent));
  if (above === null) throw badRequest('parent', noParent);
  if (row.status !== 'closed') refuseOpenFindingOf(above);
  else if ((resolution ?? row.resolution) === null)
    throw badRequest('resolution', `${row.ticketId} is closed. To make it a finding, give a resolution.`);
}

function changedReviewers(row: TicketRecord, names: readonly string[]): Reviewer[] {
  if (row.status !== 'review')
    throw conflict(`${row.ticketId} is ${row.status}. Reviewers can be set by the move to review and changed during the review.`, {
      status: row.status,
    });
  if (names.length === 0) throw badRequest('reviewers', `${row.ticketId} is in review and needs at least one reviewer.`);
  const before = new Map(row.reviewers.map((reviewer) => [reviewer.name, reviewer]));
  return [...new Set(names)].map((name) => before.get(name) ?? { name, verdict: 'pending' });
}

function requestNewStarts(chain: WriteChain, before: TicketRecord, after: TicketRecord, by: string | undefined): void {
  const known = new Set(before.reviewers.map((reviewer) => reviewer.name));
  for (const { name } of after.reviewers) if (!known.has(name)) askToStart(chain, after, { who: name, task: 'review', by });
  if (after.status === 'in_progress' && after.assignee !== null && after.assignee !== before.assignee) {
    const task = after.reviewers.length > 0 ? 'address_findings' : 'work';
    askToStart(chain, after, { who: after.assignee, task, by, move: { from: before.status, to: after.status } });
  }
}

/** Asks somebody to start on a ticket, from the context that suits them now. */
export const askToStart = (chain: WriteChain, { no, ticketId }: TicketRecord, asked: Omit<AskedStart, 'contextId'>): void =>
  ask(chain, no, { ...asked, contextId: asked.who === null ? null : startFrom(chain, { ticketId, who: asked.who }).contextId });

/** Reads a ticket with its versions. @throws NOT_FOUND */
export const ticketOf = (chain: ReadChain, ticketId: string): Ticket => toTicket(chain, readTicket(chain, ticketId));

/** Tickets with all their versions, in order of creation. @throws NOT_FOUND for an unknown parent. */
export function listTickets(chain: ReadChain, filter: InputOf<'ticket.list'>): Ticket[] {
  return chain.db
    .all<StoredTicket>(
      `SELECT t.* FROM ticket t WHERE t.project = :project AND (:status IS NULL OR t.status = :status) AND (:type IS NULL OR t.type = :type)
         AND (:parent IS NULL OR t.parent = :parent) AND (:ready IS NULL OR ${isReady} = :ready) ORDER BY t.no LIMIT :limit OFFSET :offset`,
      {
        project: chain.project,
        status: filter.status ?? null,
        type: filter.type ?? null,
        parent: filter.parent === undefined ? null : readTicket(chain, filter.parent).no,
        ready: filter.ready === undefined ? null : Number(filter.ready),
        limit: filter.limit ?? -1,
        offset: filter.offset ?? 0,
      },
    )
    .map((stored) => toTicket(chain, fromStored(stored)));
}

function isBelow(chain: ReadChain, row: TicketRecord, ancestor: TicketRecord): boolean {
  const above = chain.db.column<number>(
    'WITH RECURSIVE above(no) AS (VALUES(?) UNION SELECT t.parent FROM ticket t JOIN above a ON t.no = a.no WHERE t.parent IS NOT NULL) SELECT no FROM above',
    row.no,
  );
  return above.includes(ancestor.no);
}

function dependsUpon(chain: ReadChain, from: number, on: number): boolean {
  return (
    chain.db.one(
      'WITH RECURSIVE reach(no) AS (VALUES(?) UNION SELECT d.dependsOn FROM ticketDependency d JOIN reach r ON d.ticket = r.no) SELECT 1 FROM reach WHERE no = ?',
      [from, on],
    ) !== undefined
  );
}

/** 96 random bits, so that nobody on a hub can guess the id of somebody else's ticket. Older tickets have shorter ids. */
const ticketIdLength = 24;

const newTicketId = (chain: ReadChain, title: string, at: number): string =>
  `tkt-${sha256Of(`${chain.newId()}\0${title}\0${at}`).toString('hex').slice(0, ticketIdLength)}`;
