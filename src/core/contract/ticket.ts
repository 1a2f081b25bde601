import { oc } from '@orpc/contract';
import { z } from 'zod';
import { commit } from './context.js';
import { timestamp } from './scalars.js';

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

export const ticketVersion = z.object({
  at: timestamp,
  by: z.string().nullable(),
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })),
  reason: z.string().optional(),
  contextId: z.string().nullable(),
  contextFound: z.enum(['given', 'resolved']).nullable(),
});
export type TicketVersion = z.output<typeof ticketVersion>;

export const ticket = z.object({
  ticketId,
  title: z.string(),
  body: z.string(),
  type: z.string(),
  status: z.enum(ticketStatuses),
  assignee: z.string().nullable(),
  reviewers: z.array(z.object({ name: z.string(), verdict: z.enum(verdicts) })),
  labels: z.array(z.string()),
  parent: ticketId.nullable(),
  children: z.array(ticketId),
  dependsOn: z.array(ticketId),
  contextId: z.string().nullable(),
  contextFound: z.enum(['given', 'resolved']).nullable(),
  resolution: z.string().nullable(),
  threadId: z.string().nullable(),
  /** Open, and nothing that it depends on is. */
  ready: z.boolean(),
  createdAt: timestamp,
  versions: z.array(ticketVersion),
});
export type Ticket = z.output<typeof ticket>;

/** A move of a ticket asks somebody to start: a record to act on, nothing that runs. */
export const ticketEvent = z.object({
  event: z.number().int(),
  at: timestamp,
  ticketId,
  who: z.string(),
  task: z.enum(['work', 'review', 'address_findings', 'verify_resolution']),
  contextId: z.string().nullable(),
});
export type TicketEvent = z.output<typeof ticketEvent>;

const fields = {
  title: text(1_000),
  body: z.string().max(1_000_000).optional(),
  type: text(100),
  labels: z.array(text(200)).max(200).optional(),
  parent: ticketId.optional(),
  dependsOn: z.array(ticketId).max(1_000).optional(),
};

export const ticketContract = {
  create: oc.input(z.strictObject({ ...fields, assignee: text(400).optional(), contextId: contextRef.optional(), by })).output(ticket),
  update: oc
    .input(
      z.strictObject({ ticketId, ...z.object(fields).partial().shape, resolution: text(100_000).optional(), contextId: contextRef.optional(), by }),
    )
    .output(ticket),
  get: oc.input(z.object({ ticketId })).output(ticket),
  list: oc
    .input(
      z.object({
        status: z.enum(ticketStatuses).optional(),
        type: z.string().optional(),
        parent: ticketId.optional(),
        ready: z.boolean().optional(),
      }),
    )
    .output(z.array(ticket)),
  transition: oc
    .input(
      z.strictObject({
        ticketId,
        to: z.enum(ticketStatuses),
        assignee: text(400).optional(),
        reviewers: z.array(text(400)).max(100).optional(),
        resolution: text(100_000).optional(),
        reason: text(10_000).optional(),
        contextId: contextRef.optional(),
        by,
      }),
    )
    .output(ticket),
  verdict: oc.input(z.strictObject({ ticketId, reviewer: text(400), verdict: z.enum(verdicts), contextId: contextRef.optional() })).output(ticket),
  /** A message in the ticket's thread, which resumes from the ticket's context on a branch of its own. */
  discuss: oc
    .input(z.strictObject({ ticketId, text: text(1_000_000), principal: text(400).optional() }))
    .output(z.object({ threadId: z.string(), commit })),
  /** What moves asked for, oldest first, after an event that is known already. */
  events: oc.input(z.object({ after: z.number().int().optional() })).output(z.array(ticketEvent)),
  /** Tickets out of GitHub's JSON of issues and pull request reviews, or a Markdown task list; known ones are left as they are. */
  import: oc
    .input(z.object({ text: z.string().max(50_000_000), kind: z.enum(['github', 'markdown']).optional() }))
    .output(z.object({ created: z.array(ticketId), known: z.number().int() })),
};
