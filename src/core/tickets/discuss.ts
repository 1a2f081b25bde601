import { badRequest, type ContextId, StemmaError, timestampOf } from '../base/index.js';
import { type ContextRow, commitAt, commitOf, entries, fork, isAncestor, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Entry, InputOf, OutputOf, ReplyPart, TicketThread } from '../contract/index.js';
import { answerContext, type ModelProvider } from '../turns/index.js';
import { ask } from './events.js';
import { answererOf, recordOf, write } from './rows.js';
import { discussionTip, knownContext, standpoint } from './understood.js';

const maxSummaryLength = 200;

/**
 * Adds a message to a ticket's thread. The thread is a branch that starts at the ticket's context, so that the answerer
 * has the knowledge of that time. Two tickets with the same context have two branches. Without a known context the thread
 * starts a conversation. A message asks the answerer to start; a message by the answerer is the answer.
 */
export function discuss(chain: WriteChain, input: InputOf<'ticket.discuss'>): OutputOf<'ticket.discuss'> {
  return chain.artifacts.transaction(() => {
    const row = recordOf(chain, input.ticketId);
    const threadId = row.threadId ?? `thr-${chain.newId()}`;
    const answers = answererOf(chain, row);
    const isAnswer = input.principal !== undefined && input.principal === answers;
    // Record the write before the message, because the author did not know the message before.
    if (row.threadId === null) write(chain, row, { threadId }, { by: input.principal, isAside: true });
    const commit = fork(chain, {
      id: discussionTip(chain, { threadId }) ?? knownContext(chain, standpoint(chain, row)),
      edits: [{ op: 'append', entry: { role: isAnswer ? 'assistant' : 'user', kind: 'text', text: input.text } }],
      summary: input.text.slice(0, maxSummaryLength),
      ticketId: row.ticketId,
      threadId,
      ...(input.principal !== undefined && { principal: input.principal }),
    });
    if (!isAnswer && answers !== null) ask(chain, row.no, { who: answers, task: 'answer', contextId: commit.id, by: input.principal });
    return { threadId, commit };
  });
}

/**
 * Answers the last message of a thread from the thread's context. The reply belongs to the ticket's answerer, whichever
 * model writes it. @throws BAD_REQUEST for an empty thread; CONFLICT if the last message is an answer.
 */
export async function* answer(
  chain: WriteChain,
  input: InputOf<'ticket.answer'>,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, { threadId: string; commit: ContextId | null; from: ContextId | null }> {
  const row = recordOf(chain, input.ticketId);
  const tip = discussionTip(chain, row);
  if (row.threadId === null || tip === undefined) throw badRequest('ticketId', `The thread of ${row.ticketId} has no message. Add a message first.`);
  if (messageOf(chain, commitOf(chain, tip), () => true).role === 'assistant')
    throw new StemmaError('CONFLICT', `The last message in the thread of ${row.ticketId} is an answer. Add a message first.`, { tip });
  const from = knownContext(chain, standpoint(chain, row));
  const { template, principal } = commitOf(chain, from ?? tip);
  const speaker = answererOf(chain, row) ?? principal ?? template;
  const { commits, from: found } = yield* answerContext(
    chain,
    { id: tip, provider: input.provider, model: input.model, as: { template, principal: speaker, ticketId: row.ticketId, threadId: row.threadId } },
    providers,
    signal,
  );
  return { threadId: row.threadId, commit: commits[0] ?? null, from: found };
}

/** The messages of a ticket's thread, oldest first. */
export function thread(chain: ReadChain, ticketId: string): TicketThread {
  const row = recordOf(chain, ticketId);
  const tip = discussionTip(chain, row);
  const last = tip && commitOf(chain, tip);
  const said =
    row.threadId === null
      ? []
      : chain.db.all<{ seq: ContextRow['seq'] }>(
          'SELECT seq FROM context WHERE project = ? AND threadId = ? ORDER BY seq',
          chain.project,
          row.threadId,
        );
  return {
    threadId: row.threadId,
    from: knownContext(chain, standpoint(chain, row)),
    tip: tip ?? null,
    answers: answererOf(chain, row),
    messages: said.map(({ seq }) => messageOf(chain, commitAt(chain, seq), (commit) => last !== undefined && isAncestor(chain, commit, last))),
  };
}

function messageOf(chain: ReadChain, commit: ContextRow, isCurrent: (commit: ContextRow) => boolean): TicketThread['messages'][number] {
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
    at: timestampOf(commit.createdAt),
    current: isCurrent(commit),
  };
}
