import { type ContextId, decodeText, StemmaError } from '../base/index.js';
import { batchCards, boxCards, getCard } from '../cards/index.js';
import { entries, materializedBytes, type ReadChain } from '../chain/index.js';
import { z } from '../contract/index.js';
import { catchUpIndex, query } from '../search/index.js';
import { type Actor, maxResults, type Tool, text, tool } from './tool.js';

/** Refuses cards outside of the agent's own cards and turns, unless the profile permits to read the project (U2). @throws UNAUTHORIZED */
function refuseOthers(chain: ReadChain, { who, readsProject }: Actor, cardIds: readonly string[], boxId: string | undefined): void {
  if (readsProject) return;
  const wanted = boxId === undefined ? cardIds : boxCards(chain, boxId).cards.map(({ cardId }) => cardId);
  const boxIds = chain.db.column<string>(
    `SELECT b.boxId FROM agentTurn t JOIN agent a ON a.no = t.agent JOIN box b ON b.no IN (t.context, t.output)
      WHERE t.project = ? AND (a.agentId = ? OR t.source = ?)`,
    [chain.project, who, who],
  );
  if (boxId !== undefined && boxIds.includes(boxId)) return;
  const own = new Set(boxIds.flatMap((id) => boxCards(chain, id).cards.map(({ cardId }) => cardId)));
  const other = batchCards(chain, wanted).cards.find((card) => card.authorId !== who && !own.has(card.cardId));
  if (other)
    throw new StemmaError('UNAUTHORIZED', `${boxId === undefined ? `The card ${other.cardId}` : `The box ${boxId}`} was not handed to you.`, {
      id: boxId ?? other.cardId,
    });
}

export const readingTools: readonly Tool[] = [
  tool(
    'read_cards',
    'Returns cards by their ids, or the cards of a box.',
    z.strictObject({
      card_ids: z.array(z.string()).max(maxResults).optional().describe('The ids of the cards.'),
      box_id: z.string().optional().describe('The id of the box.'),
    }),
    (chain, actor, input) => {
      refuseOthers(chain, actor, input.card_ids ?? [], input.box_id);
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
      return { result: decodeText(bytes) };
    },
  ),
];
