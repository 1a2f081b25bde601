import { badRequest, isObject, notFound, picked, present, toTimestamp } from '../base/index.js';
import { cardsInOrder, idsAt, newCardId, seenByModel } from '../cards/index.js';
import { isWaiting, type ReadChain, receivedAt, type WriteChain } from '../chain/index.js';
import type { BatchResult, Dispatched, InputOf } from '../contract/index.js';
import { textOfContent } from '../formats/index.js';
import { callerOf, dispatch, isTooDeep, prepare } from './delegate.js';
import { type BatchRow, close, hasEnded } from './ending.js';
import { dataOf } from './request.js';
import { type AgentTurnRow, toTurn, turnsOfBatch } from './turn-rows.js';

const maxTasks = 8;

/** Dispatches several turns as a batch (H12), or none if a task is invalid. @throws BAD_REQUEST, NOT_FOUND, UNAUTHORIZED as for `delegate`. */
export function forkJoin(
  chain: WriteChain,
  input: InputOf<'handover.forkJoin'>,
  { defaultDeadlineSeconds }: { readonly defaultDeadlineSeconds?: number } = {},
): Dispatched & { batchId?: string; taskCount: number } {
  const taskCount = input.tasks.length;
  if (taskCount > maxTasks) throw badRequest('tasks', `fork_join: ${taskCount} tasks were given, and at most ${maxTasks} are allowed`);
  const caller = { agentId: input.sourceAgentId, row: callerOf(chain, input.sourceAgentId) };
  return chain.artifacts.transaction(() => {
    const prepared = input.tasks.map((task) => prepare(chain, caller, task));
    const reused = prepared.flatMap(({ task, agent }) => (task.targetStrategy === 'reuse' && agent ? [agent.agentId] : []));
    const twice = reused.find((agentId, place) => reused.indexOf(agentId) !== place);
    if (twice !== undefined) throw badRequest('tasks', `fork_join: duplicate reuse target agent_id in batch: ${twice}`);
    if (isTooDeep(caller)) return { status: 'rejected', errorCode: 'recursion_depth_exceeded', turns: [], taskCount };
    const seconds = input.deadlineSeconds ?? defaultDeadlineSeconds;
    const now = chain.clock();
    const batchId = `batch_${newCardId(chain)}`;
    const { rowId } = chain.db.insert('batch', {
      project: chain.project,
      batchId,
      source: caller.agentId,
      status: 'running',
      failFast: input.failFast ? 1 : 0,
      createdAt: now,
      deadline: seconds !== undefined && seconds !== null && seconds > 0 ? now + Math.round(seconds * 1_000) : null,
    });
    const turns = prepared.map((each, taskIndex) => toTurn(dispatch(chain, caller, each, 'fork_join', { no: rowId, taskIndex })));
    return { status: 'accepted', batchId, taskCount, turns };
  });
}

/** Ends the batches whose deadline has passed. */
export function endDueBatches(chain: WriteChain): void {
  const due = "SELECT batchId FROM batch WHERE project = ? AND status = 'running' AND deadline <= ?";
  for (const batchId of chain.db.column<string>(due, chain.project, chain.clock())) endIfDue(chain, batchId);
}

const requireBatch = (chain: ReadChain, batchId: string): BatchRow => {
  const row = chain.db.one<BatchRow>('SELECT * FROM batch WHERE project = ? AND batchId = ?', chain.project, batchId);
  if (!row) throw notFound(batchId, `This project has no batch ${batchId}.`);
  return row;
};

/** A batch that another machine sent ends here only if a person allowed it. */
const isDue = (chain: ReadChain, { no, status, deadline }: BatchRow): boolean =>
  status === 'running' && deadline !== null && deadline <= chain.clock() && !isWaiting(receivedAt(chain, 'batch', no));

/** Ends a batch whose deadline has passed. @throws NOT_FOUND */
export const endIfDue = (chain: WriteChain, batchId: string): void =>
  chain.artifacts.transaction(() => {
    const row = requireBatch(chain, batchId);
    if (isDue(chain, row)) close(chain, row, 'timeout', turnsOfBatch(chain, row.no));
  });

/** A batch with its tasks in order. Past its deadline it is shown as ended, before the engine has ended it. @throws NOT_FOUND */
export function batchOf(chain: ReadChain, batchId: string): BatchResult {
  const row = requireBatch(chain, batchId);
  const due = isDue(chain, row);
  const endedAt = due ? row.deadline : row.endedAt;
  return {
    batchId,
    sourceAgentId: row.source,
    status: due ? 'timeout' : row.status,
    failFast: row.failFast === 1,
    ...(row.deadline !== null && { deadline: toTimestamp(row.deadline) }),
    createdAt: toTimestamp(row.createdAt),
    ...(endedAt !== null && { endedAt: toTimestamp(endedAt) }),
    results: turnsOfBatch(chain, row.no).map((turn, place) => {
      const taskIndex = turn.taskIndex ?? place;
      return {
        taskIndex,
        label: `task_${taskIndex + 1}`,
        ...picked(turn, 'agentId', 'agentTurnId'),
        status: due && !hasEnded(turn) ? 'canceled' : turn.status,
        ...present({ summary: summarizeDeliverable(chain, turn) }),
        outputBoxId: turn.outputBoxId,
        ...present({ error: turn.error }),
      };
    }),
  };
}

const shownFields = 5;

/** A one-line summary of a deliverable: its first fields, else its text. */
function summarizeDeliverable(chain: ReadChain, turn: AgentTurnRow): string | undefined {
  const deliverable = cardsInOrder(chain, idsAt(chain, turn.output)).findLast((card) => seenByModel(card) && card.type === 'task.deliverable');
  if (!deliverable) return undefined;
  const { fields } = dataOf(deliverable);
  if (!Array.isArray(fields)) return textOfContent(deliverable.content);
  return fields
    .filter(isObject)
    .slice(0, shownFields)
    .map((field) => `${String(field.name)}: ${String(field.value)}`)
    .join(' | ');
}
