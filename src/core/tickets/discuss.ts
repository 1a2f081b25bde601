import { type ContextId, contextIdPattern } from '../base/index.js';
import { type Chain, fork } from '../chain/index.js';
import type { Commit } from '../contract/index.js';
import { discussionTip, rowOf, setThread } from './tickets.js';

/**
 * A message in a ticket's thread: a commit on the thread's branch, which begins at the ticket's context, so that whoever
 * answers does so with what the ticket's author understood (seed, "Example: Review Discussion"). Two tickets with one
 * context have two branches. A ticket without a context that is known here begins a conversation.
 */
export function discuss(
  chain: Chain,
  input: { ticketId: string; text: string; principal?: string | undefined },
): { threadId: string; commit: Commit } {
  return chain.artifacts.transaction(() => {
    const row = rowOf(chain, input.ticketId);
    const threadId = row.threadId ?? `thr-${chain.newId()}`;
    const from = discussionTip(chain, { threadId }) ?? knownContext(chain, row.contextId);
    const commit = fork(chain, {
      id: from,
      edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: input.text } }],
      summary: input.text.slice(0, 200),
      ticketId: row.ticketId,
      threadId,
      ...(input.principal !== undefined && { principal: input.principal }),
    });
    if (row.threadId === null) setThread(chain, row, threadId, input.principal);
    return { threadId, commit };
  });
}

/** A ticket's context is any text: only what names a commit of this project can be resumed from. */
function knownContext(chain: Chain, contextId: string | null): ContextId | null {
  if (contextId === null || !contextIdPattern.test(contextId)) return null;
  return chain.db.one<{ id: ContextId }>('SELECT id FROM context WHERE project = ? AND id = ?', chain.project, contextId)?.id ?? null;
}
