import * as cards from '../cards/index.js';
import { reads, writes } from './procedure.js';

export const cardRouter = {
  add: writes.card.add.handler(({ input, context }) => cards.addCard(context.chain, input.card)),
  get: reads.card.get.handler(({ input, context }) => cards.getCard(context.chain, input.cardId)),
  batch: reads.card.batch.handler(({ input, context }) => cards.batchCards(context.chain, input.cardIds)),
  delete: writes.card.delete.handler(({ input, context }) => cards.deleteCard(context.chain, input.cardId, input.author)),
  history: reads.card.history.handler(({ input, context }) => cards.cardHistory(context.chain, input.cardId)),
  boxes: reads.card.boxes.handler(({ input, context }) => cards.boxesOf(context.chain, input.cardId)),
  list: reads.card.list.handler(({ input, context }) => cards.listCards(context.chain, input)),
  facets: reads.card.facets.handler(({ context }) => cards.cardFacets(context.chain)),
};
