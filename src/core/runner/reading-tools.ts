import { z } from 'zod';
import { type ContextId, textOf } from '../base/index.js';
import { batchCards, boxCards, getCard } from '../cards/index.js';
import { entries, materializedBytes } from '../chain/index.js';
import { catchUpIndex, query } from '../search/index.js';
import { maxResults, type Tool, text, tool } from './tool.js';

/** Tools that read the project. */
export const readingTools: readonly Tool[] = [
  tool(
    'read_cards',
    'Returns cards by their ids, or the cards of a box.',
    z.strictObject({
      card_ids: z.array(z.string()).max(maxResults).optional().describe('The ids of the cards.'),
      box_id: z.string().optional().describe('The id of the box.'),
    }),
    (chain, _actor, input) => {
      if (input.box_id !== undefined) return { result: boxCards(chain, input.box_id) };
      const [only, ...others] = input.card_ids ?? [];
      return { result: only !== undefined && others.length === 0 ? getCard(chain, only) : batchCards(chain, input.card_ids ?? []) };
    },
  ),
  tool(
    'search',
    'Finds entries in all histories of the project that contain all the words.',
    z.strictObject({ text: text('The words to find.'), limit: z.number().int().min(1).max(maxResults).optional().describe('The most hits.') }),
    (chain, _actor, input) => {
      catchUpIndex(chain);
      return { result: query(chain, { text: input.text, limit: input.limit ?? 10 }) };
    },
  ),
  tool(
    'read_context',
    'Returns entries of a context: messages, tool calls and results.',
    z.strictObject({
      id: z.string().describe('The commit, such as one that `search` found.'),
      offset: z.number().int().min(0).optional().describe('The first entry.'),
      limit: z.number().int().min(1).max(maxResults).optional().describe('The most entries.'),
    }),
    (chain, _actor, input) => ({ result: entries(chain, { id: input.id as ContextId, offset: input.offset, limit: input.limit ?? maxResults }) }),
  ),
  tool(
    'materialize',
    'Tells a context as a narrative: who said what, and which tools ran with what effect.',
    z.strictObject({
      id: text('The commit.'),
      max_tokens: z.number().int().min(100).max(100_000).optional().describe('The most tokens. The default is 10,000.'),
    }),
    (chain, _actor, { id, max_tokens: maxTokens = 10_000 }) => {
      const { bytes } = materializedBytes(chain, { id: id as ContextId, format: 'narrative', maxTokens });
      return { result: textOf(bytes) };
    },
  ),
];
