import { badRequest, type CommitSeq, type ContextId, conflict, orUndefined, toTimestamp } from '../base/index.js';
import { type ContextRow, commitAt, entries, findCommit, fork, isAncestor, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Entry, InputOf, OutputOf, ReplyPart, TicketThread } from '../contract/index.js';
import { answerContext, type ModelProvider } from '../turns/index.js';
import { ask } from './events.js';
import { answererOf, readTicket, write } from './rows.js';
import { ticketOf } from './tickets.js';
import { discussionTip, knownContext, standpoint } from './understood.js';

const maxSummaryLength = 200;

/**
 * Adds a message to a ticket's thread. The thread is a branch that starts at the ticket's context, so that the answerer
 * has the knowledge of that time. Two tickets with the same context have two branches. Without a known context the thread
 * starts a conversation. A message asks the answerer to start; a message by the answerer is the answer.
 */
export function discuss(chain: WriteChain, input: InputOf<'ticket.discuss'>): OutputOf<'ticket.discuss'> {
  return chain.artifacts.transaction(() => {
    const row = readTicket(chain, input.ticketId);
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

/** Answers a thread's last message from its context, as the ticket's answerer. @throws BAD_REQUEST for no message; CONFLICT if answered. */
export async function* answer(
  chain: WriteChain,
  input: InputOf<'ticket.answer'>,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, { threadId: string; commit: ContextId | null; from: ContextId | null }> {
  const row = readTicket(chain, input.ticketId);
  const tip = discussionTip(chain, row);
  if (row.threadId === null || tip === undefined) throw badRequest('ticketId', `The thread of ${row.ticketId} has no message. Add a message first.`);
  if (readMessage(chain, findCommit(chain, tip)).role === 'assistant')
    throw conflict(`The last message in the thread of ${row.ticketId} is an answer. Add a message first.`, { tip });
  const from = knownContext(chain, standpoint(chain, row));
  const { template, principal } = findCommit(chain, from ?? tip);
  const speaker = answererOf(chain, row) ?? principal ?? template;
  const { commits, from: found } = yield* answerContext(
    chain,
    {
      id: tip,
      provider: input.provider,
      model: input.model,
      call: { kind: 'answer', finding: findingText(chain, row.ticketId) },
      as: { template, principal: speaker, ticketId: row.ticketId, threadId: row.threadId },
    },
    providers,
    signal,
  );
  return { threadId: row.threadId, commit: commits[0] ?? null, from: found };
}

/** What the next call of a commit is about, if the commit is the last message of a thread and `answer` would reply to it. */
export function discussedIn(chain: ReadChain, { id, ticketId, threadId }: ContextRow): string | undefined {
  if (ticketId === null || threadId === null || discussionTip(chain, { threadId }) !== id) return undefined;
  const ticket = orUndefined(() => readTicket(chain, ticketId), ['NOT_FOUND']);
  const isOpen = ticket?.threadId === threadId && readMessage(chain, findCommit(chain, id)).role !== 'assistant';
  return isOpen ? findingText(chain, ticketId) : undefined;
}

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
    messages: said.map((seq) => {
      const commit = commitAt(chain, seq);
      return { ...readMessage(chain, commit), current: last !== undefined && isAncestor(chain, commit, last) };
    }),
  };
}

/** What a commit of a thread says. */
function readMessage(chain: ReadChain, commit: ContextRow) {
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
  };
}
