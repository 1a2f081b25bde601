import { type ContextId, contextIdPattern, toTimestamp } from '../base/index.js';
import { findCommit, type ReadChain } from '../chain/index.js';
import type { StartReason, TicketStart, TicketTask } from '../contract/index.js';
import { answererOf, readTicket, type TicketRecord } from './rows.js';

type Choice = TicketStart['choices'][number];

interface Written {
  readonly contextId: string;
  readonly at: number;
  readonly by: string | null;
  readonly ticketId: string;
}

/** The author of a ticket: for a finding, the reviewer. */
export const makerOf = (chain: ReadChain, row: TicketRecord): string | null =>
  chain.db.value<string | null>('SELECT by FROM ticketVersion WHERE ticket = ? AND project = ? ORDER BY no LIMIT 1', row.no, chain.project) ?? null;

/** Where a ticket's thread starts: at the answerer's last write, else nowhere for a finding, and at its own context for a ticket. */
export function standpoint(chain: ReadChain, row: TicketRecord): string | null {
  const who = answererOf(chain, row);
  const [own] = writings(chain, [row.no], (by) => by === who);
  return own?.contextId ?? (row.type === 'review_finding' ? null : row.contextId);
}

/** The last commit of a ticket's thread. */
export const discussionTip = (chain: ReadChain, { threadId }: Pick<TicketRecord, 'threadId'>): ContextId | undefined =>
  threadId === null
    ? undefined
    : chain.db.value<ContextId>('SELECT id FROM commits WHERE project = ? AND threadId = ? ORDER BY seq DESC LIMIT 1', chain.project, threadId);

/** A ticket's context can be any string; only a commit of this project can be resumed. */
export function knownContext(chain: ReadChain, contextId: string | null): ContextId | null {
  if (contextId === null || !contextIdPattern.test(contextId)) return null;
  return chain.db.value<ContextId>('SELECT id FROM commits WHERE project = ? AND id = ?', chain.project, contextId) ?? null;
}

/**
 * The context from which `who` should start on a ticket (K8). A reviewer starts from their earlier review, else fresh. An
 * assignee starts from their own work, else from the previous assignee's. The author of a finding starts from the end of its
 * thread, else from the finding. All candidates are returned too.
 */
export function startFrom(chain: ReadChain, input: { ticketId: string; who: string }): TicketStart {
  const row = readTicket(chain, input.ticketId);
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
    template: known ? findCommit(chain, known).template : null,
    choices,
  };
}

/** The context for a requested task on a ticket now, including later writes. Null means fresh. */
export const startNow = (chain: ReadChain, row: TicketRecord, { who, task }: { readonly who: string; readonly task: TicketTask }): string | null =>
  chosenFor(task, choicesOf(chain, row, who))?.contextId ?? null;

const chosenFor = (task: TicketTask | 'none', choices: readonly Choice[]): Choice | undefined =>
  preferences[task].flatMap((reason) => choices.find((choice) => choice.reason === reason) ?? [])[0];

const preferences: Readonly<Record<TicketTask | 'none', readonly StartReason[]>> = {
  review: ['earlier_review'],
  work: ['own_work', 'handed_over'],
  address_findings: ['own_work', 'handed_over'],
  decide: ['own_work', 'handed_over'],
  answer: ['discussion', 'finding', 'ticket'],
  verify_resolution: ['discussion', 'finding'],
  none: ['own_work'],
};

function taskOf(chain: ReadChain, row: TicketRecord, who: string): TicketTask | null {
  if (row.type === 'review_finding' && makerOf(chain, row) === who) return row.status === 'closed' ? 'verify_resolution' : 'answer';
  if (row.status === 'review' && row.reviewers.some((reviewer) => reviewer.name === who)) return 'review';
  if (row.assignee !== who) return null;
  if (row.status === 'review') return 'decide';
  return row.reviewers.length > 0 ? 'address_findings' : 'work';
}

function choicesOf(chain: ReadChain, row: TicketRecord, who: string): Choice[] {
  const as =
    (reason: StartReason) =>
    ({ contextId, at, by, ticketId }: Written): Choice => {
      const known = knownContext(chain, contextId) !== null;
      return { contextId, reason, at: toTimestamp(at), by, ticketId, known };
    };
  const found = chain.db.column<number>("SELECT no FROM ticket WHERE parent = ? AND project = ? AND type = 'review_finding'", row.no, chain.project);
  const reviewers = new Set(row.reviewers.map((reviewer) => reviewer.name));
  const isReviewer = reviewers.has(who);
  const tip = discussionTip(chain, row);
  const from = standpoint(chain, row);
  const maker = makerOf(chain, row);
  const choices = [
    ...(tip ? [as('discussion')({ ...spokenAt(chain, tip), ticketId: row.ticketId })] : []),
    ...(row.type === 'review_finding' && from !== null ? writings(chain, [row.no], (by) => by === maker).map(as('finding')) : []),
    ...(isReviewer ? writings(chain, [row.no, ...found], (by) => by === who).map(as('earlier_review')) : []),
    ...(isReviewer || row.type === 'review_finding' ? [] : writings(chain, [row.no], (by) => by === who).map(as('own_work'))),
    ...writings(chain, [row.no], (by) => by !== who && (by === null || !reviewers.has(by))).map(as('handed_over')),
    ...(row.type === 'review_finding' ? [] : writings(chain, [row.no], () => true).map(as('ticket'))),
  ];
  return choices.filter((choice, n) => choices.findIndex((other) => other.contextId === choice.contextId && other.reason === choice.reason) === n);
}

const spokenAt = (chain: ReadChain, id: ContextId): Omit<Written, 'ticketId'> => {
  const { createdAt, principal } = findCommit(chain, id);
  return { contextId: id, at: createdAt, by: principal };
};

/** Writes of tickets that have a context, newest first. */
const writings = (chain: ReadChain, tickets: readonly number[], isBy: (by: string | null) => boolean): Written[] =>
  chain.db
    .all<Written>(
      `SELECT v.contextId, v.at, v.by, t.ticketId FROM ticketVersion v JOIN ticket t ON t.no = v.ticket
        WHERE v.project = ? AND v.ticket IN (SELECT value FROM json_each(?)) AND v.contextId IS NOT NULL ORDER BY v.no DESC`,
      [chain.project, JSON.stringify(tickets)],
    )
    .filter(({ by }) => isBy(by));
