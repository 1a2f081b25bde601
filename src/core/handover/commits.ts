import type { CommitSeq } from '../base/index.js';
import { cardsDelta, cardsInOrder, idsAt, seenByModel } from '../cards/index.js';
import { type Chain, checkpoint, commitAt, commitOf } from '../chain/index.js';
import type { Card, Checkpoint, CommitType, Packing } from '../contract/index.js';
import { cardbox, textOfContent } from '../formats/index.js';
import { type AgentRow, agentAt } from './agents.js';
import { type TurnRow, turnAt } from './turn-rows.js';

interface Link {
  readonly parent: CommitSeq | null;
  readonly type: CommitType;
  readonly cardIds: readonly string[];
  readonly checkpoint: Checkpoint;
  readonly agent: AgentRow;
  readonly turn: Pick<TurnRow, 'agentTurnId' | 'batchId'>;
  readonly summary?: string | undefined;
}

const summaryLength = 200;

/** What a commit of cards is about: what was delivered, else the last that was said. */
function headOf(cards: readonly Card[]): string | undefined {
  const said = cards.filter((card) => seenByModel(card) && ['task.instruction', 'agent.thought', 'task.deliverable'].includes(card.type));
  const chosen = said.findLast((card) => card.type === 'task.deliverable') ?? said.at(-1);
  const line = chosen && textOfContent(chosen.content).trim().split('\n', 1)[0]?.slice(0, summaryLength).toWellFormed();
  return line || undefined;
}

/** One commit of cards on an agent's chain, as a `cardbox-v1` delta or snapshot. */
function addCards(chain: Chain, link: Link): CommitSeq {
  const cards = cardsInOrder(chain, link.cardIds);
  const { id } = checkpoint(chain, {
    parent: link.parent === null ? null : commitAt(chain, link.parent).id,
    type: link.type,
    format: cardbox.id,
    data: Buffer.from(cardsDelta(cards)).toString('base64'),
    template: link.agent.displayName,
    principal: link.agent.agentId,
    sessionId: link.agent.agentId,
    threadId: link.turn.batchId ?? link.turn.agentTurnId,
    checkpoint: link.checkpoint,
    summary: link.summary ?? headOf(cards),
  });
  return commitOf(chain, id).seq;
}

const moveTip = (chain: Chain, agent: AgentRow, tip: CommitSeq): CommitSeq => {
  chain.db.run('UPDATE agent SET tip = ? WHERE no = ?', tip, agent.no);
  return tip;
};

/**
 * A turn's input on its agent's chain (H14): what was said to it as a delta, then all that it was given as a snapshot, on
 * its own last commit, else on the one of who handed over. Where there is neither, the input itself is the beginning.
 */
export function commitInput(chain: Chain, agent: AgentRow, turn: TurnRow): CommitSeq {
  const base = agent.tip ?? turn.fromCommit;
  const given = idsAt(chain, turn.context);
  const shared = { agent, turn, checkpoint: 'turn_boundary' } as const;
  if (base === null) return moveTip(chain, agent, addCards(chain, { ...shared, parent: null, type: 'delta', cardIds: given }));
  const said = addCards(chain, { ...shared, parent: base, type: 'delta', cardIds: newIn(chain, turn.context, given) });
  const summary = `${agent.displayName} was given ${given.length === 1 ? '1 card' : `${given.length} cards`}`;
  return moveTip(chain, agent, addCards(chain, { ...shared, parent: said, type: 'snapshot', cardIds: given, summary }));
}

/** The cards that a handover made itself: the rest was there before. */
function newIn(chain: Chain, box: number, ids: readonly string[]): string[] {
  const row = chain.db.one<{ packed: string | null }>('SELECT packed FROM box WHERE no = ?', box);
  if (!row?.packed) return [...ids];
  let at = 0;
  return (JSON.parse(row.packed) as Packing).runs.flatMap((run) => {
    const cards = ids.slice(at, at + run.cards);
    at += run.cards;
    return run.reason === 'inherited' ? [] : cards;
  });
}

/** Commits what the agent's turn has put out since the last commit; gives the newest commit of its chain, if it has any. */
export function commitOutput(chain: Chain, agent: AgentRow, at: Checkpoint): CommitSeq | null {
  if (agent.turn === null) return agent.tip;
  const turn = turnAt(chain, agent.turn);
  const ids = idsAt(chain, turn.output);
  if (ids.length <= turn.committed) return agent.tip;
  const tip = addCards(chain, { parent: agent.tip, type: 'delta', cardIds: ids.slice(turn.committed), checkpoint: at, agent, turn });
  chain.db.run('UPDATE agentTurn SET committed = ? WHERE no = ?', ids.length, turn.no);
  return moveTip(chain, agentAt(chain, agent.no), tip);
}
