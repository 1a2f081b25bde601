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
  /** Present on calls and results, so that the list can show both as one block before it reads their content. */
  toolCallId: z.string().optional(),
  isError: z.boolean().optional(),
  /** Recorded by the agent but never sent to the model. Only present if requested. */
  hidden: z.boolean().optional(),
  /** True for the prompt of a commit: the first user text that the agent did not add itself. */
  prompt: z.literal(true).optional(),
});
export type OutlineRow = z.output<typeof outlineRow>;
