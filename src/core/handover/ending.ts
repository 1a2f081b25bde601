import { holdBox, newCardId, releaseBox } from '../cards/index.js';
import type { WriteChain } from '../chain/index.js';
import { type AgentTurn, type BatchResult, type EndStatus, endStatuses } from '../contract/index.js';
import { type AgentRow, agentAt } from './agents.js';
import { commitInput, commitOutput } from './commits.js';
import { type AgentTurnRow, toTurn, turnAt, turnsOfBatch } from './turn-rows.js';

export type NewTurn = Pick<
  AgentTurnRow,
  'depth' | 'context' | 'output' | 'profile' | 'source' | 'tool' | 'strategy' | 'parentTurn' | 'batch' | 'taskIndex' | 'fromCommit'
>;

/** Gives a turn to an agent. It starts now if the agent is idle, else it is queued (H11). Call it inside a transaction. */
export function dispatchTurn(chain: WriteChain, agent: AgentRow, turn: NewTurn): AgentTurnRow {
  const beginning = { agentTurnId: `turn_${newCardId(chain)}`, agent: agent.no, status: 'queued', committed: 0, createdAt: chain.clock() };
  const { rowId } = chain.db.insert('agentTurn', { ...turn, ...beginning, project: chain.project });
  holdBox(chain, turn.context);
  if (agentAt(chain, agent.no).status === 'idle') lease(chain, agent.no, rowId);
  return turnAt(chain, rowId);
}

/** Starts a turn: increments the agent's epoch and commits the turn's input. */
function lease(chain: WriteChain, agent: number, turn: number): void {
  chain.db.run("UPDATE agent SET status = 'dispatched', epoch = epoch + 1, turn = ? WHERE no = ? AND status = 'idle'", turn, agent);
  chain.db.run("UPDATE agentTurn SET status = 'dispatched', startedAt = ? WHERE no = ?", chain.clock(), turn);
  const start = commitInput(chain, agentAt(chain, agent), turnAt(chain, turn));
  chain.db.run('UPDATE agentTurn SET startCommit = ? WHERE no = ?', start, turn);
}

/** Ends a turn in any state, queued ones included. Call it inside a transaction. */
export function end(chain: WriteChain, row: AgentTurnRow, status: EndStatus, error?: string): AgentTurn {
  const isHead = row.headTurn === row.no;
  const tip = isHead ? commitOutput(chain, agentAt(chain, row.agent), 'turn_boundary') : null;
  releaseBox(chain, row.context);
  chain.db.run('UPDATE agentTurn SET status = ?, waiting = NULL, endCommit = ?, error = ?, endedAt = ? WHERE no = ?', [
    status,
    tip,
    error ?? null,
    chain.clock(),
    row.no,
  ]);
  if (isHead) {
    chain.db.run("UPDATE agent SET status = 'idle', turn = NULL, lastOutput = ? WHERE no = ?", row.output, row.agent);
    const next = chain.db.value<number>("SELECT no FROM agentTurn WHERE agent = ? AND status = 'queued' ORDER BY no LIMIT 1", row.agent);
    if (next !== undefined) lease(chain, row.agent, next);
  }
  if (row.batch !== null) joinBatch(chain, row.batch);
  return toTurn(turnAt(chain, row.no));
}

export interface BatchRow extends Readonly<Record<'no' | 'failFast' | 'createdAt', number>>, Readonly<Record<'deadline' | 'endedAt', number | null>> {
  readonly batchId: string;
  readonly source: string;
  readonly status: BatchResult['status'];
}

/** Whether a turn has ended. */
export const hasEnded = (row: AgentTurnRow): row is AgentTurnRow & { status: EndStatus } => endStatuses.some((status) => status === row.status);

/** Ends an open batch if all turns have ended, or if one failed and it is fail-fast. Call it inside a transaction. */
function joinBatch(chain: WriteChain, batch: number): void {
  const row = chain.db.one<BatchRow>('SELECT * FROM batch WHERE no = ? AND project = ?', batch, chain.project);
  if (row?.status !== 'running') return;
  const turns = turnsOfBatch(chain, batch);
  const ended = turns.filter(hasEnded);
  const isFailed = row.failFast === 1 && ended.some((turn) => ['failed', 'canceled', 'timeout'].includes(turn.status));
  if (!isFailed && ended.length < turns.length) return;
  close(chain, row, isFailed ? 'failed' : joinedStatus(ended.map((turn) => turn.status)), turns);
}

/** The status of a batch: success, partial success, or the worst status of its turns. */
function joinedStatus(statuses: readonly EndStatus[]): EndStatus {
  if (statuses.every((status) => status === 'success')) return 'success';
  if (statuses.includes('success')) return 'partial';
  return (['failed', 'timeout', 'partial'] as const).find((status) => statuses.includes(status)) ?? 'failed';
}

/** Closes a batch with a status, and cancels its open turns. */
export function close(chain: WriteChain, row: BatchRow, status: EndStatus, turns: readonly AgentTurnRow[]): void {
  chain.db.run("UPDATE batch SET status = ?, endedAt = ? WHERE no = ? AND status = 'running'", status, chain.clock(), row.no);
  for (const turn of turns) if (!hasEnded(turn)) end(chain, turn, 'canceled', `the batch ${row.batchId} ended as ${status}`);
}
