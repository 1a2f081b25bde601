import { conflict, notFound } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Box, Packing } from '../contract/index.js';
import { newCardId, whereIds } from './card.js';
import { type BoxPlace, boxAt, boxNamed, idsAt } from './places.js';
import { cardsInOrder, getBox, seenByModel } from './read.js';

/** Creates a box in the given order, repeats kept (B7), or returns the equal one. @throws NOT_FOUND for a card; CONFLICT for other cards. */
export function createBox(chain: WriteChain, cardIds: readonly string[], boxId?: string): Box {
  return chain.db.transaction(() => {
    const known = boxId === undefined ? undefined : boxNamed(chain, boxId);
    if (known && JSON.stringify(idsAt(chain, known.no)) !== JSON.stringify(cardIds))
      throw conflict(`The box ${known.boxId} exists with other cards. Append to it, or replace it by a new box.`, { id: known.boxId });
    if (known) return getBox(chain, known.boxId);
    refuseUnknownCards(chain, cardIds, 'No box was created.');
    return getBox(chain, insertBox(chain, cardIds, { boxId }).boxId);
  });
}

/** @throws NOT_FOUND naming every card that the project does not have. */
function refuseUnknownCards(chain: ReadChain, cardIds: readonly string[], result: string): void {
  const known = new Set(chain.db.column<string>(`SELECT cardId FROM card ${whereIds}`, JSON.stringify(cardIds), chain.project));
  const missing = cardIds.filter((cardId) => !known.has(cardId));
  if (missing.length)
    throw notFound(missing[0] ?? '', `This project has no card ${missing[0]}. ${result}`, { missingCardIds: [...new Set(missing)] });
}

/** Writes a new box. Call it inside a transaction. */
export function insertBox(
  chain: WriteChain,
  cardIds: readonly string[],
  how: { boxId?: string | undefined; replaces?: number; packed?: Packing } = {},
): BoxPlace {
  const boxId = how.boxId ?? newCardId(chain);
  const now = chain.clock();
  const packed = how.packed && JSON.stringify(how.packed);
  const { rowId } = chain.db.insert('box', {
    project: chain.project,
    boxId,
    createdAt: now,
    updatedAt: now,
    replaces: how.replaces,
    packed,
    readers: 0,
  });
  if (cardIds.length) insertPart(chain, rowId, cardIds);
  return { no: rowId, boxId };
}

const insertPart = (chain: WriteChain, box: number, cardIds: readonly string[]): unknown =>
  chain.db.run('INSERT INTO boxPart (box, place, project, cardIds) SELECT ?, COALESCE(MAX(place) + 1, 0), ?, ? FROM boxPart WHERE box = ?', [
    box,
    chain.project,
    JSON.stringify(cardIds),
    box,
  ]);

/**
 * Appends cards. A card that the box has already keeps its first position (B7).
 * @param performer the agent that appends to the output box of its own running turn, which nobody else can
 * @throws NOT_FOUND for an unknown box or card, and appends nothing; CONFLICT while a turn reads the box (B9), and for the output box of a running
 *   turn, unless its performer appends cards that a model may see (B18)
 */
export function appendToBox(chain: WriteChain, boxId: string, cardIds: readonly string[], performer?: string): Box {
  return chain.db.transaction(() => {
    const box = boxAt(chain, boxId);
    if (box.readers > 0)
      throw conflict(`The box ${boxId} is the context of a running turn. Write to the output box of the turn instead.`, { id: boxId });
    refuseUnknownCards(chain, cardIds, `Nothing was appended to ${boxId}.`);
    const writer = writerOf(chain, box.no);
    if (writer && writer.agentId !== performer)
      throw conflict(`The box ${boxId} is the output of the running turn ${writer.agentTurnId}. Only ${writer.agentId} writes to it.`, {
        id: boxId,
        agentTurnId: writer.agentTurnId,
      });
    // No model is sent deleted and expired cards.
    const gone = writer && cardsInOrder(chain, cardIds).find((card) => !seenByModel(card));
    if (gone)
      throw conflict(`The card ${gone.cardId} is deleted or expired, so it cannot be appended to ${boxId}, which a model reads.`, {
        id: gone.cardId,
      });
    const present = new Set(idsAt(chain, box.no));
    const added = [...new Set(cardIds)].filter((cardId) => !present.has(cardId));
    if (added.length) {
      insertPart(chain, box.no, added);
      chain.db.run('UPDATE box SET updatedAt = ? WHERE no = ?', chain.clock(), box.no);
    }
    return getBox(chain, boxId);
  });
}

const writerOf = (chain: ReadChain, box: number): { readonly agentId: string; readonly agentTurnId: string } | undefined =>
  chain.db.one(
    `SELECT a.agentId, t.agentTurnId FROM agentTurn t JOIN agent a ON a.no = t.agent
      WHERE t.project = ? AND t.output = ? AND t.status IN ('dispatched', 'running', 'suspended') LIMIT 1`,
    [chain.project, box],
  );

/** Creates a box that replaces another one. The old box stays, and the new one links to it. @throws NOT_FOUND for an unknown box or card. */
export function replaceBox(chain: WriteChain, boxId: string, cardIds: readonly string[]): Box {
  return chain.db.transaction(() => {
    const { no: replaces } = boxAt(chain, boxId);
    refuseUnknownCards(chain, cardIds, `${boxId} was not replaced.`);
    return getBox(chain, insertBox(chain, cardIds, { replaces }).boxId);
  });
}

/** Finds a box, or creates an empty one. Call it inside a transaction. */
export const ensureBox = (chain: WriteChain, boxId: string | undefined): BoxPlace =>
  (boxId === undefined ? undefined : boxNamed(chain, boxId)) ?? insertBox(chain, []);

/** Marks the box as read by a turn. Nothing can be appended until every reader has released it (B9). */
export const holdBox = (chain: WriteChain, box: number): unknown => chain.db.run('UPDATE box SET readers = readers + 1 WHERE no = ?', box);
/** Ends one reading of a box. See `holdBox`. */
export const releaseBox = (chain: WriteChain, box: number): unknown => chain.db.run('UPDATE box SET readers = readers - 1 WHERE no = ?', box);
