import { conflict } from '../base/index.js';
import { profileNamed } from '../cards/index.js';
import { allowReceived, findCommit, type ReadChain, receivedAt, type WriteChain } from '../chain/index.js';
import { adoptCommit, agentNamed, beginTurn, deliver, finishTurn, handoverMap, isOpen, openTurns, turnCards, turnNamed } from '../handover/index.js';
import { servedTo } from './agent-tools.js';
import { turnCalls } from './converse.js';
import { isHeld, refuseIfTakenOver } from './jobs.js';
import { performTurn } from './turn.js';
import { jobTitle, modelOf, quiet, type TurnWork, type WorkKind } from './work-kind.js';

/** The key of the work of an agent's turn. */
export const turnKey = (agentTurnId: string): string => `turn:${agentTurnId}`;

/** A dispatched turn of an agent. Its commits extend the agent's chain, and its last message is the deliverable. */
export const turnWork: WorkKind<TurnWork> = {
  ...quiet,
  target: (chain, { turnId }) => {
    const turn = turnNamed(chain, turnId);
    const { agentId, agentTurnId, status } = turn;
    const problem = isOpen(turn)
      ? busyProblem(chain, turnId)
      : `The turn ${agentTurnId} is ${status}: only a dispatched or open turn can be carried out.`;
    if (problem !== undefined) throw conflict(problem, { id: agentTurnId, status });
    const instruction = handoverMap(chain).turns.find((turn) => turn.agentTurnId === agentTurnId)?.instruction;
    const title = jobTitle(instruction ?? agentTurnId);
    return { holds: `agent:${agentId}`, work: turnKey(agentTurnId), title, who: agentId };
  },
  open: (chain, { for: of }) =>
    'agent' in of
      ? openTurns(chain)
          .filter(({ agentId }) => isOf(chain, agentId, of.agent))
          .map(({ agentTurnId }) => ({ turnId: agentTurnId }))
      : [],
  source: (chain, { turnId }) => {
    const { source, createdAt } = turnNamed(chain, turnId);
    return source === null ? undefined : { who: source, at: createdAt };
  },
  isCanceled: (chain, { turnId }) => turnNamed(chain, turnId).status === 'canceled',
  received: (chain, { turnId }) => receivedAt(chain, 'agentTurn', turnNamed(chain, turnId).no),
  allow: (chain, { turnId }) => {
    const { no, batch } = turnNamed(chain, turnId);
    allowReceived(chain, 'agentTurn', no);
    if (batch !== null) allowReceived(chain, 'batch', batch);
  },
  own: (chain, _, { turnId }) => ({
    continues: true,
    start: () => chain.artifacts.transaction(() => beginOwn(chain, turnId)),
    end: ({ status, text }) => {
      if (status === 'completed') deliver(chain, turnId, text);
      else finishTurn(chain, { agentTurnId: turnId, status });
    },
  }),
  perform: async (parts, work, { turnId }, provider) => {
    const held = (): void => refuseIfTakenOver(parts.chain, work.jobId);
    const { status } = await performTurn({ ...turnCalls(parts, work, modelOf(provider)), model: work.performer.model, held }, turnId);
    return status === 'success' ? 'success' : status === 'canceled' ? 'stopped' : 'failed';
  },
};

function beginOwn(chain: WriteChain, turnId: string) {
  const before = turnNamed(chain, turnId);
  if (!isOpen(before)) return undefined;
  if (before.status === 'dispatched') beginTurn(chain, { agentTurnId: turnId });
  const turn = turnNamed(chain, turnId);
  const from = turn.tipId ?? turn.startId;
  if (from === null) throw new Error(`The turn ${turnId} has no commit.`);
  return {
    from,
    who: turn.agentId,
    runId: null,
    permitted: servedTo(turnCards(chain, turn).profile, 'turn'),
    as: { template: findCommit(chain, from).template, principal: turn.agentId },
    moved: (commit: typeof from) => adoptCommit(chain, turnId, commit),
  };
}

/** A running job of the agent that handed out a turn carries it out. A command-line agent carries out no turns of other agents. */
function busyProblem(chain: ReadChain, turnId: string): string | undefined {
  const { agentTurnId } = turnNamed(chain, turnId);
  for (let id: string | null = turnId; id !== null; ) {
    const { source, parentTurnId } = turnNamed(chain, id);
    if (source !== null && (isHeld(chain, `agent:${source}`, true) || isHeld(chain, `person:${source}`, true)))
      return `The job of ${source}, which handed out the turn ${agentTurnId}, carries it out.`;
    id = parentTurnId;
  }
  return undefined;
}

/** Whether an agent has this id, or the profile of this name. */
function isOf(chain: ReadChain, agentId: string, name: string): boolean {
  if (agentId === name) return true;
  const agent = agentNamed(chain, agentId);
  const profile = profileNamed(chain, name);
  return agent !== undefined && profile !== undefined && (agent.profile === profile.boxNo || agent.displayName === profile.name);
}
