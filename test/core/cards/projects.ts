import { addCard, appendToBox, batchCards, getBox, getCard, insertBox, type NewCard } from '../../../src/core/cards/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';

/** Another project in the same database. */
export function secondProject(chain: WriteChain) {
  const project = chain.db.run("INSERT INTO project (projectId, name, createdAt) VALUES ('proj_2', 'second', 0)").rowId;
  const own: WriteChain = { ...chain, project };
  return {
    chain: own,
    add: (card: NewCard) => addCard(own, card),
    get: (cardId: string) => getCard(own, cardId),
    batch: (ids: readonly string[]) => batchCards(own, ids),
    create: (ids: readonly string[], boxId?: string) => chain.db.transaction(() => insertBox(own, ids, { boxId })),
    append: (boxId: string, ids: readonly string[]) => appendToBox(own, boxId, ids),
    box: (boxId: string) => getBox(own, boxId),
  };
}
