import { granularity, skip } from './intake.js';
import { runtimes } from './kinds.js';
import { contextId, count, flag, list, name, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

const path = z.string().min(1).max(4_096).describe('The path of a file or folder.');

/** A transcript that is followed, and how far it was read. */
export const capturedFile = z.object({
  path: z.string(),
  bytes: count,
  /** Bytes that are not stored yet: an open turn, or records after the last turn that belong to no turn. */
  pending: count,
  /** True while a turn is open. */
  open: z.boolean(),
  changedAt: timestamp,
  /** The working directory of the session, as the transcript records it. */
  cwd: z.string().optional(),
  /** The latest commit of the session. */
  tip: contextId.optional(),
  capturedAt: timestamp.optional(),
});
export type CapturedFile = z.output<typeof capturedFile>;

export const captureStatus = z.object({
  watching: z.boolean(),
  /** True if the person chose to follow the agents of this machine whenever a window has the project open. */
  wanted: z.boolean(),
  since: timestamp.nullable(),
  /** The files and folders to follow. One that does not exist yet is followed as soon as it exists. */
  places: z.array(z.object({ path: z.string(), agent: z.string().optional(), there: z.boolean() })),
  /** The files that changed, latest first, at most 50. */
  files: z.array(capturedFile),
  checkpoints: count,
  last: z.object({ at: timestamp, path: z.string(), commit: contextId.nullable() }).nullable(),
  /** Files that could not be read, most recent last. The other files are still followed. */
  problems: z.array(skip),
});
export type CaptureStatus = z.output<typeof captureStatus>;

const remember = flag('Remember the choice for windows that open the project later.');

const signed = {
  principal: name.optional().describe("The person or agent that the commits belong to. The default is the agent's session."),
  ticketId: name.optional().describe('The ticket that the session works on.'),
  machine: name.optional().describe('The machine that the session ran on. The default is this machine.'),
};

/** The significant events at which a checkpoint can be taken. A compaction always makes one. */
export const checkpointEvents = ['compaction', 'error', 'permission', 'model_change'] as const;
export type CheckpointEvent = (typeof checkpointEvents)[number];

const checkpointing = z.strictObject({
  at: z
    .enum(['turn', 'assistant', 'turns'])
    .describe(
      '`turn`: at the end of each turn. `assistant`: also at the end of each message of the assistant, before its tools run. `turns`: every `every` turns.',
    ),
  every: z.int().min(1).max(1_000).optional().describe('The number of turns of a checkpoint, with `turns`. The default is 5.'),
  events: z
    .union([z.boolean(), list(z.enum(checkpointEvents), checkpointEvents.length)])
    .optional()
    .describe('Also at these events, even within a turn; `true` means all of them.'),
});
export type Checkpointing = z.output<typeof checkpointing>;

export const captureContract = {
  watch: procedure(
    'Follows transcripts: a finished turn becomes a commit within two seconds. Without `paths`, follows the folders of the agents on this machine and stores only new turns. With `paths`, reads the existing content first. Replaces an earlier `capture.start`, and continues until `capture.stop` or until the engine ends.',
    {
      paths: list(path, 1_000).min(1).optional().describe('Files and folders to follow. The default is the folders of the agents.'),
      agents: list(z.enum(runtimes), 20).min(1).optional().describe('The agents to follow. The default is every agent on this machine.'),
      from: z.enum(['beginning', 'now']).optional().describe('Whether to read existing content first.'),
      cwd: path.optional().describe('Only sessions in this working directory or below it.'),
      granularity: granularity.optional(),
      checkpoints: checkpointing.optional().describe('When a checkpoint is taken. Replaces `granularity`.'),
      ...signed,
      remember,
    },
  ).returns(captureStatus),
  status: procedure('Returns the followed files and folders, and how far each file was read.').returns(captureStatus),
  stop: procedure('Stops following.', {
    end: flag('True if the agents have ended: stores the rest of the changed files as the end of their sessions.'),
    remember,
  }).returns(captureStatus),
  checkpoint: procedure('Reads the new part of one transcript now, as a hook does.', {
    path,
    what: z
      .enum(['settled', 'resting', 'all', 'end', 'compaction', 'now'])
      .optional()
      .describe(
        'What to store: finished turns (`settled`), also a turn that seems finished (`resting`), everything (`all`), everything as the end of the session (`end`), the state before a compaction (`compaction`), or the turn in progress up to now (`now`).',
      ),
    granularity: granularity.optional(),
    ...signed,
  }).returns({
    commits: count,
    entries: count,
    tip: contextId.optional(),
    format: name.optional(),
    bytes: count,
    pending: count,
    open: z.boolean(),
    skipped: z.array(skip),
  }),
};
