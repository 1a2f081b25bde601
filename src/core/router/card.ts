import * as cards from '../cards/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `card`. */
export const cardRouter = {
  add: os.card.add.handler(({ input, context }) => cards.addCard(chainOf(context), input.card)),
  get: os.card.get.handler(({ input, context }) => cards.getCard(chainOf(context), input.cardId)),
  batch: os.card.batch.handler(({ input, context }) => cards.batchCards(chainOf(context), input.cardIds)),
  delete: os.card.delete.handler(({ input, context }) => cards.deleteCard(chainOf(context), input.cardId, input.author)),
  history: os.card.history.handler(({ input, context }) => cards.cardHistory(chainOf(context), input.cardId)),
  boxes: os.card.boxes.handler(({ input, context }) => cards.boxesOf(chainOf(context), input.cardId)),
  list: os.card.list.handler(({ input, context }) => cards.listCards(chainOf(context), input)),
  facets: os.card.facets.handler(({ context }) => cards.cardFacets(chainOf(context))),
};
