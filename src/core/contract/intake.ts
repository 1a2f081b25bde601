import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { artifactRef, contextId, count, formatName, runtimes, timestamp } from './scalars.js';

const paths = z.array(z.string().min(1).max(4_096)).min(1).max(100_000);

export const skip = z.object({ path: z.string(), line: count, reason: z.string() });
export type Skip = z.output<typeof skip>;

export const importResult = z.object({
  sessions: count,
  commits: count,
  entries: count,
  bytes: count,
  /** What was not understood: each line with its reason. Nothing of it is lost; it is kept with its source. */
  skipped: z.array(skip),
  /** What was read in a way that a person should know of: a root joined by position, a cycle cut. */
  notes: z.array(skip),
  tips: z.array(contextId),
  ms: count,
});
export type ImportResult = z.output<typeof importResult>;

export const importProgress = z.object({
  phase: z.enum(['finding', 'reading', 'storing', 'done']),
  done: count,
  total: count,
  bytes: count,
  path: z.string().optional(),
});
export type ImportProgress = z.output<typeof importProgress>;

export const importContract = {
  detect: oc
    .input(z.object({ paths }))
    .output(z.array(z.object({ path: z.string(), format: formatName, sessions: count, bytes: count, confidence: z.number() }))),
  /** Streams progress; the stream's return value is the result. Ending the stream early cancels; what is stored stays whole. */
  run: oc
    .input(z.object({ paths, format: formatName.optional(), granularity: z.enum(['turn_boundary', 'tool_call']).optional() }))
    .output(eventIterator(importProgress, importResult)),
};

export const source = z.object({
  sourceId: z.string(),
  path: z.string(),
  format: formatName,
  bytes: count,
  hash: z.string(),
  tips: z.array(contextId),
  importedAt: timestamp,
  title: z.string().optional(),
  sessionId: z.string().optional(),
  /** The working directory, as the file says it. */
  cwd: z.string().optional(),
  /** What the project holds of the session; subagents that bear its id are counted in. */
  holds: z.object({ commits: count, messages: count, compactions: count, errors: count, startedAt: timestamp, endedAt: timestamp }).optional(),
});
export type Source = z.output<typeof source>;

export const sourceContract = {
  list: oc.input(z.object({})).output(z.array(source)),
  /** The imported file again, byte for byte: written to `path` where one is given (never over a file), else stored as an artifact. */
  get: oc
    .input(z.object({ sourceId: z.string(), path: z.string().min(1).optional() }))
    .output(z.object({ artifactRef: artifactRef.optional(), path: z.string().optional(), bytes: count, hash: z.string() })),
};

export const foundSession = z.object({
  path: z.string(),
  sessionId: z.string(),
  /** The working directory, as the lines say it. */
  cwd: z.string().optional(),
  title: z.string().optional(),
  bytes: count,
  modifiedAt: timestamp,
  subagents: count,
  /** Already in the open project, in this very size. */
  imported: z.boolean(),
});
export type FoundSession = z.output<typeof foundSession>;

export const foundSource = z.object({
  agent: z.enum(runtimes),
  /** The agent's own folder on this machine. */
  root: z.string(),
  /** The folders under it that hold histories: what to import for all of them. */
  folders: z.array(z.string()),
  sessions: count,
  /** Into how many folders the sessions are sorted, where an agent sorts them by project. */
  projects: count.optional(),
  bytes: count,
  /** Why the place could not be read, where it could not. */
  problem: z.string().optional(),
});
export type FoundSource = z.output<typeof foundSource>;

export const recentProject = z.object({ dir: z.string(), name: z.string(), openedAt: timestamp, missing: z.boolean() });
export type RecentProject = z.output<typeof recentProject>;

export const libraryContract = {
  /** Histories found on this machine, in the agents' own places. */
  sources: oc.input(z.object({})).output(z.array(foundSource)),
  sessions: oc.input(z.object({ root: z.string() })).output(z.array(foundSession)),
  recent: oc.input(z.object({})).output(z.array(recentProject)),
  /** Makes the sample project where there is none yet, and says where it is. */
  sample: oc.input(z.object({})).output(z.object({ dir: z.string() })),
  /** The project that imports go to when none is open: made on first use. */
  home: oc.input(z.object({})).output(z.object({ dir: z.string() })),
  /** What the engine was started with: paths to open. */
  startup: oc.input(z.object({})).output(z.object({ paths: z.array(z.string()), project: z.string().nullable(), platform: z.string() })),
};
