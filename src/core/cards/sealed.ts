import type { ReadChain } from '../chain/index.js';

/** The first turn that holds a card in a box or in the record of a model call, so that its content never changes (B15). */
export const holderOf = (chain: ReadChain, cardId: string): string | undefined =>
  chain.db.one<{ agentTurnId: string }>(
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
  )?.agentTurnId;
