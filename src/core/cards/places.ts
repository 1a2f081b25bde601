import { notFound } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';

export interface BoxPlace {
  readonly no: number;
  readonly boxId: string;
}

interface SharedBoxPlace extends BoxPlace {
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
  chain.db.column<string>('SELECT cardIds FROM boxPart WHERE box = ? ORDER BY place', box).flatMap((ids) => JSON.parse(ids) as string[]);

/** The first turn that holds a card in a box or in the record of a model call, so that its content never changes (B15). */
export const holderOf = (chain: ReadChain, cardId: string): string | undefined =>
  chain.db.column<string>(
    `SELECT t.agentTurnId FROM agentTurn t
      WHERE t.project = ? AND EXISTS (
        SELECT 1 FROM boxPart p, json_each(p.cardIds) i
         WHERE (p.box IN (t.context, t.output, t.profile) OR p.box IN (SELECT c.box FROM cardCall c WHERE c.turn = t.no))
           AND instr(p.cardIds, ?) AND i.value = ?)
      ORDER BY t.no LIMIT 1`,
    chain.project,
    // A cheap text test skips lists that cannot contain the id.
    JSON.stringify(cardId),
    cardId,
  )[0];
