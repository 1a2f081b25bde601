import { eventIterator } from '@orpc/contract';
import { commit } from './context.js';
import { eventStates, roles, type TicketStatus, ticketStatuses, verdicts } from './kinds.js';
import { previewAs, previewOf } from './request.js';
import { contextId, count, damaged, flag, line, list, matching, name, procedure, received, text, timestamp } from './scalars.js';
import { shownCall } from './space.js';
import { replyPart } from './turn.js';
import * as z from './z.js';

const ticketId = matching(/^tkt-[0-9a-f]{1,64}$/, 'a ticket id is tkt- and hex digits', 68).describe('The id of a ticket: `tkt-` and hex digits.');
/** Any text, because a ticket can name a context that this project does not contain. */
const contextRef = z.string().max(400).describe('The context of this change. The default is the latest commit of `by`.');
const by = text(400).optional().describe('The person or agent that makes the change.');
const reviewer = z.object({ name: z.string(), verdict: z.enum(verdicts) });
const status = z.enum(ticketStatuses);
const found = z.enum(['given', 'resolved']).nullable();
/** True if the context is a commit of this project. */
const known = z.boolean();

/** The effect of a move on the assignee: the move keeps, clears or requires an assignee. */
export type AssigneeEffect = 'kept' | 'cleared' | 'needed';

/** Every allowed move (rule K1). Any other is a CONFLICT. */
export const ticketMoves: Readonly<Record<TicketStatus, Partial<Record<TicketStatus, AssigneeEffect>>>> = {
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
  /** Ready: open, with no open dependencies. */
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
  damaged,
});
export type Ticket = z.output<typeof ticket>;

/** A ticket as a list shows it. */
export const ticketRow = z.object({
  ...facts,
  /** The beginning of the resolution. */
  resolved: z.string().nullable(),
  updatedAt: timestamp,
  damaged,
});
export type TicketRow = z.output<typeof ticketRow>;

export const ticketTasks = ['work', 'review', 'address_findings', 'decide', 'answer', 'verify_resolution'] as const;
export type TicketTask = (typeof ticketTasks)[number];

/** A request to start on a ticket, made by a move. It is only a record: nothing starts because of it alone. */
export const ticketEvent = z.object({
  event: z.number().int(),
  at: timestamp,
  ticketId,
  title: z.string(),
  /** Null means anybody. */
  who: z.string().nullable(),
  task: z.enum(ticketTasks),
  /**
   * The context to start from: the current answer of `ticket.startFrom` while the event waits, afterwards the context at the request. Null is a fresh
   * start.
   */
  contextId: z.string().nullable(),
  known,
  /** The move that requested the start; null if a message requested it. */
  move: z.object({ from: status, to: status }).nullable(),
  by: z.string().nullable(),
  state: z.enum(eventStates),
  /** Who took, did or dismissed the request. */
  answeredBy: z.string().nullable(),
  answeredAt: timestamp.nullable(),
  /** Who sent it, if another machine requested the start. */
  received: received.optional(),
});
export type TicketEvent = z.output<typeof ticketEvent>;

/** Why `ticket.startFrom` offers a context. */
export const startReasons = ['earlier_review', 'own_work', 'handed_over', 'finding', 'discussion', 'ticket'] as const;
export type StartReason = (typeof startReasons)[number];

export const ticketStart = z.object({
  ticketId,
  who: z.string(),
  task: z.enum(ticketTasks).nullable(),
  /** The context to start from; null is a fresh start. */
  contextId: z.string().nullable(),
  reason: z.enum([...startReasons, 'fresh']),
  /** The template of the agent that had this context, if the project contains the commit. */
  template: z.string().nullable(),
  /** Every context of this ticket that is offered; within each reason, newest first. */
  choices: z.array(
    z.object({
      contextId: z.string(),
      reason: z.enum(startReasons),
      at: timestamp,
      by: z.string().nullable(),
      ticketId,
      known,
      damaged,
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
  /** The names of the tools that were called for this message. */
  tools: z.array(z.string()),
  at: timestamp,
  /** True if the message is on the way to the tip. Other replies were not continued. */
  current: z.boolean(),
});
export const ticketThread = z.object({
  threadId: z.string().nullable(),
  /** The context that the thread starts from; null if the project does not contain it. */
  from: contextId.nullable(),
  tip: contextId.nullable(),
  /** Who answers in the thread: the author of the finding, or the assignee. */
  answers: z.string().nullable(),
  messages: z.array(threadMessage),
});
export type TicketThread = z.output<typeof ticketThread>;

const fields = {
  title: text(1_000).describe('The title.'),
  body: z.string().max(1_000_000).optional().describe('The description, in Markdown.'),
  type: text(100).describe('The type: task, bug, feature, question, review, review_finding or any other label.'),
  labels: list(text(200), 200).optional().describe('Labels.'),
  parent: ticketId.optional().describe('The ticket that this ticket belongs to. A finding requires it.'),
  dependsOn: list(ticketId, 1_000).optional().describe('Tickets that must be closed first.'),
};
const assignee = text(400).optional().describe('Who works on it.');
const occasion = { contextId: contextRef.optional(), by };
/** The fields that every change of an existing ticket can contain. */
const change = {
  ticketId,
  assignee,
  reviewers: list(text(400), 100).optional().describe('Who reviews it.'),
  resolution: text(100_000).optional().describe('How it was resolved. Closing a finding requires it.'),
  reason: text(10_000).optional().describe('The reason, such as why the ticket is closed with open findings.'),
  ...occasion,
};

const limit = count.max(5_000).optional().describe('The most to return.');
const filter = {
  status: status.optional().describe('Only tickets with this status.'),
  type: line.optional().describe('Only tickets of this type.'),
  parent: ticketId.optional().describe('Only subtickets of this ticket.'),
  ready: flag('True for ready tickets only (open, with no open dependencies), false for all other tickets.'),
  offset: count.optional().describe('How many to skip.'),
  limit,
};

export const ticketContract = {
  create: procedure('Creates a ticket. It records the context in which it was written.', { ...fields, assignee, ...occasion }).returns(ticket),
  update: procedure(
    'Changes a ticket and records a version. `assignee` hands it over; `reviewers` changes the reviewers while the ticket is in review; reviewers who stay keep their verdicts.',
    { ...z.object(fields).partial().shape, ...change },
  ).returns(ticket),
  get: procedure('Returns a ticket with its versions.', { ticketId }).returns(ticket),
  list: procedure('Lists tickets with all their fields.', filter).returns(z.array(ticket)),
  overview: procedure(
    'Lists tickets without their descriptions and versions, in pages. Subtickets of a ticket are in order of creation, other tickets by their last change. `counts` ignores the status filter.',
    {
      ...filter,
      assignee: line.optional().describe('Only tickets of this assignee.'),
      label: line.optional().describe('Only tickets with this label.'),
      ids: list(ticketId, 1_000).optional().describe('Only these tickets.'),
      text: line.optional().describe('Only tickets that contain this text.'),
    },
  ).returns({ total: count, rows: z.array(ticketRow), counts: z.record(status, count) }),
  facets: procedure('Returns the values to filter by, from all tickets: types, assignees, labels and people, with counts.').returns({
    total: count,
    waiting: count,
    types: z.array(z.string()),
    assignees: z.array(z.string()),
    labels: z.array(z.string()),
    people: z.array(z.string()),
  }),
  transition: procedure('Moves a ticket to another status and records a version.', { ...change, to: status.describe('The new status.') }).returns(
    ticket,
  ),
  verdict: procedure("Records a reviewer's verdict on a ticket in review. A verdict alone never moves the ticket.", {
    ticketId,
    reviewer: text(400).describe('The reviewer.'),
    verdict: z.enum(verdicts).describe('The verdict. Nobody can set `pending`.'),
    reason: text(10_000).optional().describe('Why.'),
    contextId: contextRef.optional(),
  }).returns(ticket),
  discuss: procedure("Adds a message to the ticket's thread, which starts from the ticket's context on its own branch.", {
    ticketId,
    text: text(1_000_000).describe('The message.'),
    principal: text(400).optional().describe('Who writes it.'),
  }).returns({ threadId: z.string(), commit }),
  answer: procedure(
    "Lets the agent that answers in the thread (see `ticket.thread`) reply to its last message. Streams the reply, which becomes a commit on the thread's branch. `recorded` answers only a question that the recording contains for the same context; otherwise `commit` is null.",
    {
      ticketId,
      provider: name.describe('The provider that answers, as `turn.providers` names it.'),
      model: name.optional().describe('The model of the provider.'),
    },
  ).returns(eventIterator(replyPart, z.object({ threadId: z.string(), commit: contextId.nullable(), from: contextId.nullable() }))),
  thread: procedure('Returns the discussion of a ticket, message by message.', { ticketId }).returns(ticketThread),
  startFrom: procedure(
    'Returns the context from which a person or agent should start on a ticket: a reviewer starts fresh or from an earlier review, an author from their own work.',
    { ticketId, who: text(400).describe('Who starts.') },
  ).returns(ticketStart),
  ofContexts: procedure('Lists the tickets that were written or discussed in these commits.', {
    ids: list(contextId, 1_000).describe('The commits.'),
  }).returns(
    z.array(z.object({ contextId, ticketId, title: z.string(), type: z.string(), status, how: z.enum(['written', 'discussed']), at: timestamp })),
  ),
  events: procedure('Lists the starts that moves of tickets requested, oldest first by default.', {
    after: z.number().int().optional().describe('Only events after this one.'),
    ticketId: ticketId.optional().describe('Only events of this ticket.'),
    who: line.optional().describe('Only events for this person or agent.'),
    state: z
      .union([z.enum(eventStates), list(z.enum(eventStates)).min(1)])
      .optional()
      .describe('Only events in this state, or in one of these states.'),
    newestFirst: flag('Newest first.'),
    limit,
  }).returns(z.array(ticketEvent)),
  preview: procedure(
    'Returns the next model call of a requested start: the first one, or the one after the work that its last job did. Starts nothing.',
    { event: z.number().int().describe('The number of the start, as `ticket.events` returns it.'), ...previewOf, ...previewAs },
  ).returns(shownCall),
  acknowledge: procedure('Records that somebody took, did or dismissed an event. An event can be taken only once.', {
    event: z.number().int().describe('The number of the event.'),
    by: text(400).describe('Who acknowledges it.'),
    as: z.enum(['taken', 'done', 'dismissed']).describe('The new state of the event.'),
  }).returns(ticketEvent),
  import: procedure(
    "Imports tickets from GitHub's JSON of issues and pull request reviews, or from a Markdown task list. Known tickets stay as they are.",
    {
      text: z.string().max(50_000_000).describe('The JSON or Markdown.'),
      kind: z.enum(['github', 'markdown']).optional().describe('What the text is. The default is recognized from the text.'),
      at: timestamp.optional().describe('When a Markdown list was written, because the list does not contain its date. The default is now.'),
    },
  ).returns({ created: z.array(ticketId), known: count }),
};
