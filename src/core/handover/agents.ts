import { badRequest, type CommitSeq, type ContextId, conflict, notFound, picked, present, toTimestamp } from '../base/index.js';
import { type BoxPlace, findProfile, profileNamed, readProjectId } from '../cards/index.js';
import { findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Agent, InputOf } from '../contract/index.js';

export interface AgentRow
  extends Readonly<Pick<Agent, 'agentId' | 'displayName' | 'status'>>,
    Readonly<Record<'no' | 'createdAt' | 'epoch', number>>,
    Readonly<Record<'profile' | 'turn' | 'depth' | 'output' | 'lastOutput', number | null>>,
    Readonly<Record<'owner' | 'spawnedBy' | 'derivedFrom' | 'agentTurnId', string | null>>,
    Readonly<Record<'profileBoxId' | 'contextBoxId' | 'outputBoxId' | 'lastOutputBoxId', string | null>> {
  readonly tip: CommitSeq | null;
  readonly tipId: ContextId | null;
}

const select = /* sql */ `
SELECT a.no, a.agentId, a.displayName, a.profile, p.boxId AS profileBoxId, a.owner, a.spawnedBy, a.derivedFrom, a.createdAt, a.status, a.epoch,
       a.turn, t.agentTurnId, t.depth, x.boxId AS contextBoxId, t.output, o.boxId AS outputBoxId, a.lastOutput, l.boxId AS lastOutputBoxId, a.tip, c.id AS tipId
  FROM agent a LEFT JOIN box p ON p.no = a.profile LEFT JOIN agentTurn t ON t.no = a.turn LEFT JOIN box o ON o.no = t.output LEFT JOIN box x ON x.no = t.context
       LEFT JOIN box l ON l.no = a.lastOutput LEFT JOIN commits c ON c.seq = a.tip`;

/** Finds an agent of the project by its id. */
export const agentNamed = (chain: ReadChain, agentId: string): AgentRow | undefined =>
  chain.db.one<AgentRow>(`${select} WHERE a.project = ? AND a.agentId = ?`, chain.project, agentId);

/** Reads an agent by its row number. */
export function agentAt(chain: ReadChain, no: number): AgentRow {
  const row = chain.db.one<AgentRow>(`${select} WHERE a.no = ? AND a.project = ?`, no, chain.project);
  if (!row) throw new Error(`Agent row ${no} does not exist.`);
  return row;
}

/** All agents of the project, in order of creation. */
export const allAgents = (chain: ReadChain): AgentRow[] => chain.db.all<AgentRow>(`${select} WHERE a.project = ? ORDER BY a.no`, chain.project);

/** Reads an agent by its id. @throws NOT_FOUND */
export function requireAgent(chain: ReadChain, agentId: string): AgentRow {
  const row = agentNamed(chain, agentId);
  if (!row)
    throw notFound(agentId, `Project ${readProjectId(chain)} has no agent ${agentId}. Create one with handover.launchPrincipal or agent.register.`);
  return row;
}

/** Converts a row to the agent of the contract. */
export function toAgent(row: AgentRow): Agent {
  const { agentTurnId, profileBoxId, owner, spawnedBy, derivedFrom, contextBoxId, tipId } = row;
  return {
    ...picked(row, 'agentId', 'displayName', 'status'),
    turnEpoch: row.epoch,
    ...present({ agentTurnId, profileBoxId, ownerAgentId: owner, spawnedBy, derivedFrom }),
    ...present({ contextBoxId, outputBoxId: outputOf(row)?.boxId, tip: tipId }),
    createdAt: toTimestamp(row.createdAt),
  };
}

/** The output box of the agent's running turn, or else of its last turn (H10). */
function outputOf(row: AgentRow): BoxPlace | undefined {
  if (row.status !== 'idle' && row.output !== null && row.outputBoxId !== null) return { no: row.output, boxId: row.outputBoxId };
  return row.lastOutput !== null && row.lastOutputBoxId !== null ? { no: row.lastOutput, boxId: row.lastOutputBoxId } : undefined;
}

/** Returns the current output box. @throws BAD_REQUEST if the agent has no output yet. */
export function currentOutput(row: AgentRow): BoxPlace {
  const output = outputOf(row);
  if (!output) throw badRequest('targetRef', `delegate_async: source output_box missing for agent ${row.agentId}`, { agentId: row.agentId });
  return output;
}

type NewAgent = Pick<AgentRow, 'agentId' | 'displayName'> & {
  readonly [Column in 'profile' | 'owner' | 'spawnedBy' | 'derivedFrom' | 'tip']?: AgentRow[Column] | undefined;
};

/** Writes an agent. Call it inside a transaction. */
export function insertAgent(chain: WriteChain, agent: NewAgent): AgentRow {
  const row = { ...agent, project: chain.project, createdAt: chain.clock(), status: 'idle', epoch: 0 };
  return agentAt(chain, chain.db.insert('agent', row).rowId);
}

/** Registers an agent, whose chain may continue a commit. @throws CONFLICT if the id is taken; NOT_FOUND for the profile or commit. */
export function registerAgent(chain: WriteChain, input: InputOf<'agent.register'>): Agent {
  return chain.db.transaction(() => {
    if (agentNamed(chain, input.agentId)) throw conflict(`the agent ${input.agentId} already exists`, { id: input.agentId });
    const profile = input.profileName === undefined ? undefined : profileNamed(chain, findProfile(chain, input.profileName).name);
    const tip = input.contextId === undefined ? undefined : findCommit(chain, input.contextId, 'contextId').seq;
    const displayName = input.displayName ?? profile?.name ?? input.agentId;
    return toAgent(insertAgent(chain, { agentId: input.agentId, displayName, profile: profile?.boxNo, tip }));
  });
}
