import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { commit } from './context.js';
import { roles } from './kinds.js';
import { contextId, count, name, timestamp } from './scalars.js';
import { replyPart } from './turn.js';

export const ticketStatuses = ['open', 'in_progress', 'review', 'blocked', 'deferred', 'closed'] as const;
export const verdicts = ['pending', 'approved', 'changes_requested', 'commented'] as const;
export type TicketStatus = (typeof ticketStatuses)[number];
export type Verdict = (typeof verdicts)[number];

const ticketId = z.string().regex(/^tkt-[0-9a-f]{1,64}$/, 'a ticket id is tkt- and hex digits');
const text = (most: number) => z.string().min(1).max(most);
/** Opaque to tickets: any text is kept as it comes. */
const contextRef = z.string().max(400);
/** Who does this; by it the context of the moment is found where none is given. */
const by = text(400).optional();
const reviewer = z.object({ name: z.string(), verdict: z.enum(verdicts) });
const status = z.enum(ticketStatuses);
const found = z.enum(['given', 'resolved']).nullable();
/** The context is a commit of this project. */
const known = z.boolean();

/** What a move does with the one who holds the ticket: stays, goes, or must be there. */
export type Holder = 'kept' | 'cleared' | 'needed';

/** K1: every move that there is. What is not in the table is a conflict. */
export const ticketMoves: Readonly<Record<TicketStatus, Partial<Record<TicketStatus, Holder>>>> = {
  open: { in_progress: 'needed', review: 'kept', blocked: 'kept', deferred: 'kept', closed: 'kept' },
  in_progress: { open: 'cleared', review: 'kept', blocked: 'kept', closed: 'kept' },
  review: { in_progress: 'kept', blocked: 'kept', open: 'cleared', closed: 'cleared' },
  blocked: { open: 'kept', in_progress: 'needed', review: 'kept', closed: 'kept' },
  deferred: { open: 'kept', in_progress: 'needed', review: 'kept', closed: 'kept' },
  closed: { open: 'kept' },
};

export const ticketVersion = z.object({
  at: timestamp,
  by: z.string().nullable(),
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })),
  reason: z.string().optional(),
  contextId: z.string().nullable(),
  contextFound: found,
  known,
});
export type TicketVersion = z.output<typeof ticketVersion>;

const facts = {
  ticketId,
  title: z.string(),
  type: z.string(),
  status,
  assignee: z.string().nullable(),
  reviewers: z.array(reviewer),
  labels: z.array(z.string()),
  parent: ticketId.nullable(),
  contextId: z.string().nullable(),
  contextFound: found,
  threadId: z.string().nullable(),
  /** Open, and nothing that it depends on is. */
  ready: z.boolean(),
  findings: z.object({ open: count, total: count }),
  createdAt: timestamp,
};

export const ticket = z.object({
  ...facts,
  body: z.string(),
  children: z.array(ticketId),
  dependsOn: z.array(ticketId),
  resolution: z.string().nullable(),
  versions: z.array(ticketVersion),
});
export type Ticket = z.output<typeof ticket>;

/** A ticket as a list shows it. */
export const ticketRow = z.object({
  ...facts,
  /** How the resolution begins. */
  resolved: z.string().nullable(),
  updatedAt: timestamp,
});
export type TicketRow = z.output<typeof ticketRow>;

export const ticketTasks = ['work', 'review', 'address_findings', 'decide', 'answer', 'verify_resolution'] as const;
export type TicketTask = (typeof ticketTasks)[number];

/** What became of a start that was asked for. `overtaken`: the ticket went on without it. */
export const eventStates = ['waiting', 'taken', 'done', 'dismissed', 'overtaken'] as const;
export type EventState = (typeof eventStates)[number];

/** A move of a ticket asks somebody to start: a record to act on, nothing that runs. */
export const ticketEvent = z.object({
  event: z.number().int(),
  at: timestamp,
  ticketId,
  title: z.string(),
  /** Null: anybody. */
  who: z.string().nullable(),
  task: z.enum(ticketTasks),
  /** From here: while it waits, as `startFrom` says it now; afterwards, as it was asked for. Null is a fresh start. */
  contextId: z.string().nullable(),
  known,
  /** What asked for it: a move, or null where words did. */
  move: z.object({ from: status, to: status }).nullable(),
  by: z.string().nullable(),
  state: z.enum(eventStates),
  /** Who took, did or dismissed it. */
  answeredBy: z.string().nullable(),
  answeredAt: timestamp.nullable(),
});
export type TicketEvent = z.output<typeof ticketEvent>;

/** Why an understanding is one to begin from. */
export const startReasons = ['earlier_review', 'own_work', 'handed_over', 'finding', 'discussion', 'ticket'] as const;
export type StartReason = (typeof startReasons)[number];

export const ticketStart = z.object({
  ticketId,
  who: z.string(),
  task: z.enum(ticketTasks).nullable(),
  /** From here; null is a fresh start. */
  contextId: z.string().nullable(),
  reason: z.enum([...startReasons, 'fresh']),
  /** The kind of agent that had this understanding, where the commit is known here. */
  template: z.string().nullable(),
  /** Every understanding of this ticket that one could begin from, the newest first of its kind. */
  choices: z.array(
    z.object({
      contextId: z.string(),
      reason: z.enum(startReasons),
      at: timestamp,
      by: z.string().nullable(),
      ticketId,
      known,
    }),
  ),
});
export type TicketStart = z.output<typeof ticketStart>;

export const threadMessage = z.object({
  commit: contextId,
  parent: contextId.nullable(),
  by: z.string().nullable(),
  role: z.enum(roles),
  text: z.string(),
  /** Names of the tools that were called on the way. */
  tools: z.array(z.string()),
  at: timestamp,
  /** On the way to the tip; others are replies that were not gone on with. */
  current: z.boolean(),
});
export const ticketThread = z.object({
  threadId: z.string().nullable(),
  /** The understanding that the thread begins from; null where none is known here. */
  from: contextId.nullable(),
  tip: contextId.nullable(),
  /** Who answers in it: who made the finding, else who holds the ticket. */
  answers: z.string().nullable(),
  messages: z.array(threadMessage),
});
export type TicketThread = z.output<typeof ticketThread>;

const fields = {
  title: text(1_000),
  body: z.string().max(1_000_000).optional(),
  type: text(100),
  labels: z.array(text(200)).max(200).optional(),
  parent: ticketId.optional(),
  dependsOn: z.array(ticketId).max(1_000).optional(),
};
const occasion = { contextId: contextRef.optional(), by };
/** What every change of a ticket that is there may say. */
const change = {
  ticketId,
  assignee: text(400).optional(),
  reviewers: z.array(text(400)).max(100).optional(),
  resolution: text(100_000).optional(),
  reason: text(10_000).optional(),
  ...occasion,
};

export const ticketContract = {
  create: oc.input(z.strictObject({ ...fields, assignee: text(400).optional(), ...occasion })).output(ticket),
  /** `assignee` hands the ticket over; `reviewers` changes who reviews while it is in review, and keeps the verdicts of those who stay. */
  update: oc.input(z.strictObject({ ...z.object(fields).partial().shape, ...change })).output(ticket),
  get: oc.input(z.object({ ticketId })).output(ticket),
  list: oc
    .input(
      z.object({
        status: status.optional(),
        type: z.string().optional(),
        parent: ticketId.optional(),
        ready: z.boolean().optional(),
        offset: count.optional(),
        limit: count.max(5_000).optional(),
      }),
    )
    .output(z.array(ticket)),
  /** Tickets as a list or board shows them, in pages; `counts` are of those that fit but for the status. Those below a ticket come as they were made, others by their last change. */
  overview: oc
    .input(
      z.object({
        status: status.optional(),
        type: z.string().optional(),
        assignee: z.string().optional(),
        label: z.string().optional(),
        parent: ticketId.optional(),
        ids: z.array(ticketId).max(1_000).optional(),
        ready: z.boolean().optional(),
        text: z.string().optional(),
        offset: count.optional(),
        limit: count.max(5_000).optional(),
      }),
    )
    .output(
      z.object({
        total: count,
        rows: z.array(ticketRow),
        counts: z.record(status, count),
      }),
    ),
  /** What there is to choose from, of all tickets: how many, how many starts wait, and the words and names that they have. */
  facets: oc.input(z.object({})).output(
    z.object({
      total: count,
      waiting: count,
      types: z.array(z.string()),
      assignees: z.array(z.string()),
      labels: z.array(z.string()),
      people: z.array(z.string()),
    }),
  ),
  /** To another status (K1). `assignee` says who does it, `reviewers` who reviews, `resolution` how a finding was resolved, `reason` why it is closed nevertheless. */
  transition: oc.input(z.strictObject({ ...change, to: status })).output(ticket),
  verdict: oc
    .input(
      z.strictObject({ ticketId, reviewer: text(400), verdict: z.enum(verdicts), reason: text(10_000).optional(), contextId: contextRef.optional() }),
    )
    .output(ticket),
  /** A message in the ticket's thread, which resumes from the ticket's context on a branch of its own. */
  discuss: oc
    .input(z.strictObject({ ticketId, text: text(1_000_000), principal: text(400).optional() }))
    .output(z.object({ threadId: z.string(), commit })),
  /**
   * Has the last message of the thread answered, by whoever understood the ticket then: streams the reply, which is a
   * commit on the thread's branch. `recorded` answers only what was asked before from the same context (`from` says where);
   * where nothing was, it says so and `commit` is null.
   */
  answer: oc
    .input(z.strictObject({ ticketId, provider: name, model: name.optional() }))
    .output(eventIterator(replyPart, z.object({ threadId: z.string(), commit: contextId.nullable(), from: contextId.nullable() }))),
  /** The discussion of a ticket, message by message. */
  thread: oc.input(z.object({ ticketId })).output(ticketThread),
  /** From which understanding somebody should start on a ticket: a reviewer fresh or from their earlier review, an author from their work. */
  startFrom: oc.input(z.object({ ticketId, who: text(400) })).output(ticketStart),
  /** Which tickets were written with, or discussed in, which of some commits. */
  ofContexts: oc
    .input(z.object({ ids: z.array(contextId).max(1_000) }))
    .output(
      z.array(z.object({ contextId, ticketId, title: z.string(), type: z.string(), status, how: z.enum(['written', 'discussed']), at: timestamp })),
    ),
  /** What moves asked for, oldest first unless told otherwise, after an event that is known already; of one ticket, one person, some states. */
  events: oc
    .input(
      z.object({
        after: z.number().int().optional(),
        ticketId: ticketId.optional(),
        who: z.string().optional(),
        state: z.union([z.enum(eventStates), z.array(z.enum(eventStates)).min(1)]).optional(),
        newestFirst: z.boolean().optional(),
        limit: count.max(5_000).optional(),
      }),
    )
    .output(z.array(ticketEvent)),
  /** Says of an event that somebody took it, did it or lets it be. Whoever takes it first has it. */
  acknowledge: oc.input(z.strictObject({ event: z.number().int(), by: text(400), as: z.enum(['taken', 'done', 'dismissed']) })).output(ticketEvent),
  /**
   * Tickets out of GitHub's JSON of issues and pull request reviews, or a Markdown task list, which says no times: `at` is when
   * it was written, else now. Known ones are left as they are.
   */
  import: oc
    .input(z.object({ text: z.string().max(50_000_000), kind: z.enum(['github', 'markdown']).optional(), at: timestamp.optional() }))
    .output(z.object({ created: z.array(ticketId), known: count })),
};
