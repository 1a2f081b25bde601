import { type CommitSeq, toTimestamp } from '../base/index.js';
import { type ContextRow, commitAt, entries, findCommit, isAncestor, type ReadChain } from '../chain/index.js';
import type { Entry, TicketThread } from '../contract/index.js';
import { answererOf, readTicket } from './rows.js';
import { discussionTip, knownContext, standpoint } from './understood.js';

/** The messages of a ticket's thread, oldest first. */
export function thread(chain: ReadChain, ticketId: string): TicketThread {
  const row = readTicket(chain, ticketId);
  const tip = discussionTip(chain, row);
  const last = tip && findCommit(chain, tip);
  // No thread has the id null.
  const said = chain.db.column<CommitSeq>('SELECT seq FROM commits WHERE project = ? AND threadId = ? ORDER BY seq', chain.project, row.threadId);
  return {
    threadId: row.threadId,
    from: knownContext(chain, standpoint(chain, row)),
    tip: tip ?? null,
    answers: answererOf(chain, row),
    messages: said.map((seq) => readMessage(chain, commitAt(chain, seq), (commit) => last !== undefined && isAncestor(chain, commit, last))),
  };
}

/** What a commit of a thread says. */
export function readMessage(chain: ReadChain, commit: ContextRow, isCurrent: (commit: ContextRow) => boolean): TicketThread['messages'][number] {
  const own: Entry[] = entries(chain, { id: commit.id, stop: commit.id }).entries;
  const role = own.findLast((entry) => entry.role !== 'tool')?.role ?? 'user';
  // A command-line agent records its environment as entries of the user, which are no part of its answer.
  const spoken = own.filter((entry) => entry.kind === 'text' && entry.role === role);
  return {
    commit: commit.id,
    parent: commit.parentId,
    by: commit.principal,
    role,
    text: spoken.map((entry) => entry.text ?? '').join('\n\n'),
    tools: own.flatMap((entry) => (entry.kind === 'tool_call' ? (entry.toolName ?? []) : [])),
    at: toTimestamp(commit.createdAt),
    current: isCurrent(commit),
  };
}
