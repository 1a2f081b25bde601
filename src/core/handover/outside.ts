import type { ContextId } from '../base/index.js';
import { idsAt } from '../cards/index.js';
import { findCommit, type WriteChain } from '../chain/index.js';
import type { AgentTurn } from '../contract/index.js';
import { turnNamed } from './turn-rows.js';
import { finishTurn, writeTurn } from './turns.js';

/** Makes a commit of a performer outside of Stemma the end of the agent's chain. Call it in the transaction that stores the commit. */
export const adoptCommit = (chain: WriteChain, agentTurnId: string, commit: ContextId): void =>
  void chain.db.run('UPDATE agent SET tip = ? WHERE no = ?', findCommit(chain, commit).seq, turnNamed(chain, agentTurnId).agent);

/** Ends a turn with a text as its deliverable. The chain has it already, in the last commit of the performer. */
export function deliver(chain: WriteChain, agentTurnId: string, text: string): AgentTurn {
  return chain.artifacts.transaction(() => {
    const content = { kind: 'text' as const, text };
    writeTurn(chain, { agentTurnId, cards: [{ type: 'task.deliverable', content, metadata: { role: 'assistant' } }] });
    const row = turnNamed(chain, agentTurnId);
    chain.db.run('UPDATE agentTurn SET committed = ? WHERE no = ?', idsAt(chain, row.output).length, row.no);
    return finishTurn(chain, { agentTurnId });
  });
}
