import { sha256Of } from '../artifacts/index.js';
import { badRequest, type ContextId, inWords, notFound, StemmaError, type Timestamp, timestampOf } from '../base/index.js';
import { type Chain, resolve } from '../chain/index.js';
import type { Ticket, TicketStatus, TicketVersion, Verdict } from '../contract/index.js';
import { ask } from './events.js';
import { moveOf, movesFrom } from './moves.js';

type Reviewer = Ticket['reviewers'][number];
type ContextFound = Ticket['contextFound'];

export interface TicketRow {
  readonly no: number;
  readonly ticketId: string;
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly status: TicketStatus;
  readonly assignee: string | null;
  readonly reviewers: readonly Reviewer[];
  readonly labels: readonly string[];
  readonly parent: number | null;
  readonly contextId: string | null;
  readonly contextFound: ContextFound;
  readonly resolution: string | null;
  readonly threadId: string | null;
  readonly createdAt: number;
}

type Stored = Omit<TicketRow, 'reviewers' | 'labels'> & { readonly reviewers: string; readonly labels: string };

/** What of a ticket may be changed by a write; a member that is absent stays. */
type Change = Partial<Omit<TicketRow, 'no' | 'ticketId' | 'createdAt'>> & { readonly dependsOn?: readonly number[] };

/** Who writes, from which understanding, and why. */
interface Occasion {
  readonly by?: string | undefined;
  readonly contextId?: string | undefined;
  readonly reason?: string | undefined;
  /** When it happened, where that was not now: for what is brought in from elsewhere. */
  readonly at?: number | undefined;
}

export interface NewTicket extends Occasion {
  readonly title: string;
  readonly type: string;
  readonly body?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly parent?: string | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly assignee?: string | undefined;
}

/** @throws BAD_REQUEST for a finding without a parent; NOT_FOUND for a parent or dependency that is not there. */
export function createTicket(chain: Chain, input: NewTicket): Ticket {
  if (input.type === 'review_finding' && input.parent === undefined)
    throw badRequest('parent', 'a review finding belongs to the ticket under review: name it as parent');
  return chain.db.transaction(() => {
    const at = input.at ?? chain.clock();
    const parent = input.parent === undefined ? null : rowOf(chain, input.parent).no;
    const dependsOn = (input.dependsOn ?? []).map((id) => rowOf(chain, id).no);
    const { rowId } = chain.db.run(
      `INSERT INTO ticket (project, ticketId, title, body, type, status, reviewers, labels, createdAt, updatedAt) VALUES (?, ?, '', '', '', 'open', '[]', '[]', ?, ?)`,
      chain.project,
      newTicketId(chain, input.title, at),
      at,
      at,
    );
    const row = rowAt(chain, rowId);
    const change: Change = {
      title: input.title,
      type: input.type,
      body: input.body ?? '',
      labels: input.labels ?? [],
      parent,
      assignee: input.assignee ?? null,
      dependsOn,
    };
    return toTicket(chain, write(chain, row, change, { ...input, at }));
  });
}

export interface TicketUpdate extends Occasion {
  readonly ticketId: string;
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly type?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly parent?: string | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  readonly resolution?: string | undefined;
}

/** @throws BAD_REQUEST where a ticket would come to depend on itself or stand under itself. */
export function updateTicket(chain: Chain, input: TicketUpdate): Ticket {
  return chain.db.transaction(() => {
    const row = rowOf(chain, input.ticketId);
    const parent = input.parent === undefined ? undefined : rowOf(chain, input.parent);
    if (parent && standsUnder(chain, parent, row))
      throw badRequest('parent', `${input.parent} stands under ${row.ticketId}, so it cannot be its parent`);
    const dependsOn = input.dependsOn?.map((id) => rowOf(chain, id));
    const looped = dependsOn?.find((other) => dependsUpon(chain, other.no, row.no));
    if (looped) throw badRequest('dependsOn', `${looped.ticketId} depends on ${row.ticketId} already, so each would wait for the other`);
    const { title, body, type, labels, resolution } = input;
    const change: Change = {
      ...(title !== undefined && { title }),
      ...(body !== undefined && { body }),
      ...(type !== undefined && { type }),
      ...(labels !== undefined && { labels }),
      ...(resolution !== undefined && { resolution }),
      ...(parent && { parent: parent.no }),
      ...(dependsOn && { dependsOn: dependsOn.map((other) => other.no) }),
    };
    return toTicket(chain, write(chain, row, change, input));
  });
}

export interface Move extends Occasion {
  readonly ticketId: string;
  readonly to: TicketStatus;
  readonly assignee?: string | undefined;
  readonly reviewers?: readonly string[] | undefined;
  readonly resolution?: string | undefined;
}

/** Moves a ticket to another status (K1 to K3). @throws CONFLICT for a move that there is not, or a closing too early. */
export function moveTicket(chain: Chain, input: Move): Ticket {
  return chain.db.transaction(() => {
    const row = rowOf(chain, input.ticketId);
    const holder = moveOf(row.status, input.to);
    if (holder === undefined) throw noSuchMove(row, input.to);
    const assignee = input.assignee ?? (holder === 'cleared' ? null : row.assignee);
    if (holder === 'needed' && assignee === null)
      throw badRequest('assignee', `${row.ticketId} goes to in_progress with the one who does it: name an assignee`);
    const reviewers = reviewersAfter(row, input);
    if (input.to === 'review' && reviewers.length === 0)
      throw badRequest('reviewers', `${row.ticketId} goes to review with at least one reviewer: name them`);
    if (input.to === 'closed') refuseEarlyClosing(chain, row, input);
    const moved = write(
      chain,
      row,
      {
        status: input.to,
        assignee,
        reviewers,
        ...(input.resolution !== undefined && { resolution: input.resolution }),
        // What is open again is not resolved.
        ...(row.status === 'closed' && { resolution: null }),
      },
      input,
    );
    askFor(chain, row, moved);
    return toTicket(chain, moved);
  });
}

/** K2: a listed reviewer says what they think, while the ticket is in review. */
export function giveVerdict(chain: Chain, input: { ticketId: string; reviewer: string; verdict: Verdict; contextId?: string | undefined }): Ticket {
  return chain.db.transaction(() => {
    const row = rowOf(chain, input.ticketId);
    if (input.verdict === 'pending')
      throw badRequest('verdict', 'pending is what a verdict is before it is given: approved, changes_requested and commented can be given');
    if (row.status !== 'review')
      throw new StemmaError('CONFLICT', `${row.ticketId} is ${row.status}; verdicts are given while a ticket is in review`, { status: row.status });
    const names = row.reviewers.map((reviewer) => reviewer.name);
    if (!names.includes(input.reviewer))
      throw badRequest('reviewer', `${inWords(input.reviewer)} does not review ${row.ticketId}; ${names.join(', ')} do`);
    const reviewers = row.reviewers.map((reviewer) => (reviewer.name === input.reviewer ? { ...reviewer, verdict: input.verdict } : reviewer));
    return toTicket(chain, write(chain, row, { reviewers }, { by: input.reviewer, contextId: input.contextId }));
  });
}

export const ticketOf = (chain: Chain, ticketId: string): Ticket => toTicket(chain, rowOf(chain, ticketId));

export interface TicketFilter {
  readonly status?: TicketStatus | undefined;
  readonly type?: string | undefined;
  readonly parent?: string | undefined;
  readonly ready?: boolean | undefined;
}

/** Tickets by what they are, in order of their making. */
export function listTickets(chain: Chain, filter: TicketFilter): Ticket[] {
  const parent = filter.parent === undefined ? undefined : rowOf(chain, filter.parent).no;
  return chain.db
    .all<Stored>('SELECT * FROM ticket WHERE project = ? ORDER BY no', chain.project)
    .map(fromStored)
    .filter(
      (row) =>
        (filter.status === undefined || row.status === filter.status) &&
        (filter.type === undefined || row.type === filter.type) &&
        (parent === undefined || row.parent === parent),
    )
    .map((row) => toTicket(chain, row))
    .filter((ticket) => filter.ready === undefined || ticket.ready === filter.ready);
}

/** @throws NOT_FOUND */
export function rowOf(chain: Chain, ticketId: string): TicketRow {
  const stored = chain.db.one<Stored>('SELECT * FROM ticket WHERE project = ? AND ticketId = ?', chain.project, ticketId);
  if (!stored) throw notFound(ticketId, `no ticket ${ticketId} is in this project`);
  return fromStored(stored);
}

/** Notes the thread that a ticket's discussion runs in. */
export const setThread = (chain: Chain, row: TicketRow, threadId: string, by: string | undefined): TicketRow =>
  write(chain, row, { threadId }, { by });

const fromStored = (row: Stored): TicketRow => ({
  ...row,
  reviewers: JSON.parse(row.reviewers) as Reviewer[],
  labels: JSON.parse(row.labels) as string[],
});
const rowAt = (chain: Chain, no: number): TicketRow =>
  fromStored(chain.db.one<Stored>('SELECT * FROM ticket WHERE no = ? AND project = ?', no, chain.project) as Stored);
const idsOf = (chain: Chain, sql: string, no: number): string[] =>
  chain.db.all<{ ticketId: string }>(sql, no, chain.project).map((row) => row.ticketId);

const dependencies =
  'SELECT t.ticketId FROM ticketDependency d JOIN ticket t ON t.no = d.dependsOn WHERE d.ticket = ? AND t.project = ? ORDER BY t.no';

function toTicket(chain: Chain, row: TicketRow): Ticket {
  const waitsFor = idsOf(chain, `${dependencies.replace(' ORDER', " AND t.status <> 'closed' ORDER")}`, row.no);
  return {
    ticketId: row.ticketId,
    title: row.title,
    body: row.body,
    type: row.type,
    status: row.status,
    assignee: row.assignee,
    reviewers: [...row.reviewers],
    labels: [...row.labels],
    parent: row.parent === null ? null : rowAt(chain, row.parent).ticketId,
    children: idsOf(chain, 'SELECT ticketId FROM ticket WHERE parent = ? AND project = ? ORDER BY no', row.no),
    dependsOn: idsOf(chain, dependencies, row.no),
    contextId: row.contextId,
    contextFound: row.contextFound,
    resolution: row.resolution,
    threadId: row.threadId,
    ready: row.status === 'open' && waitsFor.length === 0,
    createdAt: timestampOf(row.createdAt),
    versions: versionsOf(chain, row),
  };
}

function versionsOf(chain: Chain, row: TicketRow): TicketVersion[] {
  type Version = { at: number; by: string | null; changes: string; reason: string | null; contextId: string | null; contextFound: ContextFound };
  return chain.db
    .all<Version>(
      'SELECT at, by, changes, reason, contextId, contextFound FROM ticketVersion WHERE ticket = ? AND project = ? ORDER BY no',
      row.no,
      chain.project,
    )
    .map((version) => ({
      at: timestampOf(version.at),
      by: version.by,
      changes: JSON.parse(version.changes) as TicketVersion['changes'],
      ...(version.reason !== null && { reason: version.reason }),
      contextId: version.contextId,
      contextFound: version.contextFound,
    }));
}

/** K4: every write makes a version, with the context of the moment as it was given or is found. */
function write(chain: Chain, row: TicketRow, change: Change, occasion: Occasion): TicketRow {
  const at = occasion.at ?? chain.clock();
  const context = contextOf(chain, occasion, at);
  const { dependsOn, ...columns } = change;
  const next: TicketRow = { ...row, ...columns, ...(context.contextId !== null && context) };
  chain.db.run(
    `UPDATE ticket SET title = ?, body = ?, type = ?, status = ?, assignee = ?, reviewers = ?, labels = ?, parent = ?, contextId = ?, contextFound = ?, resolution = ?,
       threadId = ?, updatedAt = ? WHERE no = ?`,
    next.title,
    next.body,
    next.type,
    next.status,
    next.assignee,
    JSON.stringify(next.reviewers),
    JSON.stringify(next.labels),
    next.parent,
    next.contextId,
    next.contextFound,
    next.resolution,
    next.threadId,
    at,
    row.no,
  );
  const before = dependsOn && idsOf(chain, dependencies, row.no);
  if (dependsOn) {
    chain.db.run('DELETE FROM ticketDependency WHERE ticket = ?', row.no);
    for (const other of new Set(dependsOn)) chain.db.run('INSERT INTO ticketDependency (ticket, dependsOn) VALUES (?, ?)', row.no, other);
  }
  const changes = differences(row, next, before && { from: before, to: idsOf(chain, dependencies, row.no) });
  chain.db.run(
    'INSERT INTO ticketVersion (project, ticket, at, by, changes, reason, contextId, contextFound) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    chain.project,
    row.no,
    at,
    occasion.by ?? null,
    JSON.stringify(changes),
    occasion.reason ?? null,
    context.contextId,
    context.contextFound,
  );
  return next;
}

function contextOf(chain: Chain, occasion: Occasion, at: number): { contextId: string | null; contextFound: ContextFound } {
  if (occasion.contextId !== undefined) return { contextId: occasion.contextId, contextFound: 'given' };
  const found: ContextId | null = occasion.by === undefined ? null : resolve(chain, occasion.by, timestampOf(at) as Timestamp).id;
  return found === null ? { contextId: null, contextFound: null } : { contextId: found, contextFound: 'resolved' };
}

const tracked = ['title', 'body', 'type', 'status', 'assignee', 'reviewers', 'labels', 'parent', 'contextId', 'resolution', 'threadId'] as const;

function differences(before: TicketRow, after: TicketRow, dependsOn: { from: string[]; to: string[] } | undefined): TicketVersion['changes'] {
  const changed = tracked.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries([
    ...changed.map((field) => [field, { from: before[field], to: after[field] }] as const),
    ...(dependsOn && JSON.stringify(dependsOn.from) !== JSON.stringify(dependsOn.to) ? [['dependsOn', dependsOn] as const] : []),
  ]);
}

function reviewersAfter(row: TicketRow, input: Move): readonly Reviewer[] {
  if (input.to !== 'review') return row.reviewers;
  // Each review begins anew: a verdict on what was there before says nothing of what is there now.
  const names = input.reviewers ?? row.reviewers.map((reviewer) => reviewer.name);
  return [...new Set(names)].map((name) => ({ name, verdict: 'pending' as const }));
}

function noSuchMove(row: TicketRow, to: TicketStatus): StemmaError {
  const held = row.status === to && (to === 'in_progress' || to === 'review');
  const holders = to === 'review' ? row.reviewers.map((reviewer) => reviewer.name).join(', ') : row.assignee;
  const message = held
    ? `${row.ticketId} is ${to} already, held by ${holders}: whoever claims first has it`
    : `${row.ticketId} is ${row.status} and cannot go to ${to}; it can go to ${movesFrom(row.status).join(', ')}`;
  return new StemmaError('CONFLICT', message, { from: row.status, to, ...(held && { holder: holders }) });
}

/** K3: findings are addressed and reviewers content before work is over, unless a reason says why not. */
function refuseEarlyClosing(chain: Chain, row: TicketRow, input: Move): void {
  if (row.type === 'review_finding' && (input.resolution ?? row.resolution) === null)
    throw badRequest('resolution', `${row.ticketId} is a finding: it is closed with a text that says how it was resolved`);
  if (input.reason !== undefined) return;
  const open = chain.db.all<{ ticketId: string }>(
    "SELECT ticketId FROM ticket WHERE parent = ? AND project = ? AND type = 'review_finding' AND status <> 'closed'",
    row.no,
    chain.project,
  );
  if (open.length)
    throw new StemmaError(
      'CONFLICT',
      `${row.ticketId} has open findings (${open.map((finding) => finding.ticketId).join(', ')}): close them first, or give a reason`,
      {
        findings: open.map((finding) => finding.ticketId),
      },
    );
  const waiting = row.status === 'review' ? row.reviewers.filter((reviewer) => reviewer.verdict !== 'approved') : [];
  if (waiting.length)
    throw new StemmaError(
      'CONFLICT',
      `${waiting.map((reviewer) => reviewer.name).join(', ')} did not approve ${row.ticketId}: wait, or give a reason`,
      { reviewers: waiting },
    );
}

/** What a move asks others to begin with (K5; seed, "Event-Driven Lifecycle"). */
function askFor(chain: Chain, before: TicketRow, after: TicketRow): void {
  if (after.status === 'review')
    for (const reviewer of after.reviewers) ask(chain, after.no, reviewer.name, 'review', earlierReview(chain, after, reviewer.name));
  if (after.status === 'in_progress' && after.assignee !== null)
    ask(chain, after.no, after.assignee, before.status === 'review' ? 'address_findings' : 'work', after.contextId);
  if (after.status === 'closed' && after.type === 'review_finding') {
    const author = chain.db.one<{ by: string | null }>(
      'SELECT by FROM ticketVersion WHERE ticket = ? AND project = ? ORDER BY no LIMIT 1',
      after.no,
      chain.project,
    )?.by;
    if (author) ask(chain, after.no, author, 'verify_resolution', discussionTip(chain, after) ?? after.contextId);
  }
}

/** A reviewer goes on from their earlier review of the same ticket, else begins fresh. */
const earlierReview = (chain: Chain, row: TicketRow, reviewer: string): string | null =>
  chain.db.one<{ contextId: string }>(
    `SELECT v.contextId FROM ticketVersion v JOIN ticket t ON t.no = v.ticket
      WHERE (t.no = ? OR t.parent = ?) AND v.project = ? AND v.by = ? AND v.contextId IS NOT NULL ORDER BY v.no DESC LIMIT 1`,
    row.no,
    row.no,
    chain.project,
    reviewer,
  )?.contextId ?? null;

/** The last commit of a ticket's discussion. */
export const discussionTip = (chain: Chain, row: Pick<TicketRow, 'threadId'>): ContextId | undefined =>
  row.threadId === null
    ? undefined
    : chain.db.one<{ id: ContextId }>(
        'SELECT id FROM context WHERE project = ? AND threadId = ? ORDER BY seq DESC LIMIT 1',
        chain.project,
        row.threadId,
      )?.id;

function standsUnder(chain: Chain, row: TicketRow, ancestor: TicketRow): boolean {
  for (let at: TicketRow | undefined = row; at; at = at.parent === null ? undefined : rowAt(chain, at.parent)) if (at.no === ancestor.no) return true;
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
