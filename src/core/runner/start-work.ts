import { type ContextId, conflict, decodeText, toTimestamp } from '../base/index.js';
import { checkpoint, findCommit, fork, type ReadChain, type WriteChain } from '../chain/index.js';
import { untrusted } from '../composer/index.js';
import type { TicketEvent, TicketTask } from '../contract/index.js';
import { requireFormat } from '../formats/index.js';
import { acknowledge, allowStart, eventNamed, events, findingText, receivedStart, ticketOf } from '../tickets/index.js';
import { type ContextCall, composeContext } from '../turns/index.js';
import { servedTo } from './agent-tools.js';
import { converse } from './converse.js';
import { noteTip, tipOfWork } from './jobs.js';
import type { Performing } from './parts.js';
import { openFormat } from './report-log.js';
import { jobTitle, modelOf, quiet, type StartWork, type WorkKind } from './work-kind.js';

/** The key of the work of a start of a ticket. */
export const startKey = (no: number): string => `event:${no}`;

const isOpen = ({ state }: TicketEvent): boolean => state === 'waiting' || state === 'taken';

/** A start that waits or is taken. `does` says what it was asked for. @throws NOT_FOUND; CONFLICT for a start that is done, dismissed or obsolete */
export function openStart(chain: ReadChain, no: number, does: string): TicketEvent {
  const event = eventNamed(chain, no);
  if (isOpen(event)) return event;
  const { state } = event;
  throw conflict(`The start ${no} is ${state}: only a waiting start ${does}.`, { id: String(no), state });
}

export const startWork: WorkKind<StartWork> = {
  ...quiet,
  target: (chain, { eventId }, byRule) => {
    const event = openStart(chain, eventId, 'can be carried out');
    const { ticketId, task, title } = event;
    const who = event.who ?? byRule ?? null;
    const named = jobTitle(`${task.replaceAll('_', ' ')}: ${title}`);
    return { holds: `person:${who ?? ticketId}`, work: startKey(eventId), who, ticketId, title: named };
  },
  open: (chain, { for: of, who: named }) =>
    'ticketType' in of
      ? events(chain, { state: ['waiting', 'taken'] })
          .filter(({ who, ticketId }) => (named === undefined || who === null || who === named) && ticketOf(chain, ticketId).type === of.ticketType)
          .map(({ event }) => ({ eventId: event }))
      : [],
  source: (chain, { eventId }) => {
    const { by, at } = eventNamed(chain, eventId);
    return by === null ? undefined : { who: by, at: Date.parse(at) };
  },
  received: (chain, { eventId }) => receivedStart(chain, eventId),
  allow: (chain, { eventId }) => allowStart(chain, eventId),
  own: (chain, work, { eventId }) => ({
    continues: true,
    start: () => chain.artifacts.transaction(() => beginStart(chain, work, eventId)),
    end: ({ status }) => {
      const event = eventNamed(chain, eventId);
      if (status === 'completed' && isOpen(event)) acknowledge(chain, { event: eventId, by: whoStarts(event, work.who), as: 'done' });
    },
  }),
  perform: (parts, work, what, provider) =>
    converse(parts, work, startWork.own(parts.chain, work, what), {
      provider: modelOf(provider),
      profile: undefined,
      offeredFor: 'ticket',
      compose: (commit, { ticketId, threadId }) =>
        composeContext(parts.chain, findCommit(parts.chain, commit), {
          ...startCall(parts.chain, ticketId, threadId !== undefined),
          sharing: work.enableShareContext,
        }),
    }),
};

function beginStart(chain: WriteChain, { jobId, target, who: named }: Performing, no: number) {
  // Other work, such as a verdict that closes the ticket, can settle a start while its job begins.
  const event = eventNamed(chain, no);
  if (!isOpen(event)) return undefined;
  const who = whoStarts(event, named);
  acknowledge(chain, { event: no, by: who, as: 'taken' });
  const from = tipOfWork(chain, target.work) ?? storeBeginning(chain, event, who);
  noteTip(chain, jobId, from);
  const { threadId, template } = findCommit(chain, from);
  const isAnswer = event.task === 'answer' && threadId !== null;
  const as = { template, principal: who, ticketId: event.ticketId, ...(isAnswer && { threadId }) };
  return { from, who, runId: null, permitted: servedTo(undefined, 'ticket'), as };
}

/** In whose name a start is carried out. */
export const whoStarts = ({ who }: Pick<TicketEvent, 'who'>, named?: string): string => who ?? named ?? 'stemma';

/** How the calls of a start are composed. `isAnswer`: it answers the thread of its ticket. */
export const startCall = (chain: ReadChain, ticketId: string | undefined, isAnswer: boolean): Pick<ContextCall, 'kind' | 'finding'> =>
  isAnswer && ticketId !== undefined ? { kind: 'answer', finding: findingText(chain, ticketId) } : { kind: 'turn' };

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

function storeBeginning(chain: WriteChain, event: TicketEvent, who: string): ContextId {
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
