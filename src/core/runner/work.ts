import { type ContextId, decodeText, StemmaError, toTimestamp } from '../base/index.js';
import { checkpoint, findCommit, fork, personOf, type ReadChain, type WriteChain } from '../chain/index.js';
import { untrusted } from '../composer/index.js';
import type { TicketEvent, TicketTask } from '../contract/index.js';
import { requireFormat } from '../formats/index.js';
import { adoptCommit, beginTurn, deliver, finishTurn, turnCards, turnNamed } from '../handover/index.js';
import { acknowledge, eventNamed, findingText, ticketOf } from '../tickets/index.js';
import { commitTimeline, finishRun, getRun } from '../timeline/index.js';
import type { ContextCall } from '../turns/index.js';
import { servedTo } from './agent-tools.js';
import { noteTip, tipOfWork } from './jobs.js';
import type { Performing } from './parts.js';
import { profileOfEntity, shownRun } from './run-call.js';

/** The context from which a performer starts, and the metadata of its commits. */
export interface Start {
  /** The context that the performer continues. It ends with a message, or in the middle of an earlier job's work. */
  readonly from: ContextId;
  readonly who: string;
  readonly runId: string | null;
  /** The tools of Stemma's MCP server that a command-line agent is offered; undefined for the work of a person. */
  readonly permitted: readonly string[] | undefined;
  readonly as: { readonly template?: string; readonly principal: string; readonly ticketId?: string; readonly threadId?: string };
  /** Called with each new commit, if the work stores it in a place of its own. */
  moved?(commit: ContextId): void;
}

/** The end of work. */
export interface WorkEnd {
  readonly status: 'completed' | 'partial' | 'failed' | 'canceled';
  readonly text: string;
  readonly tip: ContextId;
  /** True if the run waits and ends later. */
  readonly pauses: boolean;
}

/** Work in the name of an agent, which a model or a command-line agent carries out. */
export interface OwnWork {
  /** Undefined if another job has done the work meanwhile. */
  start(): Start | undefined;
  end(end: WorkEnd): void;
}

/** A run of an agent in a space. */
export function workOfRun(chain: WriteChain, { jobId, target, tools: limit }: Performing, runId: string): OwnWork {
  return {
    start: () => {
      const { entityId, status } = getRun(chain, runId);
      if (status !== 'running') return undefined;
      const known = tipOfWork(chain, target.work);
      const from =
        known ??
        chain.artifacts.transaction(() => {
          const { tools, budget, asRoles } = shownRun({ chain, tools: limit }, entityId);
          const made = commitTimeline(chain, runId, { after: tipOfWork(chain, `run:${runId}:`, { isPrefix: true }), tools, budget, asRoles });
          noteTip(chain, jobId, made);
          return made;
        });
      const { template, threadId } = findCommit(chain, from);
      const permitted = servedTo(profileOfEntity(chain, entityId), 'run');
      return { from, who: entityId, runId, permitted, as: { template, principal: entityId, ...(threadId !== null && { threadId }) } };
    },
    end: ({ status, text, tip, pauses }) => {
      const run = getRun(chain, runId);
      // An agent that waits for an answer ends its turn. The run continues when the answer comes.
      const waits = status === 'completed' && run.status === 'waiting_reply';
      if (pauses || waits || run.endedAt !== null) return;
      finishRun(chain, { runId, status: status === 'partial' ? 'failed' : status, output: text, context: tip });
    },
  };
}

/** In whose name a start is carried out. */
export const whoStarts = ({ who }: Pick<TicketEvent, 'who'>, named?: string): string => who ?? named ?? 'stemma';

/** How the calls of a start are composed. `isAnswer`: it answers the thread of its ticket. */
export const startCall = (chain: ReadChain, ticketId: string | undefined, isAnswer: boolean): Pick<ContextCall, 'kind' | 'finding'> =>
  isAnswer && ticketId !== undefined ? { kind: 'answer', finding: findingText(chain, ticketId) } : { kind: 'turn' };

/** A start that a ticket requests. */
export function workOfEvent(chain: WriteChain, { jobId, target, who: named }: Performing, no: number): OwnWork {
  const event = eventNamed(chain, no);
  const who = whoStarts(event, named);
  return {
    start: () =>
      chain.artifacts.transaction(() => {
        // Other work, such as a verdict that closes the ticket, can settle a start while its job begins.
        const { state } = eventNamed(chain, no);
        if (state !== 'waiting' && state !== 'taken') return undefined;
        acknowledge(chain, { event: no, by: who, as: 'taken' });
        const from = tipOfWork(chain, target.work) ?? askedFor(chain, event, who);
        noteTip(chain, jobId, from);
        const { threadId, template } = findCommit(chain, from);
        const isAnswer = event.task === 'answer' && threadId !== null;
        const permitted = servedTo(undefined, 'ticket');
        return { from, who, runId: null, permitted, as: { template, principal: who, ticketId: event.ticketId, ...(isAnswer && { threadId }) } };
      }),
    end: ({ status }) => {
      if (status !== 'completed') return;
      const { state } = eventNamed(chain, no);
      if (state === 'taken' || state === 'waiting') acknowledge(chain, { event: no, by: who, as: 'done' });
    },
  };
}

const tasks: Readonly<Record<TicketTask, string>> = {
  work: 'Work on this ticket. Claim it by moving it to in_progress with yourself as the assignee, if nobody has. When the work is done, move it to review.',
  review:
    'Review this ticket. Create a ticket of type review_finding, with this ticket as its parent, for each problem. Then give your verdict with ticket_verdict.',
  address_findings: 'Address the open findings of this ticket: discuss or resolve each one, and close it with a resolution.',
  decide: 'All reviewers have given their verdicts. Decide what happens with this ticket: close it, or move it back to in_progress.',
  answer: 'Answer the last message in the thread of this ticket.',
  verify_resolution: 'Your finding was closed with a resolution. Verify it. If it does not hold, open the finding again.',
};

/** What the work of a start begins with: a context, or null for a new one, and the task as the message on top of it. */
type Beginning = { readonly base: ContextId; readonly text: undefined } | { readonly base: ContextId | null; readonly text: string };

/** The beginning of a start. The answer of a thread continues the thread itself. */
export function findBeginning(chain: ReadChain, { task, ticketId, contextId, known }: TicketEvent, who: string): Beginning {
  const base = known && contextId !== null ? (contextId as ContextId) : null;
  if (task === 'answer' && base !== null) return { base, text: undefined };
  const { title, type, status, body, parent } = ticketOf(chain, ticketId);
  const text = [
    `You are ${who}. ${tasks[task]}`,
    untrusted,
    `Ticket ${ticketId} (${type}, ${status}${parent === null ? '' : `, part of ${parent}`}): ${title}`,
    ...(body === '' ? [] : [body]),
  ].join('\n\n');
  return { base, text };
}

/** The message of a beginning as a delta in the format of its commit. */
export const writtenTask = (chain: ReadChain, text: string): Uint8Array =>
  requireFormat(openFormat).write([{ role: 'user', kind: 'text', text }], { newId: chain.newId, now: toTimestamp(chain.clock()) });

/** Stores the beginning of a start. */
function askedFor(chain: WriteChain, event: TicketEvent, who: string): ContextId {
  const { base, text } = findBeginning(chain, event, who);
  if (text === undefined) return base;
  const { task, ticketId, title } = event;
  const summary = `${task.replaceAll('_', ' ')}: ${title}`.slice(0, 200).toWellFormed();
  const entry = { role: 'user', kind: 'text', text } as const;
  if (base === null) return fork(chain, { id: null, edits: [{ op: 'append', entry }], summary, principal: who, ticketId, template: who }).id;
  return checkpoint(chain, {
    parent: base,
    type: 'delta',
    format: openFormat,
    text: decodeText(writtenTask(chain, text)),
    template: findCommit(chain, base).template,
    principal: who,
    ticketId,
    checkpoint: 'explicit',
    summary,
  }).id;
}

/** A format in which a tool call can stay open between two commits. */
export const openFormat = 'claude-code-v1';

/** A dispatched turn of an agent. Its commits extend the agent's chain, and its last message is the deliverable. */
export function workOfTurn(chain: WriteChain, turnId: string): OwnWork {
  return {
    start: () =>
      chain.artifacts.transaction(() => {
        const { status } = turnNamed(chain, turnId);
        if (!['dispatched', 'running', 'suspended'].includes(status)) return undefined;
        if (status === 'dispatched') beginTurn(chain, { agentTurnId: turnId });
        const { agentId, tipId, startId } = turnNamed(chain, turnId);
        const from = tipId ?? startId;
        if (from === null) throw new Error(`The turn ${turnId} has no commit.`);
        const moved = (commit: ContextId): void => adoptCommit(chain, turnId, commit);
        const permitted = servedTo(turnCards(chain, turnNamed(chain, turnId)).profile, 'turn');
        return { from, who: agentId, runId: null, permitted, as: { template: findCommit(chain, from).template, principal: agentId }, moved };
      }),
    end: ({ status, text }) => {
      if (status === 'completed') deliver(chain, turnId, text);
      else finishTurn(chain, { agentTurnId: turnId, status });
    },
  };
}

/** A context that an agent continues as a branch of the person at this machine. */
export const workOfCommit = (chain: ReadChain, commit: ContextId): OwnWork => ({
  start: () => {
    const { id, template } = findCommit(chain, commit);
    const principal = personOf(chain);
    return { from: id, who: principal, runId: null, permitted: undefined, as: { template, principal } };
  },
  end: () => {},
});

/** Ends failed or stopped work, so that its chain is complete. Work that ended elsewhere stays as it is. */
export function endFailed(work: OwnWork, end: Omit<WorkEnd, 'pauses'>): void {
  try {
    work.end({ ...end, pauses: false });
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
  }
}
