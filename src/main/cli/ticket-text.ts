import type { Ticket, TicketEvent, TicketRow } from '../../core/contract/index.js';
import { block, dim, green, join, line, type Paint, type Printable, red, type Text, yellow } from '../terminal/index.js';

const paints: Readonly<Partial<Record<Ticket['status'], Paint>>> = { closed: green, review: yellow, in_progress: yellow, blocked: red };

/** A ticket in one line: its id, status, type, title and assignee. */
export function ticketLine({ ticketId, status, type, title, assignee, reviewers }: Ticket | TicketRow): Text {
  const people = status === 'review' ? reviewers.map(({ name, verdict }) => `${name} ${verdict}`).join(', ') : (assignee ?? '');
  const paint = paints[status] ?? dim;
  return line`${ticketId}  ${paint(status.padEnd(11))}  ${type}  ${title}${people && dim(`  ${people}`)}`;
}

/** A ticket with its text, its lists, and its versions. */
export function describeTicket(ticket: Ticket): Text {
  const { body, resolution, children, dependsOn, labels, versions } = ticket;
  const lists = Object.entries({ children, 'depends on': dependsOn, labels }).filter(([, all]) => all.length > 0);
  const parts: Printable[] = [
    ticketLine(ticket),
    ...lists.map(([name, all]) => dim(`${name}: ${all.join(', ')}`)),
    ...(body ? ['', block(body)] : []),
    ...(resolution === null ? [] : ['', line`Resolved: ${block(resolution)}`]),
    '',
    ...versions.map(describeVersion),
  ];
  return join(parts);
}

function describeVersion({ at, by, changes, contextId, contextFound, reason }: Ticket['versions'][number]): Text {
  const context = contextId === null ? 'context not recorded' : `${contextId} ${contextFound === 'resolved' ? 'found' : 'given'}`;
  return dim(`${at}  ${by ?? 'unknown'}  ${Object.keys(changes).join(', ')}  ${context}${reason ? `  ${reason}` : ''}`);
}

/** A request to start in one line: the agent, the task, the ticket, the context, and who answered. */
export function startLine({ event, who, task, ticketId, title, contextId, state, answeredBy }: TicketEvent): Text {
  const from = contextId === null ? 'fresh' : `from ${contextId}`;
  const answered = state === 'waiting' ? '' : `  ${state}${answeredBy === null ? '' : ` by ${answeredBy}`}`;
  return line`${String(event).padStart(4)}  ${who ?? 'anyone'}: ${task.replaceAll('_', ' ')} ${ticketId} ${title}  ${dim(from + answered)}`;
}
