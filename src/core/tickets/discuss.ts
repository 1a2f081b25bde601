import { badRequest, type ContextId, StemmaError, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, commitAt, commitOf, entries, fork, isAncestor } from '../chain/index.js';
import type { Commit, Entry, ReplyPart, TicketThread } from '../contract/index.js';
import { answerContext, type ModelProvider } from '../turns/index.js';
import { ask } from './events.js';
import { recordOf, whoAnswers, write } from './rows.js';
import { discussionTip, knownContext, standpoint } from './understood.js';

const longestSummary = 200;

/**
 * A message in a ticket's thread: a commit on the thread's branch, which begins at the understanding that the ticket was
 * written with, so that whoever answers does so with what was understood then (seed, "Example: Review Discussion"). Two
 * tickets with one context have two branches. A ticket without a context that is known here begins a conversation.
 * What is said to the one who answers asks them to start; what they say themselves is their answer.
 */
export function discuss(
  chain: Chain,
  input: { ticketId: string; text: string; principal?: string | undefined },
): { threadId: string; commit: Commit } {
  return chain.artifacts.transaction(() => {
    const row = recordOf(chain, input.ticketId);
    const threadId = row.threadId ?? `thr-${chain.newId()}`;
    const answers = whoAnswers(chain, row);
    const isAnswer = input.principal !== undefined && input.principal === answers;
    // Before the words: whoever asks understood what they did before they asked.
    if (row.threadId === null) write(chain, row, { threadId }, { by: input.principal, isAside: true });
    const commit = fork(chain, {
      id: discussionTip(chain, { threadId }) ?? knownContext(chain, standpoint(chain, row)),
      edits: [{ op: 'append', entry: { role: isAnswer ? 'assistant' : 'user', kind: 'text', text: input.text } }],
      summary: input.text.slice(0, longestSummary),
      ticketId: row.ticketId,
      threadId,
      ...(input.principal !== undefined && { principal: input.principal }),
    });
    if (!isAnswer && answers !== null) ask(chain, row.no, { who: answers, task: 'answer', contextId: commit.id, by: input.principal });
    return { threadId, commit };
  });
}

/**
 * Has the last message of a thread answered, from the understanding that the thread resumes: who made the finding speaks,
 * whoever runs the model. @throws BAD_REQUEST where nobody asked anything; CONFLICT where the last word was an answer.
 */
export async function* answer(
  chain: Chain,
  input: { ticketId: string; provider: string; model?: string | undefined },
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, { threadId: string; commit: ContextId | null; from: ContextId | null }> {
  const row = recordOf(chain, input.ticketId);
  const tip = discussionTip(chain, row);
  if (row.threadId === null || tip === undefined)
    throw badRequest('ticketId', `nothing was asked on ${row.ticketId} yet: say something in its thread first`);
  if (messageOf(chain, commitOf(chain, tip), () => true).role === 'assistant')
    throw new StemmaError('CONFLICT', `the last word in the thread of ${row.ticketId} is an answer already: ask something first`, { tip });
  const from = knownContext(chain, standpoint(chain, row));
  const { template, principal } = commitOf(chain, from ?? tip);
  const speaker = whoAnswers(chain, row) ?? principal ?? template;
  const { commits, from: found } = yield* answerContext(
    chain,
    { id: tip, provider: input.provider, model: input.model, as: { template, principal: speaker, ticketId: row.ticketId, threadId: row.threadId } },
    providers,
    signal,
  );
  return { threadId: row.threadId, commit: commits[0] ?? null, from: found };
}

/** A ticket's discussion, message by message, in the order in which they were said. */
export function thread(chain: Chain, ticketId: string): TicketThread {
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
    answers: whoAnswers(chain, row),
    messages: said.map(({ seq }) => messageOf(chain, commitAt(chain, seq), (commit) => last !== undefined && isAncestor(chain, commit, last))),
  };
}

function messageOf(chain: Chain, commit: ContextRow, isCurrent: (commit: ContextRow) => boolean): TicketThread['messages'][number] {
  const own: Entry[] = entries(chain, { id: commit.id, stop: commit.id }).entries;
  const spoken = own.filter((entry) => entry.kind === 'text');
  return {
    commit: commit.id,
    parent: commit.parentId,
    by: commit.principal,
    role: own.findLast((entry) => entry.role !== 'tool')?.role ?? 'user',
    text: spoken.map((entry) => entry.text ?? '').join('\n\n'),
    tools: own.flatMap((entry) => (entry.kind === 'tool_call' ? (entry.toolName ?? []) : [])),
    at: timestampOf(commit.createdAt),
    current: isCurrent(commit),
  };
}
