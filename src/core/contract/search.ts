import { kinds, roles } from './kinds.js';
import { contextId, count, entryKey, inOrder, line, procedure, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

export const searchHit = z.object({
  commit: contextId,
  entryKey,
  /** The text around the first match. `matches` are ranges in this text, in UTF-16 units. */
  snippet: z.string(),
  matches: z.array(z.object({ start: count, end: count })),
  /** Higher is better. Scores of different searches cannot be compared. */
  score: z.number(),
  role: z.enum(roles),
  kind: z.enum(kinds),
  at: timestamp,
  sessionId: z.string().optional(),
  /** The summary of the commit, so that a list can show where the hit is. */
  summary: z.string().optional(),
});
export type SearchHit = z.output<typeof searchHit>;

export const searchContract = {
  query: procedure(
    'Finds entries that contain all the words. The last word may be the beginning of one, in a project of more than 100,000 entries only if it has three letters and fewer than 2,000 entries match it as a word. Words in quotes must be adjacent. The best of the newest matches come first. `pending` counts the commits that are not indexed yet.',
    {
      text: z.string().min(1).max(1_000).describe('The words to find.'),
      filter: inOrder(
        z.strictObject({
          sessionId: line.optional().describe('Only entries of this session.'),
          principal: line.optional().describe('Only entries of commits by this principal.'),
          template: line.optional().describe('Only entries of commits with this template.'),
          agent: line.optional().describe('Only entries of this agent and its subagents, such as `claude-code`.'),
          from: timestamp.optional().describe('Only entries of commits at or after this time.'),
          to: timestamp.optional().describe('Only entries of commits before this time.'),
          kind: z.enum(kinds).optional().describe('Only entries of this kind.'),
        }),
      )
        .optional()
        .describe('Limits the search.'),
      limit: upTo(1_000).optional().describe('The most hits to return.'),
    },
  ).returns({
    total: count,
    /** False if counting stopped at a limit and there are more matches. */
    isExact: z.boolean(),
    hits: z.array(searchHit),
    pending: count,
  }),
};
