import { notFound, StemmaError } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Box, Packing } from '../contract/index.js';
import { newCardId, whereIds } from './card.js';
import { type BoxPlace, boxAt, boxNamed, idsAt } from './places.js';
import { getBox } from './read.js';

/**
 * Makes a box of references: the ids as they are given, in their order, repeats and ids of no card included (B7). The
 * same box again is the one that there is.
 * @throws CONFLICT where the id is taken by a box of other cards.
 */
export function createBox(chain: Chain, cardIds: readonly string[], boxId?: string): Box {
  return chain.db.transaction(() => {
    const known = boxId === undefined ? undefined : boxNamed(chain, boxId);
    if (known && JSON.stringify(idsAt(chain, known.no)) !== JSON.stringify(cardIds))
      throw new StemmaError('CONFLICT', `the box ${known.boxId} holds other cards; append to it, or replace it by a new one`, { id: known.boxId });
    return getBox(chain, (known ?? insertBox(chain, cardIds, { boxId })).boxId);
  });
}

/** Writes a new box. Call inside a transaction. */
export function insertBox(
  chain: Chain,
  cardIds: readonly string[],
  how: { boxId?: string | undefined; replaces?: number; packed?: Packing } = {},
): BoxPlace {
  const boxId = how.boxId ?? newCardId(chain);
  const now = chain.clock();
  const { rowId } = chain.db.run(
    'INSERT INTO box (project, boxId, createdAt, updatedAt, replaces, packed) VALUES (?, ?, ?, ?, ?, ?)',
    chain.project,
    boxId,
    now,
    now,
    how.replaces ?? null,
    how.packed ? JSON.stringify(how.packed) : null,
  );
  if (cardIds.length) insertPart(chain, rowId, cardIds);
  return { no: rowId, boxId };
}

const insertPart = (chain: Chain, box: number, cardIds: readonly string[]): unknown =>
  chain.db.run(
    'INSERT INTO boxPart (box, place, project, cardIds) SELECT ?, COALESCE(MAX(place) + 1, 0), ?, ? FROM boxPart WHERE box = ?',
    box,
    chain.project,
    JSON.stringify(cardIds),
    box,
  );

/**
 * Adds cards at the end; one that is there already keeps its first place (B7).
 * @throws NOT_FOUND for the box, or for any card of which the project has none: then nothing is appended. CONFLICT where
 * an open turn reads the box (B9).
 */
export function appendToBox(chain: Chain, boxId: string, cardIds: readonly string[]): Box {
  return chain.db.transaction(() => {
    const box = boxAt(chain, boxId);
    if (box.readers > 0)
      throw new StemmaError('CONFLICT', `the box ${boxId} is the context of a turn that has not ended: a turn writes to its output box only`, {
        id: boxId,
      });
    const known = new Set(
      chain.db.all<{ cardId: string }>(`SELECT cardId FROM card ${whereIds}`, JSON.stringify(cardIds), chain.project).map((row) => row.cardId),
    );
    const missing = cardIds.filter((cardId) => !known.has(cardId));
    if (missing.length)
      throw notFound(missing[0] ?? '', `no card ${missing[0]} is in this project: nothing was appended to ${boxId}`, {
        missingCardIds: [...new Set(missing)],
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

/** A new box in place of another, which stays as it is and is named by the new one. @throws NOT_FOUND */
export function replaceBox(chain: Chain, boxId: string, cardIds: readonly string[]): Box {
  return chain.db.transaction(() => getBox(chain, insertBox(chain, cardIds, { replaces: boxAt(chain, boxId).no }).boxId));
}

/** The box of that id; where there is none, a new one that is empty. Call inside a transaction. */
export const ensureBox = (chain: Chain, boxId: string | undefined): BoxPlace =>
  (boxId === undefined ? undefined : boxNamed(chain, boxId)) ?? insertBox(chain, []);

/** From now on a turn reads the box: nothing is appended to it until as many have released it (B9). */
export const holdBox = (chain: Chain, box: number): unknown => chain.db.run('UPDATE box SET readers = readers + 1 WHERE no = ?', box);
export const releaseBox = (chain: Chain, box: number): unknown => chain.db.run('UPDATE box SET readers = readers - 1 WHERE no = ?', box);
