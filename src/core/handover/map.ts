import { cardsInOrder, idsAt } from '../cards/index.js';
import { allReceived, type ReadChain } from '../chain/index.js';
import type { Agent, AgentTurn, Received } from '../contract/index.js';
import { textOfContent } from '../formats/index.js';
import { allAgents, toAgent } from './agents.js';
import { allTurns, toTurn } from './turn-rows.js';

const shownLength = 200;

/** All agents and their turns, oldest first. They show the delegations of the project. */
export function handoverMap(chain: ReadChain): {
  agents: Agent[];
  turns: (AgentTurn & { cards: number; instruction?: string; received?: Received })[];
} {
  const received = allReceived(chain, 'agentTurn');
  const turns = allTurns(chain).map((row) => {
    const from = received.get(row.no);
    const ids = idsAt(chain, row.context);
    const instruction = cardsInOrder(chain, ids.slice(0, 1)).find((card) => card.type === 'task.instruction');
    return {
      ...toTurn(row),
      cards: ids.length,
      ...(from && { received: from }),
      ...(instruction && { instruction: textOfContent(instruction.content).slice(0, shownLength).toWellFormed() }),
    };
  });
  return { agents: allAgents(chain).map(toAgent), turns };
}
