import type { ReadChain } from '../chain/index.js';
import { readTicket } from './rows.js';
import { thread } from './thread.js';
import { ticketOf } from './tickets.js';

/** What a discussion is about, as text for a model: the finding or ticket, the ticket that it belongs to, and its thread. */
export function findingText(chain: ReadChain, ticketId: string): string {
  const { title, type, status, body, parent, resolution } = ticketOf(chain, ticketId);
  const { threadId } = readTicket(chain, ticketId);
  const about = parent === null ? undefined : ticketOf(chain, parent);
  const said = threadId === null ? [] : thread(chain, ticketId).messages;
  return [
    [
      `${type === 'review_finding' ? 'FINDING' : 'TICKET'} ${ticketId} (${type}, ${status}): ${title}`,
      body,
      ...(resolution ? [`Resolution: ${resolution}`] : []),
    ],
    about && [`TICKET ${about.ticketId} (${about.type}, ${about.status}): ${about.title}`, about.body],
    said.length > 0 && ['THREAD:', ...said.map(({ by, text, at }) => `[${at}] ${by ?? 'unknown'}: ${text}`)],
  ]
    .flatMap((part) => (part ? [part.filter((line) => line !== '').join('\n')] : []))
    .join('\n\n');
}
