import { z } from 'zod';
import { kinds, roles } from './kinds.js';
import { artifactRef, contextId, count, entryKey, timestamp } from './scalars.js';

/** What a person may give: an entry that has no place in a chain yet. */
export const entryDraft = z.object({
  role: z.enum(roles),
  kind: z.enum(kinds),
  text: z.string().optional(),
  toolName: z.string().optional(),
  toolCallId: z.string().optional(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type EntryDraft = z.output<typeof entryDraft>;

/** The neutral unit of a conversation, whatever runtime wrote it (contract, "Scalars"). */
export const entry = entryDraft.extend({
  key: entryKey,
  media: z.object({ artifactRef, mediaType: z.string() }).optional(),
  at: timestamp.optional(),
  author: z.string().optional(),
  tokens: count,
  source: z.object({
    commit: contextId,
    index: count,
    raw: z.object({ start: count, end: count }).optional(),
  }),
  /** What the runtime marked: injected by the runtime and not typed, never sent to the model, signed thinking … */
  marks: z.array(z.string()).optional(),
});
export type Entry = z.output<typeof entry>;
