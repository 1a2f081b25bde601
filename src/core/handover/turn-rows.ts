import { type CommitSeq, type ContextId, notFound, picked, present, toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { AgentTurn, TurnStatus } from '../contract/index.js';
import { requireAgent } from './agents.js';

export interface AgentTurnRow
  extends Readonly<Pick<AgentTurn, 'agentTurnId' | 'agentId' | 'status' | 'depth' | 'contextBoxId' | 'outputBoxId' | 'tool' | 'strategy'>>,
    Readonly<Record<'no' | 'agent' | 'context' | 'output' | 'committed' | 'createdAt' | 'epoch', number>>,
    Readonly<Record<'profile' | 'parentTurn' | 'batch' | 'taskIndex' | 'startedAt' | 'endedAt' | 'headTurn', number | null>>,
    Readonly<Record<'profileBoxId' | 'source' | 'parentTurnId' | 'batchId' | 'waiting' | 'error', string | null>>,
    Readonly<Record<'fromId' | 'startId' | 'endId' | 'tipId', ContextId | null>> {
  readonly fromCommit: CommitSeq | null;
}

const select = /* sql */ `
SELECT t.no, t.agentTurnId, t.agent, a.agentId, t.status, t.depth, t.context, x.boxId AS contextBoxId, t.output, o.boxId AS outputBoxId,
       t.profile, p.boxId AS profileBoxId, t.source, t.tool, t.strategy, t.parentTurn, u.agentTurnId AS parentTurnId, t.batch, b.batchId,
       t.taskIndex, t.waiting, t.fromCommit, f.id AS fromId, s.id AS startId, e.id AS endId, t.committed, t.error, t.createdAt, t.startedAt,
       t.endedAt, a.turn AS headTurn, n.id AS tipId, a.epoch
  FROM agentTurn t JOIN agent a ON a.no = t.agent JOIN box x ON x.no = t.context JOIN box o ON o.no = t.output
       LEFT JOIN box p ON p.no = t.profile LEFT JOIN agentTurn u ON u.no = t.parentTurn LEFT JOIN batch b ON b.no = t.batch
       LEFT JOIN commits f ON f.seq = t.fromCommit LEFT JOIN commits s ON s.seq = t.startCommit LEFT JOIN commits e ON e.seq = t.endCommit
       LEFT JOIN commits n ON n.seq = a.tip`;

/** Reads a turn by its row number. */
export function turnAt(chain: ReadChain, no: number): AgentTurnRow {
  const row = chain.db.one<AgentTurnRow>(`${select} WHERE t.no = ? AND t.project = ?`, no, chain.project);
  if (!row) throw new Error(`Turn row ${no} does not exist.`);
  return row;
}

/** Reads a turn by its id. @throws NOT_FOUND */
export function turnNamed(chain: ReadChain, agentTurnId: string): AgentTurnRow {
  const row = chain.db.one<AgentTurnRow>(`${select} WHERE t.project = ? AND t.agentTurnId = ?`, chain.project, agentTurnId);
  if (!row) throw notFound(agentTurnId, `This project has no turn ${agentTurnId}.`);
  return row;
}

/** The agent turn to which each of these commits belongs. Commits of other turns are missing in the map. */
export function turnsOfCommits(chain: ReadChain, seqs: readonly CommitSeq[]): ReadonlyMap<CommitSeq, AgentTurnRow> {
  // A batch uses an agent at most once, so agent and batch identify one turn.
  const found = chain.db.all<{ seq: CommitSeq; turn: number }>(
    `SELECT c.seq, t.no AS turn FROM commits c JOIN agent a ON a.project = c.project AND a.agentId = c.principal JOIN agentTurn t ON t.agent = a.no
       LEFT JOIN batch b ON b.no = t.batch
      WHERE c.project = ? AND c.seq IN (SELECT value FROM json_each(?)) AND (t.agentTurnId = c.threadId OR b.batchId = c.threadId)`,
    [chain.project, JSON.stringify(seqs)],
  );
  const rows = new Map([...new Set(found.map(({ turn }) => turn))].map((no) => [no, turnAt(chain, no)]));
  return new Map(found.map(({ seq, turn }) => [seq, rows.get(turn) as AgentTurnRow]));
}

/** The newest commit of a turn: its last one, or the agent's newest while the turn is open. Null for a turn that was never started. */
export const newestCommitOf = (row: AgentTurnRow): ContextId | null => row.endId ?? (row.headTurn === row.no ? row.tipId : null) ?? row.startId;

/** The turns of a batch, in task order. */
export const turnsOfBatch = (chain: ReadChain, batch: number): AgentTurnRow[] =>
  chain.db.all<AgentTurnRow>(`${select} WHERE t.batch = ? AND t.project = ? ORDER BY t.taskIndex`, batch, chain.project);
/** All turns of the project, oldest first. */
export const allTurns = (chain: ReadChain): AgentTurnRow[] =>
  chain.db.all<AgentTurnRow>(`${select} WHERE t.project = ? ORDER BY t.no`, chain.project);
/** The turns that wait for a performer or have one, oldest first. */
export const openTurns = (chain: ReadChain): AgentTurn[] =>
  chain.db
    .all<AgentTurnRow>(
      `${select} WHERE t.project = ? AND t.endedAt IS NULL AND t.status IN ('dispatched', 'running', 'suspended') ORDER BY t.no`,
      chain.project,
    )
    .map(toTurn);
/** The turns of an agent, oldest first. */
export const turnsOf = (chain: ReadChain, agentId: string): AgentTurn[] =>
  chain.db.all<AgentTurnRow>(`${select} WHERE t.agent = ? ORDER BY t.no`, requireAgent(chain, agentId).no).map(toTurn);

/** The calls that a suspended turn waits for, and the results so far. */
export interface Waiting {
  readonly calls: readonly string[];
  readonly came: readonly (readonly [status: string, after: string])[];
}
/** Parses the waiting state of a turn. */
export const waitingOf = (row: AgentTurnRow): Waiting => (row.waiting === null ? { calls: [], came: [] } : (JSON.parse(row.waiting) as Waiting));

/** Converts a row to the turn of the contract. */
export function toTurn(row: AgentTurnRow): AgentTurn {
  const { calls } = waitingOf(row);
  return {
    ...picked(row, 'agentTurnId', 'agentId', 'status'),
    turnEpoch: row.headTurn === row.no ? row.epoch : null,
    ...picked(row, 'depth', 'contextBoxId', 'outputBoxId'),
    ...present({ profileBoxId: row.profileBoxId, sourceAgentId: row.source }),
    ...picked(row, 'tool', 'strategy'),
    ...present(picked(row, 'parentTurnId', 'batchId', 'taskIndex')),
    ...(calls.length > 0 && { waiting: [...calls] }),
    ...present({ fromCommit: row.fromId, startCommit: row.startId, endCommit: row.endId, error: row.error }),
    createdAt: toTimestamp(row.createdAt),
    ...(row.startedAt !== null && { startedAt: toTimestamp(row.startedAt) }),
    ...(row.endedAt !== null && { endedAt: toTimestamp(row.endedAt) }),
  };
}

/** The statuses of a turn that waits for its performer or has one. */
export const openStatuses: readonly TurnStatus[] = ['dispatched', 'running', 'suspended'];

/** Whether a turn has not ended and is not queued. */
export const isOpen = ({ status }: Pick<AgentTurn, 'status'>): boolean => openStatuses.includes(status);
