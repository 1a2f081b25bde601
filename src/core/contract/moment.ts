import { z } from 'zod';
import { kinds } from './kinds.js';
import { outlineRow } from './outline.js';
import { contextId, count, entryKey, timestamp } from './scalars.js';

export const tokensByKind = z.array(z.object({ kind: z.enum(kinds), tokens: count }));

/** A step of a chain's replay: an entry that was sent to a model, in the order of arrival, across compactions. */
export const replayStep = outlineRow.omit({ hidden: true, prompt: true }).extend({
  at: timestamp.optional(),
  /** Tokens in the context window after this step. */
  window: count,
  /** Only at a compaction's first entry: the entries that the compaction removed from the window. */
  dropped: z.object({ entries: count, tokens: count }).optional(),
});
export type ReplayStep = z.output<typeof replayStep>;

/** `whole`: written or read completely. `part`: read in part. `unknown`: touched, but the content was not seen. */
const known = z.enum(['whole', 'part', 'unknown']);
const touch = z.object({ key: entryKey, how: z.enum(['read', 'written', 'changed']), step: count });

/** A file as the conversation has seen it: in its earlier reads, writes and changes, not as it is on the disk. */
export const knownFile = z.object({ path: z.string(), known, content: z.string().nullable(), touches: z.array(touch) });
export type KnownFile = z.output<typeof knownFile>;

const endOfFile = knownFile.pick({ known: true, content: true }).nullable();

/** A file that two branches left behind differently. Null on the side that never touched it. */
export const comparedFile = z.object({ path: z.string(), a: endOfFile, b: endOfFile });
export type ComparedFile = z.output<typeof comparedFile>;

export const momentState = z.object({
  /** The number of steps before the moment, and of all steps. */
  step: count,
  steps: count,
  /** The latest entry, and the latest time that the agent recorded. */
  entry: entryKey.nullable(),
  at: timestamp.nullable(),
  window: z.object({ entries: count, tokens: count, byKind: tokensByKind }),
  /** The entries that a compaction at this step removed from the window. */
  dropped: z.object({ commit: contextId, entries: count, tokens: count, byKind: tokensByKind }).nullable(),
  openCalls: z.array(z.object({ key: entryKey, toolCallId: z.string(), toolName: z.string().nullable() })),
  /** The files without content, which `turn.file` returns. */
  files: z.array(z.object({ path: z.string(), known, touches: count, last: touch })),
  todos: z.array(z.object({ text: z.string(), status: z.string() })),
  /** Set if only the steps after this number were read: open calls, files and tasks of earlier steps are missing. */
  before: count.optional(),
});
export type MomentState = z.output<typeof momentState>;
