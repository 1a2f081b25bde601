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

export const boxRouter = {
  create: writes.box.create.handler(({ input, context }) => cards.createBox(context.chain, input.cardIds, input.boxId)),
  get: reads.box.get.handler(({ input, context }) => cards.getBox(context.chain, input.boxId)),
  batch: reads.box.batch.handler(({ input, context }) => cards.batchBoxes(context.chain, input.boxIds)),
  cards: reads.box.cards.handler(({ input, context }) => cards.boxCards(context.chain, input.boxId)),
  append: writes.box.append.handler(({ input, context }) => cards.appendToBox(context.chain, input.boxId, input.cardIds)),
  replace: writes.box.replace.handler(({ input, context }) => cards.replaceBox(context.chain, input.boxId, input.cardIds)),
  list: reads.box.list.handler(({ input, context }) => cards.listBoxes(context.chain, input)),
  entries: reads.box.entries.handler(({ input, context }) => cards.boxEntries(context.chain, input.boxId)),
  fromContext: writes.box.fromContext.handler(({ input, context }) => cards.boxFromContext(context.chain, input)),
  commit: writes.box.commit.handler(({ input, context }) => cards.commitBox(context.chain, input)),
};

export const profileRouter = {
  put: writes.profile.put.handler(({ input, context }) => cards.putProfile(context.chain, input.name, input.card, input.profileBoxId)),
  delete: writes.profile.delete.handler(({ input, context }) => cards.deleteProfile(context.chain, input.name, input.deleted)),
  find: reads.profile.find.handler(({ input, context }) => cards.findProfile(context.chain, input.name)),
  list: reads.profile.list.handler(({ context }) => cards.listProfiles(context.chain)),
};
