import { type CommitSeq, decodeText } from '../base/index.js';
import { cardsDelta, cardsInOrder, idsAt, isCallRecord, seenByModel } from '../cards/index.js';
import { checkpoint, commitAt, findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Card, Checkpoint, CommitType, Packing } from '../contract/index.js';
import { cardbox, textOfContent } from '../formats/index.js';
import { type AgentRow, agentAt } from './agents.js';
import { type AgentTurnRow, turnAt } from './turn-rows.js';

interface Link {
  readonly parent: CommitSeq | null;
  readonly type: CommitType;
  /** In order, without records of calls, because no model sees these. */
  readonly cards: readonly Card[];
  readonly checkpoint: Checkpoint;
  readonly agent: AgentRow;
  readonly turn: Pick<AgentTurnRow, 'agentTurnId' | 'batchId'>;
  readonly summary?: string | undefined;
}

const summaryLength = 200;

/** The summary of a commit: the deliverable, else the last text. */
function commitHead(cards: readonly Card[]): string | undefined {
  const said = cards.filter((card) => ['task.instruction', 'agent.thought', 'task.deliverable'].includes(card.type));
  const chosen = said.findLast((card) => card.type === 'task.deliverable') ?? said.at(-1);
  const line = chosen && textOfContent(chosen.content).trim().split('\n', 1)[0]?.slice(0, summaryLength).toWellFormed();
  return line || undefined;
}

/** Commits cards as the new end of an agent's chain, as a `cardbox-v1` delta or snapshot. */
function addCards(chain: WriteChain, link: Link): CommitSeq {
  const { agent } = link;
  const cards = link.cards.filter((card) => !isCallRecord(card));
  const { id } = checkpoint(chain, {
    parent: link.parent === null ? null : commitAt(chain, link.parent).id,
    type: link.type,
    format: cardbox.id,
    data: Buffer.from(cardsDelta(cards)).toString('base64'),
    template: agent.displayName,
    principal: agent.agentId,
    sessionId: agent.agentId,
    threadId: link.turn.batchId ?? link.turn.agentTurnId,
    checkpoint: link.checkpoint,
    summary: link.summary ?? commitHead(cards),
  });
  const { seq } = findCommit(chain, id);
  chain.db.run('UPDATE agent SET tip = ? WHERE no = ?', seq, agent.no);
  return seq;
}

/** Commits a turn's input (H14): new cards as a delta, then a snapshot, after the agent's last commit, else the caller's, else as a root. */
export function commitInput(chain: WriteChain, agent: AgentRow, turn: AgentTurnRow): CommitSeq {
  const base = agent.tip ?? turn.fromCommit;
  const given = idsAt(chain, turn.context);
  const shared = { agent, turn, checkpoint: 'turn_boundary' } as const;
  const visible = (ids: readonly string[]): Card[] => cardsInOrder(chain, ids).filter(seenByModel);
  if (base === null) return addCards(chain, { ...shared, parent: null, type: 'delta', cards: visible(given) });
  const said = addCards(chain, { ...shared, parent: base, type: 'delta', cards: visible(newIn(chain, turn.context, given)) });
  const summary = describeGiven(agent, given.length);
  return addCards(chain, { ...shared, parent: said, type: 'snapshot', cards: visible(given), summary });
}

const describeGiven = (agent: AgentRow, cards: number): string => `${agent.displayName} was given ${cards === 1 ? '1 card' : `${cards} cards`}`;

/** Commits the pinned input as a snapshot if the cards differ from those of the commit that the dispatch made. */
export function recommitInput(chain: WriteChain, turn: AgentTurnRow, cards: readonly Card[]): void {
  if (turn.startId === null) return;
  const start = findCommit(chain, turn.startId);
  const committed = decodeText(chain.artifacts.read(start.artifact));
  if (committed === decodeText(cardsDelta(cards))) return;
  const agent = agentAt(chain, turn.agent);
  const summary = describeGiven(agent, cards.length);
  const tip = addCards(chain, { agent, turn, checkpoint: 'turn_boundary', parent: start.seq, type: 'snapshot', cards, summary });
  chain.db.run('UPDATE agentTurn SET startCommit = ? WHERE no = ?', tip, turn.no);
}

/** The cards that the handover created. The others existed before. */
function newIn(chain: ReadChain, box: number, ids: readonly string[]): string[] {
  const row = chain.db.one<{ packed: string | null }>('SELECT packed FROM box WHERE no = ?', box);
  if (!row?.packed) return [...ids];
  let at = 0;
  return (JSON.parse(row.packed) as Packing).runs.flatMap((run) => {
    const cards = ids.slice(at, at + run.cards);
    at += run.cards;
    return run.reason === 'inherited' ? [] : cards;
  });
}

/** Commits the turn's output since the last commit. Returns the newest commit of the agent's chain, if any. */
export function commitOutput(chain: WriteChain, agent: AgentRow, at: Checkpoint): CommitSeq | null {
  if (agent.turn === null) return agent.tip;
  const turn = turnAt(chain, agent.turn);
  const ids = idsAt(chain, turn.output);
  if (ids.length <= turn.committed) return agent.tip;
  const written = cardsInOrder(chain, ids.slice(turn.committed));
  chain.db.run('UPDATE agentTurn SET committed = ? WHERE no = ?', ids.length, turn.no);
  return addCards(chain, { parent: agent.tip, type: 'delta', cards: written, checkpoint: at, agent, turn });
}
