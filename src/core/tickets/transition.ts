import { badRequest, conflict, inWords, type StemmaError } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import { type InputOf, type Ticket, type TicketStatus, ticketMoves } from '../contract/index.js';
import { ask } from './events.js';
import { type Changing, type Occasion, type Reviewer, readTicket, recordAt, type TicketRecord, toTicket, write } from './rows.js';
import { askToStart, finding, refuseOpenFindingOf } from './tickets.js';
import { discussionTip, makerOf, standpoint } from './understood.js';

export interface Move extends Changing {
  readonly to: TicketStatus;
}

/** Moves a ticket to another status (K1 to K3). @throws CONFLICT if the move is not allowed or the ticket cannot close yet. */
export function moveTicket(chain: WriteChain, input: Move): Ticket {
  return chain.db.transaction(() => {
    const row = readTicket(chain, input.ticketId);
    // The effect of the move on the assignee.
    const holder = ticketMoves[row.status][input.to];
    if (holder === undefined) throw noSuchMove(row, input.to);
    // Work in progress needs an assignee; by default it is the author of the move.
    const takesUp = input.to === 'in_progress' && holder === 'kept' ? (input.by ?? null) : null;
    const assignee = input.assignee ?? (holder === 'cleared' ? null : (row.assignee ?? takesUp));
    if (holder === 'needed' && assignee === null) throw badRequest('assignee', `The move of ${row.ticketId} to in_progress needs an assignee.`);
    const reviewers = reviewersAfter(row, input);
    if (input.to === 'review' && reviewers.length === 0)
      throw badRequest('reviewers', `The move of ${row.ticketId} to review needs at least one reviewer.`);
    if (input.to === 'closed') refuseEarlyClosing(chain, row, input);
    if (row.status === 'closed' && row.type === finding && row.parent !== null) refuseOpenFindingOf(recordAt(chain, row.parent));
    // A reopened ticket loses its resolution.
    const resolution = row.status === 'closed' ? null : (input.resolution ?? row.resolution);
    const moved = write(chain, row, { status: input.to, assignee, reviewers, resolution }, input);
    // An imported closed ticket asks nobody to start.
    if (input.at === undefined || moved.status !== 'closed') askFor(chain, row, moved, input.by);
    return toTicket(chain, moved);
  });
}

export type GivenVerdict = InputOf<'ticket.verdict'> & Pick<Occasion, 'at' | 'isFound'>;

/** K2: sets the verdict of a listed reviewer during a review. After the last verdict, the assignee is asked to decide. */
export function giveVerdict(chain: WriteChain, input: GivenVerdict): Ticket {
  return chain.db.transaction(() => {
    const row = readTicket(chain, input.ticketId);
    if (input.verdict === 'pending') throw badRequest('verdict', 'A verdict can be approved, changes_requested or commented, not pending.');
    if (row.status !== 'review')
      throw conflict(`${row.ticketId} is ${row.status}. A verdict is possible only during a review.`, { status: row.status });
    const names = row.reviewers.map((reviewer) => reviewer.name);
    if (!names.includes(input.reviewer))
      throw badRequest('reviewer', `${inWords(input.reviewer)} is not a reviewer of ${row.ticketId}. Its reviewers: ${names.join(', ')}.`);
    const reviewers = row.reviewers.map((reviewer) => (reviewer.name === input.reviewer ? { ...reviewer, verdict: input.verdict } : reviewer));
    const written = write(chain, row, { reviewers }, { ...input, by: input.reviewer });
    const isPending = ({ verdict }: Reviewer): boolean => verdict === 'pending';
    if (row.assignee !== null && row.reviewers.some(isPending) && !reviewers.some(isPending))
      askToStart(chain, written, { who: row.assignee, task: 'decide', by: input.reviewer });
    return toTicket(chain, written);
  });
}

function reviewersAfter(row: TicketRecord, input: Move): readonly Reviewer[] {
  if (input.to !== 'review') return row.reviewers;
  // A new review starts with pending verdicts, because earlier verdicts concern an earlier state.
  const names = input.reviewers ?? row.reviewers.map((reviewer) => reviewer.name);
  return [...new Set(names)].map((name) => ({ name, verdict: 'pending' as const }));
}

function noSuchMove(row: TicketRecord, to: TicketStatus): StemmaError {
  const isHeld = row.status === to && (to === 'in_progress' || to === 'review');
  const holders = (to === 'review' ? row.reviewers.map((reviewer) => reviewer.name).join(', ') : row.assignee) ?? 'nobody';
  const message = isHeld
    ? `${row.ticketId} is already ${to}, held by ${holders}.`
    : `${row.ticketId} is ${row.status} and cannot move to ${to}. Allowed: ${Object.keys(ticketMoves[row.status]).join(', ')}.`;
  return conflict(message, { from: row.status, to, ...(isHeld && { holder: holders }) });
}

/** K3: closing needs closed findings and the approval of the last reviewers, or a reason. Leaving the review first does not help. */
function refuseEarlyClosing(chain: ReadChain, row: TicketRecord, input: Move): void {
  if (row.type === finding && (input.resolution ?? row.resolution) === null)
    throw badRequest('resolution', `${row.ticketId} is a finding. To close it, give a resolution.`);
  if (input.reason !== undefined) return;
  const open = openFindings(chain, row);
  if (open.length) throw conflict(`${row.ticketId} has open findings (${open.join(', ')}). Close them first, or give a reason.`, { findings: open });
  const waiting = row.reviewers.filter((reviewer) => reviewer.verdict !== 'approved');
  if (waiting.length)
    throw conflict(
      `${waiting.map((reviewer) => reviewer.name).join(', ')} did not approve ${row.ticketId}. Wait for their approval, or give a reason.`,
      { reviewers: waiting },
    );
}

const openFindings = ({ db, project }: ReadChain, { no }: TicketRecord): string[] =>
  db.column("SELECT ticketId FROM ticket WHERE parent = ? AND project = ? AND type = ? AND status <> 'closed'", no, project, finding);

/** Records the starts that follow from a move (K5). */
function askFor(chain: WriteChain, before: TicketRecord, after: TicketRecord, by: string | undefined): void {
  const move = { from: before.status, to: after.status };
  if (after.status === 'review') for (const { name } of after.reviewers) askToStart(chain, after, { who: name, task: 'review', by, move });
  if (after.status === 'in_progress' && after.assignee !== null)
    askToStart(chain, after, { who: after.assignee, task: before.status === 'review' ? 'address_findings' : 'work', by, move });
  if (after.status !== 'closed') return;
  const maker = after.type === finding ? makerOf(chain, after) : null;
  if (maker !== null) {
    const contextId = discussionTip(chain, after) ?? standpoint(chain, after);
    ask(chain, after.no, { who: maker, task: 'verify_resolution', contextId, by, move });
  }
  for (const ready of newlyReady(chain, after)) askToStart(chain, ready, { who: ready.assignee, task: 'work', by });
}

/** Open tickets whose last open dependency was this one. */
const newlyReady = (chain: ReadChain, closed: TicketRecord): TicketRecord[] =>
  chain.db
    .column<number>(
      `SELECT t.no FROM ticketDependency d JOIN ticket t ON t.no = d.ticket
        WHERE d.dependsOn = ? AND t.project = ? AND t.status = 'open'
          AND NOT EXISTS (SELECT 1 FROM ticketDependency o JOIN ticket u ON u.no = o.dependsOn WHERE o.ticket = t.no AND u.status <> 'closed')
        ORDER BY t.no`,
      [closed.no, chain.project],
    )
    .map((no) => recordAt(chain, no));
