import * as cards from '../cards/index.js';
import { reads, writes } from './procedure.js';

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
