import { addCards, appendToBox, createBox } from '../cards/index.js';
import { z } from '../contract/index.js';
import { maxResults, type Tool, text, tool } from './tool.js';

const cardIds = z.array(z.string()).min(1).max(maxResults).describe('The ids of the cards, in order.');

/** Tools that write cards and boxes. The actor is the author. */
export const cardTools: readonly Tool[] = [
  tool(
    'write_cards',
    'Stores texts or data as cards, and returns their ids.',
    z.strictObject({
      cards: z
        .array(
          z.strictObject({
            type: text('The type of the card, such as `task.context`.'),
            text: z.string().max(1_000_000).optional().describe('Its text.'),
            data: z
              .union([z.array(z.unknown()), z.record(z.string(), z.unknown())])
              .optional()
              .describe('Its JSON data, in place of a text.'),
          }),
        )
        .min(1)
        .max(maxResults)
        .describe('The cards.'),
    }),
    (chain, { who }, { cards }) => ({
      result: {
        card_ids: addCards(
          chain,
          cards.map(({ type, text: said, data }) => ({
            type,
            content: said === undefined ? { kind: 'json' as const, data: data ?? {} } : { kind: 'text' as const, text: said },
            authorId: who,
          })),
        ).map(({ cardId }) => cardId),
      },
    }),
  ),
  tool('create_box', 'Makes a box of cards.', z.strictObject({ card_ids: cardIds }), (chain, _actor, { card_ids: ids }) => ({
    result: { box_id: createBox(chain, ids).boxId },
  })),
  tool(
    'append_to_box',
    'Adds cards to the end of a box.',
    z.strictObject({ box_id: text('The box.'), card_ids: cardIds }),
    (chain, { who }, { box_id: boxId, card_ids: ids }) => {
      appendToBox(chain, boxId, ids, who);
      return { result: { box_id: boxId } };
    },
  ),
];
