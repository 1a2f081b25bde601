import { type ContextId, contextIdPattern, timestampOf } from '../base/index.js';
import { type Chain, commitOf } from '../chain/index.js';
import type { StartReason, TicketStart, TicketTask } from '../contract/index.js';
import { recordOf, type TicketRecord, whoAnswers } from './rows.js';

type Choice = TicketStart['choices'][number];

/** A write of a ticket that carried an understanding. */
interface Written {
  readonly contextId: string;
  readonly at: number;
  readonly by: string | null;
  readonly ticketId: string;
}

/** Who made the ticket: of a finding the reviewer, who answers for it. */
export const makerOf = (chain: Chain, row: TicketRecord): string | null =>
  chain.db.one<{ by: string | null }>('SELECT by FROM ticketVersion WHERE ticket = ? AND project = ? ORDER BY no LIMIT 1', row.no, chain.project)
    ?.by ?? null;

/**
 * The understanding that a ticket's discussion resumes from: what the one who answers in it understood when they wrote of
 * the ticket last, whoever wrote since. Where they never did, a finding has none, and any other ticket what it carries.
 */
export function standpoint(chain: Chain, row: TicketRecord): string | null {
  const who = whoAnswers(chain, row);
  const [own] = writings(chain, [row.no], (by) => by === who);
  return own?.contextId ?? (row.type === 'review_finding' ? null : row.contextId);
}

/** The last commit of a ticket's discussion. */
export const discussionTip = (chain: Chain, { threadId }: Pick<TicketRecord, 'threadId'>): ContextId | undefined =>
  threadId === null
    ? undefined
    : chain.db.one<{ id: ContextId }>('SELECT id FROM context WHERE project = ? AND threadId = ? ORDER BY seq DESC LIMIT 1', chain.project, threadId)
        ?.id;

/** A ticket's context is any text: only what names a commit of this project can be resumed from. */
export function knownContext(chain: Chain, contextId: string | null): ContextId | null {
  if (contextId === null || !contextIdPattern.test(contextId)) return null;
  return chain.db.one<{ id: ContextId }>('SELECT id FROM context WHERE project = ? AND id = ?', chain.project, contextId)?.id ?? null;
}

/**
 * From which understanding somebody should start on a ticket (seed, "Event-Driven Lifecycle"): a reviewer from their
 * earlier review of it, else fresh; whoever holds it from their own work, else from that of whoever had it before;
 * whoever made a finding from the end of its discussion, else from the finding. All there is to choose from is given too.
 */
export function startFrom(chain: Chain, input: { ticketId: string; who: string }): TicketStart {
  const row = recordOf(chain, input.ticketId);
  const task = taskOf(chain, row, input.who);
  const choices = choicesOf(chain, row, input.who);
  const chosen = chosenFor(task ?? 'none', choices);
  const known = chosen && knownContext(chain, chosen.contextId);
  return {
    ticketId: row.ticketId,
    who: input.who,
    task,
    contextId: chosen?.contextId ?? null,
    reason: chosen?.reason ?? 'fresh',
    template: known ? commitOf(chain, known).template : null,
    choices,
  };
}

/** From where somebody who was asked to do this on a ticket starts now: what they, or others, wrote since they were asked counts. Null is fresh. */
export const startNow = (chain: Chain, row: TicketRecord, { who, task }: { readonly who: string; readonly task: TicketTask }): string | null =>
  chosenFor(task, choicesOf(chain, row, who))?.contextId ?? null;

const chosenFor = (task: TicketTask | 'none', choices: readonly Choice[]): Choice | undefined =>
  preferences[task].flatMap((reason) => choices.find((choice) => choice.reason === reason) ?? [])[0];

/** Which understanding goes before which, by what is to be done. */
const preferences: Readonly<Record<TicketTask | 'none', readonly StartReason[]>> = {
  review: ['earlier_review'],
  work: ['own_work', 'handed_over'],
  address_findings: ['own_work', 'handed_over'],
  decide: ['own_work', 'handed_over'],
  answer: ['discussion', 'finding', 'ticket'],
  verify_resolution: ['discussion', 'finding'],
  none: ['own_work'],
};

function taskOf(chain: Chain, row: TicketRecord, who: string): TicketTask | null {
  if (row.type === 'review_finding' && makerOf(chain, row) === who) return row.status === 'closed' ? 'verify_resolution' : 'answer';
  if (row.status === 'review' && row.reviewers.some((reviewer) => reviewer.name === who)) return 'review';
  if (row.assignee !== who) return null;
  if (row.status === 'review') return 'decide';
  return row.reviewers.length > 0 ? 'address_findings' : 'work';
}

function choicesOf(chain: Chain, row: TicketRecord, who: string): Choice[] {
  const as =
    (reason: StartReason) =>
    ({ contextId, at, by, ticketId }: Written): Choice => ({
      contextId,
      reason,
      at: timestampOf(at),
      by,
      ticketId,
      known: knownContext(chain, contextId) !== null,
    });
  const findings = chain.db
    .all<{ no: number }>("SELECT no FROM ticket WHERE parent = ? AND project = ? AND type = 'review_finding'", row.no, chain.project)
    .map(({ no }) => no);
  const isReviewer = row.reviewers.some((reviewer) => reviewer.name === who);
  const reviewers = new Set(row.reviewers.map((reviewer) => reviewer.name));
  const tip = discussionTip(chain, row);
  const from = standpoint(chain, row);
  const maker = makerOf(chain, row);
  const choices = [
    ...(tip ? [as('discussion')({ ...spokenAt(chain, tip), ticketId: row.ticketId })] : []),
    ...(row.type === 'review_finding' && from !== null ? writings(chain, [row.no], (by) => by === maker).map(as('finding')) : []),
    ...(isReviewer ? writings(chain, [row.no, ...findings], (by) => by === who).map(as('earlier_review')) : []),
    ...(isReviewer || row.type === 'review_finding' ? [] : writings(chain, [row.no], (by) => by === who).map(as('own_work'))),
    ...writings(chain, [row.no], (by) => by !== who && (by === null || !reviewers.has(by))).map(as('handed_over')),
    ...(row.type === 'review_finding' ? [] : writings(chain, [row.no], () => true).map(as('ticket'))),
  ];
  return choices.filter((choice, n) => choices.findIndex((other) => other.contextId === choice.contextId && other.reason === choice.reason) === n);
}

const spokenAt = (chain: Chain, id: ContextId): Omit<Written, 'ticketId'> => {
  const { createdAt, principal } = commitOf(chain, id);
  return { contextId: id, at: createdAt, by: principal };
};

/** Writes of tickets that carried an understanding, the newest first. */
const writings = (chain: Chain, tickets: readonly number[], isBy: (by: string | null) => boolean): Written[] =>
  chain.db
    .all<Written>(
      `SELECT v.contextId, v.at, v.by, t.ticketId FROM ticketVersion v JOIN ticket t ON t.no = v.ticket
        WHERE v.project = ? AND v.ticket IN (SELECT value FROM json_each(?)) AND v.contextId IS NOT NULL ORDER BY v.no DESC`,
      chain.project,
      JSON.stringify(tickets),
    )
    .filter(({ by }) => isBy(by));
