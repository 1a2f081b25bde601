import { notFound } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';

export interface BoxPlace {
  readonly no: number;
  readonly boxId: string;
}

export interface SharedBoxPlace extends BoxPlace {
  readonly readers: number;
}

/** Finds a box of this project by its id. */
export const boxNamed = (chain: ReadChain, boxId: string): SharedBoxPlace | undefined =>
  chain.db.one<SharedBoxPlace>('SELECT no, boxId, readers FROM box WHERE project = ? AND boxId = ?', chain.project, boxId);

/** Reads the row of a box. @throws NOT_FOUND, also for a box of another project. */
export function boxAt(chain: ReadChain, boxId: string): SharedBoxPlace {
  const row = boxNamed(chain, boxId);
  if (!row) throw notFound(boxId, `This project has no box ${boxId}.`);
  return row;
}

/** The card ids of a box in order, repeats kept. */
export const idsAt = (chain: ReadChain, box: number): string[] =>
  chain.db
    .all<{ cardIds: string }>('SELECT cardIds FROM boxPart WHERE box = ? ORDER BY place', box)
    .flatMap((part) => JSON.parse(part.cardIds) as string[]);
