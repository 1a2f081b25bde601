import { z } from 'zod';
import { kinds, roles } from './kinds.js';
import { contextId, count, entryKey } from './scalars.js';

/** An entry without its content, for the token bar and the list. */
export const outlineRow = z.object({
  key: entryKey,
  role: z.enum(roles),
  kind: z.enum(kinds),
  tokens: count,
  commit: contextId,
  /** The beginning of the text: prompts for the outline, tool names for calls. */
  head: z.string().optional(),
  /** Calls and results have it, so that the list can show the two as one block before it reads either. */
  toolCallId: z.string().optional(),
  isError: z.boolean().optional(),
  /** Recorded by the agent but never sent to the model. Only present if requested. */
  hidden: z.boolean().optional(),
  /** The prompt of its commit: the first text of the user that the agent did not add by itself. */
  prompt: z.literal(true).optional(),
});
export type OutlineRow = z.output<typeof outlineRow>;
