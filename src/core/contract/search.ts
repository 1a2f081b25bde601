import { oc } from '@orpc/contract';
import { z } from 'zod';
import { kinds, roles } from './kinds.js';
import { contextId, count, entryKey, timestamp } from './scalars.js';

export const searchHit = z.object({
  commit: contextId,
  entryKey,
  /** The words around the first match; `matches` are ranges of it, in UTF-16 units. */
  snippet: z.string(),
  matches: z.array(z.object({ start: count, end: count })),
  /** Higher is better; comparable within one answer. */
  score: z.number(),
  role: z.enum(roles),
  kind: z.enum(kinds),
  at: timestamp,
  sessionId: z.string().optional(),
  /** The summary of the commit, for a list that says where the hit is. */
  summary: z.string().optional(),
});
export type SearchHit = z.output<typeof searchHit>;

export const searchContract = {
  /**
   * Entries that hold all the words, the last one as a beginning; words in quotes stand together. The best of the
   * newest matches come first. Among more than 100,000 entries a last word of one or two letters is a whole word. `pending` is how many commits were not yet in the index when this was answered.
   */
  query: oc
    .input(
      z.object({
        text: z.string().min(1).max(1_000),
        filter: z
          .object({
            sessionId: z.string().optional(),
            principal: z.string().optional(),
            template: z.string().optional(),
            kind: z.enum(kinds).optional(),
          })
          .optional(),
        limit: z.number().int().min(1).max(1_000).optional(),
      }),
    )
    .output(z.object({ total: count, isExact: z.boolean(), hits: z.array(searchHit), pending: count })),
};
