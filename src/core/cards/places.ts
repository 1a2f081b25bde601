import { notFound } from '../base/index.js';
import type { Chain } from '../chain/index.js';

/** Where a box lies: its number in the database, and its id. */
export interface BoxPlace {
  readonly no: number;
  readonly boxId: string;
}

export interface BoxRow extends BoxPlace {
  readonly readers: number;
}

/** The box of that id in this project, or undefined. */
export const boxNamed = (chain: Chain, boxId: string): BoxRow | undefined =>
  chain.db.one<BoxRow>('SELECT no, boxId, readers FROM box WHERE project = ? AND boxId = ?', chain.project, boxId);

/** @throws NOT_FOUND, for a box of another project as for one that is not there. */
export function boxAt(chain: Chain, boxId: string): BoxRow {
  const row = boxNamed(chain, boxId);
  if (!row) throw notFound(boxId, `no box ${boxId} is in this project`);
  return row;
}

/** The card ids of a box in order, repeats kept. */
export const idsAt = (chain: Chain, box: number): string[] =>
  chain.db
    .all<{ cardIds: string }>('SELECT cardIds FROM boxPart WHERE box = ? ORDER BY place', box)
    .flatMap((part) => JSON.parse(part.cardIds) as string[]);
