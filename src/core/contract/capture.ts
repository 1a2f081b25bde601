import { z } from 'zod';
import { granularity, skip } from './intake.js';
import { contextId, count, name, procedure, runtimes, timestamp } from './scalars.js';

const path = z.string().min(1).max(4_096).describe('The path of a file or folder.');

/** A transcript that is followed, and how far it was read. */
export const capturedFile = z.object({
  path: z.string(),
  bytes: count,
  /** Bytes that are not stored yet: an open turn, or bookkeeping after the last one. */
  pending: count,
  /** True while a turn is open. */
  open: z.boolean(),
  changedAt: timestamp,
  /** The working directory of the session, as the file names it. */
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
  /** What is followed. A place that does not exist yet is followed as soon as it exists. */
  places: z.array(z.object({ path: z.string(), agent: z.string().optional(), there: z.boolean() })),
  /** The files that changed, latest first, at most 50. */
  files: z.array(capturedFile),
  checkpoints: count,
  last: z.object({ at: timestamp, path: z.string(), commit: contextId.nullable() }).nullable(),
  /** What could not be read, latest last. Everything else continues. */
  problems: z.array(skip),
});
export type CaptureStatus = z.output<typeof captureStatus>;

const remember = z.boolean().optional().describe('Remember the choice for windows that open the project later.');

const signed = {
  principal: name.optional().describe('Who works. The default is the session of the agent.'),
  ticketId: name.optional().describe('The ticket that is worked on.'),
  machine: name.optional().describe('The machine of the session. The default is this one.'),
};

export const captureContract = {
  watch: procedure(
    'Follows transcripts: a finished turn becomes a commit within two seconds. Without paths, it follows the folders of the agents on this machine from now on. Named files and folders are read first. It replaces what was followed before, and continues until `capture.stop` or until the engine ends.',
  )
    .input(
      z.strictObject({
        paths: z.array(path).min(1).max(1_000).optional().describe('Files and folders to follow. The default is the folders of the agents.'),
        agents: z.array(z.enum(runtimes)).min(1).max(20).optional().describe('The agents to follow. The default is those on this machine.'),
        from: z.enum(['beginning', 'now']).optional().describe('Whether to read existing content first.'),
        cwd: path.optional().describe('Only sessions in this working directory or below it.'),
        granularity: granularity.optional(),
        ...signed,
        remember,
      }),
    )
    .output(captureStatus),
  status: procedure('Returns what is followed, and how far each file was read.').input(z.strictObject({})).output(captureStatus),
  stop: procedure('Stops following.')
    .input(
      z.strictObject({
        end: z.boolean().optional().describe('The agents have ended: store the rest of the changed files as the end of their sessions.'),
        remember,
      }),
    )
    .output(captureStatus),
  checkpoint: procedure('Reads the new part of one transcript now, as a hook does.')
    .input(
      z.strictObject({
        path,
        what: z
          .enum(['settled', 'resting', 'all', 'end', 'compaction', 'now'])
          .optional()
          .describe(
            'What to store: finished turns (`settled`), also one that seems finished (`resting`), everything (`all`), everything as the end of the session (`end`), the state before a compaction (`compaction`), or a turn in progress up to here (`now`).',
          ),
        granularity: granularity.optional(),
        ...signed,
      }),
    )
    .output(
      z.object({
        commits: count,
        entries: count,
        tip: contextId.optional(),
        format: name.optional(),
        bytes: count,
        pending: count,
        open: z.boolean(),
        skipped: z.array(skip),
      }),
    ),
};
