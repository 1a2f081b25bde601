import { oc } from '@orpc/contract';
import { z } from 'zod';
import { skip } from './intake.js';
import { contextId, count, name, runtimes, timestamp } from './scalars.js';

const path = z.string().min(1).max(4_096);

/** A transcript that is followed, and how far it was taken in. */
export const capturedFile = z.object({
  path: z.string(),
  bytes: count,
  /** Bytes that were not taken in yet: a turn that goes on, or bookkeeping behind the last one. */
  pending: count,
  /** A turn goes on. */
  open: z.boolean(),
  changedAt: timestamp,
  /** The session's working directory, as the file says it. */
  cwd: z.string().optional(),
  /** Where the session stands, as far as it was taken in. */
  tip: contextId.optional(),
  capturedAt: timestamp.optional(),
});
export type CapturedFile = z.output<typeof capturedFile>;

export const captureStatus = z.object({
  watching: z.boolean(),
  /** The agents of this machine are to be followed whenever a window has the project open: so the person last chose. */
  wanted: z.boolean(),
  since: timestamp.nullable(),
  /** What is followed; a place that is not there yet is followed as soon as it is. */
  places: z.array(z.object({ path: z.string(), agent: z.string().optional(), there: z.boolean() })),
  /** The files that changed, the latest first, at most 50. */
  files: z.array(capturedFile),
  checkpoints: count,
  last: z.object({ at: timestamp, path: z.string(), commit: contextId.nullable() }).nullable(),
  /** What could not be read, the latest last. Everything else goes on. */
  problems: z.array(skip),
});
export type CaptureStatus = z.output<typeof captureStatus>;

/** Windows that open the project from now on do the same. */
const remember = z.boolean().optional();
const granularity = z.enum(['turn_boundary', 'tool_call']);

export const captureContract = {
  /**
   * Follows transcripts of agents: a turn that is over becomes a commit within two seconds. Without paths, the folders of the agents
   * that are on this machine are followed from now on, or of those that are named, there or not; named files and folders are taken
   * in as they stand first. It takes the place of what was followed before, and goes on until `stop` or until the engine ends.
   */
  watch: oc
    .input(
      z.object({
        paths: z.array(path).min(1).max(1_000).optional(),
        agents: z.array(z.enum(runtimes)).min(1).max(20).optional(),
        from: z.enum(['beginning', 'now']).optional(),
        /** Only sessions of this working directory and of those below it. */
        cwd: path.optional(),
        granularity: granularity.optional(),
        remember,
      }),
    )
    .output(captureStatus),
  status: oc.input(z.object({})).output(captureStatus),
  /** `end`: the agents are gone; what is there of the files that changed is taken in, as their sessions' end. */
  stop: oc.input(z.object({ end: z.boolean().optional(), remember })).output(captureStatus),
  /** One look at one transcript, now: what a hook does. */
  checkpoint: oc
    .input(
      z.object({
        path,
        /**
         * As in a status: turns that are over; also one that looks over; whatever is there; and that as the end of the session, or as
         * what stands before a compaction.
         */
        what: z.enum(['settled', 'resting', 'all', 'end', 'compaction']).optional(),
        granularity: granularity.optional(),
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
