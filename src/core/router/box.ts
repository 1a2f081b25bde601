import * as cards from '../cards/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `box`. */
export const boxRouter = {
  create: os.box.create.handler(({ input, context }) => cards.createBox(chainOf(context), input.cardIds, input.boxId)),
  get: os.box.get.handler(({ input, context }) => cards.getBox(chainOf(context), input.boxId)),
  batch: os.box.batch.handler(({ input, context }) => cards.batchBoxes(chainOf(context), input.boxIds)),
  cards: os.box.cards.handler(({ input, context }) => cards.boxCards(chainOf(context), input.boxId)),
  append: os.box.append.handler(({ input, context }) => cards.appendToBox(chainOf(context), input.boxId, input.cardIds)),
  replace: os.box.replace.handler(({ input, context }) => cards.replaceBox(chainOf(context), input.boxId, input.cardIds)),
  list: os.box.list.handler(({ input, context }) => cards.listBoxes(chainOf(context), input)),
  entries: os.box.entries.handler(({ input, context }) => cards.boxEntries(chainOf(context), input.boxId)),
  fromContext: os.box.fromContext.handler(({ input, context }) => cards.boxFromContext(chainOf(context), input)),
  commit: os.box.commit.handler(({ input, context }) => cards.commitBox(chainOf(context), input)),
};
