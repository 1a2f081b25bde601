import { entry } from './entry.js';
import { outlineRow } from './outline.js';
import { contextPrefix, count, entryKey, flag, procedure, upTo } from './scalars.js';
import * as z from './z.js';

const offset = count.optional().describe('How many entries to skip.');

/** Procedures for the entries of a context, whole or in ranges. `stop` is the schema of where a walk ends. */
export const entryProcedures = <Stop extends z.ZodType>(stop: Stop) => {
  const query = {
    id: contextPrefix,
    stop: stop.optional(),
    hidden: flag('Include what the agent recorded but never sent to the model: events, errors, progress.'),
  };

  return {
    entries: procedure('Returns the entries of a context with their content, in pages.', {
      ...query,
      offset,
      limit: upTo(10_000).optional().describe('The most entries to return.'),
    }).returns({ total: count, entries: z.array(entry) }),
    outline: procedure(
      'Returns every entry of a context without its content, or those of a range. With `near`, returns only a part of a long context.',
      {
        ...query,
        offset,
        limit: upTo(100_000).optional().describe('The most entries to return. The default is all.'),
        packed: flag('Return the rows as one text in `packed`, which is faster for a long context.'),
        near: entryKey
          .nullable()
          .optional()
          .describe(
            'For a context of more than 300 commits: return only the rows around this entry, with their content in `entries`. If the entry is null or not near the end, return the rows around the last prompt.',
          ),
      },
    ).returns({
      total: count,
      tokens: count,
      rows: z.array(outlineRow),
      packed: z.string().optional(),
      /** The content of `rows`, present only if `rows` is a part of the context. `total` and `tokens` then count only that part. */
      entries: z.array(entry).optional(),
    }),
    find: procedure(
      'Finds entries of a context, or of a range of it, whose text, call or result contains the words, ignoring case. The hits are positions in `context.outline`.',
      {
        ...query,
        text: z.string().min(1).max(400).describe('The words to find.'),
        offset,
        limit: upTo(100_000).optional().describe('The most entries to look at. The default is all.'),
      },
    ).returns({ total: count.describe('The number of entries of the context.'), hits: z.array(count) }),
  };
};
