import type { Ticket, TicketStatus, TicketTask, TicketVersion, Verdict } from '../../../core/contract/index.js';
import { say, statusNames } from '../../parts';

export const verdictNames: Readonly<Record<Verdict, string>> = {
  pending: 'pending',
  approved: 'approved',
  changes_requested: 'asks for changes',
  commented: 'commented',
};

/** The task of a requested start, as the beginning of a sentence that ends with the ticket. */
export const taskNames: Readonly<Record<TicketTask, string>> = {
  work: 'work on',
  review: 'review',
  address_findings: 'address the findings of',
  decide: 'decide, with every verdict given, on',
  answer: 'answer a question on',
  verify_resolution: 'verify the resolution of',
};

const moveNames: Readonly<Record<TicketStatus, string>> = {
  open: 'Back to open',
  in_progress: 'Start work',
  review: 'Send to review',
  blocked: 'Block',
  deferred: 'Defer',
  closed: 'Close',
};

/** The name of a move on its button. */
export function moveName(from: TicketStatus, to: TicketStatus): string {
  if (from === 'closed' && to === 'open') return 'Open again';
  return from === 'review' && to === 'in_progress' ? 'Back to work' : moveNames[to];
}

/** The type of a ticket as the window names it. */
export const typeName = (type: string): string => (type === 'review_finding' ? 'finding' : type);

/** The changes of a version, one sentence per field. */
export function changeWords({ changes, by }: TicketVersion, isFirst: boolean): string[] {
  if (isFirst) return ['Created the ticket'];
  return Object.entries(changes).flatMap(([field, { from, to }]) => {
    switch (field) {
      case 'status':
        return `${statusNames[from as TicketStatus]} → ${statusNames[to as TicketStatus]}`;
      case 'assignee':
        return to === null ? `Unassigned ${String(from)}` : `Assigned to ${String(to)}`;
      case 'reviewers':
        return reviewerWords(from as Ticket['reviewers'], to as Ticket['reviewers'], by);
      case 'resolution':
        return to === null ? 'Removed the resolution' : `Resolved: ${say.firstLine(String(to), 160)}`;
      case 'title':
        return `Title: ${say.firstLine(String(to), 120)}`;
      case 'body':
        return 'Changed the text';
      case 'threadId':
        return 'Started the discussion';
      case 'contextId':
        return [];
      default:
        return `${field}: ${showValue(to)}`;
    }
  });
}

const showValue = (value: unknown): string => (Array.isArray(value) ? value.join(', ') || 'none' : String(value ?? 'none'));

function reviewerWords(from: Ticket['reviewers'], to: Ticket['reviewers'], by: string | null): string[] {
  const before = new Map(from.map(({ name, verdict }) => [name, verdict]));
  const given = to.filter(({ name, verdict }) => verdict !== 'pending' && before.get(name) !== verdict);
  if (given.length > 0) return given.map(({ name, verdict }) => `${name === by ? '' : `${name}: `}${verdictNames[verdict]}`);
  return [`Reviewers: ${to.map(({ name }) => name).join(', ')}`];
}

/** The reasons why a ticket cannot be closed yet; empty if it can. */
export function whyNotClosed({ reviewers, findings }: Pick<Ticket, 'reviewers' | 'findings'>): string[] {
  const waiting = reviewers.filter(({ verdict }) => verdict !== 'approved');
  return [
    ...(findings.open > 0 ? [`${say.plural(findings.open, 'finding')} ${findings.open === 1 ? 'is' : 'are'} open`] : []),
    ...(waiting.length > 0 ? [`${waiting.map(({ name }) => name).join(', ')} has not approved`] : []),
  ];
}

/** Tickets that are not closed come first; otherwise the order stays. */
export const openFirst = <T extends { readonly status: TicketStatus }>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => Number(a.status === 'closed') - Number(b.status === 'closed'));
