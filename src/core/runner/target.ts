import { sha256Of } from '../artifacts/index.js';
import { StemmaError } from '../base/index.js';
import { findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Run, Work } from '../contract/index.js';
import { caseNamed } from '../experiments/index.js';
import { handoverMap, turnNamed } from '../handover/index.js';
import { eventNamed } from '../tickets/index.js';
import { getRun } from '../timeline/index.js';
import { isHeld, type JobTarget } from './jobs.js';

const maxTitleLength = 200;
const nowhere = { space: null, ticketId: null };

/**
 * Finds the target of a job. Only one job at a time works for an agent or answers the same context. `named` takes a start that has no assignee.
 * @throws NOT_FOUND; CONFLICT if the work has ended or waits
 */
export function findTarget(chain: WriteChain, what: Work, named?: string): JobTarget {
  if ('commit' in what) {
    const { id, summary } = findCommit(chain, what.commit, 'what.commit');
    return { holds: `commit:${id}`, work: `commit:${id}`, title: (summary ?? id).slice(0, maxTitleLength), who: null, ...nowhere };
  }
  if ('caseId' in what) return caseTarget(chain, what.experimentId, what.caseId);
  if ('runId' in what) return runTarget(chain, what.runId);
  return 'eventId' in what ? eventTarget(chain, what.eventId, named) : turnTarget(chain, what.turnId);
}

function turnTarget(chain: ReadChain, turnId: string): JobTarget {
  const { agentId, agentTurnId, status } = turnNamed(chain, turnId);
  if (!['dispatched', 'running', 'suspended'].includes(status))
    throw new StemmaError('CONFLICT', `The turn ${agentTurnId} is ${status}: only a dispatched or open turn can be carried out.`, {
      id: agentTurnId,
      status,
    });
  const busy = busySource(chain, turnId);
  if (busy !== undefined)
    throw new StemmaError('CONFLICT', `The job of ${busy}, which handed out the turn ${agentTurnId}, carries it out.`, { id: agentTurnId });
  const instruction = handoverMap(chain).turns.find((turn) => turn.agentTurnId === agentTurnId)?.instruction;
  return {
    holds: `agent:${agentId}`,
    work: workOfTurnId(agentTurnId),
    title: (instruction ?? agentTurnId).slice(0, maxTitleLength),
    who: agentId,
    ...nowhere,
  };
}

/** The agent whose running job handed out a turn and therefore carries it out. A command-line agent carries out no turns of other agents. */
function busySource(chain: ReadChain, turnId: string): string | undefined {
  for (let turn = turnNamed(chain, turnId); ; ) {
    const { source, parentTurnId } = turn;
    if (source !== null && (isHeld(chain, `agent:${source}`, true) || isHeld(chain, `person:${source}`, true))) return source;
    if (parentTurnId === null) return undefined;
    turn = turnNamed(chain, parentTurnId);
  }
}

/** The name of the work of one invocation of a run. */
export const workOfRunId = ({ runId, invokedAt }: Pick<Run, 'runId' | 'invokedAt'>): string => `run:${runId}:${invokedAt}`;

/** The name of the work of an agent's turn. */
export const workOfTurnId = (agentTurnId: string): string => `turn:${agentTurnId}`;

/** The name of the work of a start of a ticket. */
export const workOfStart = (no: number): string => `event:${no}`;

function runTarget(chain: WriteChain, id: string): JobTarget {
  const { runId, entityId, status, trigger, activeSpaceId, invokedAt } = getRun(chain, id);
  if (status !== 'running')
    throw new StemmaError('CONFLICT', `The run ${runId} is ${status}: only a running run can be carried out.`, { id: runId, status });
  const title = trigger.type === 'space_message' ? (trigger.message ?? '') : trigger.type === 'plan' ? (trigger.instruction ?? '') : trigger.service;
  return {
    holds: `agent:${entityId}`,
    work: workOfRunId({ runId, invokedAt }),
    title: title.slice(0, maxTitleLength),
    who: entityId,
    space: activeSpaceId ?? (trigger.type === 'space_message' ? trigger.space.id : null),
    ticketId: null,
  };
}

function eventTarget(chain: ReadChain, no: number, named: string | undefined): JobTarget {
  const { event, ticketId, task, title, state, ...asked } = eventNamed(chain, no);
  const who = asked.who ?? named ?? null;
  if (state !== 'waiting' && state !== 'taken')
    throw new StemmaError('CONFLICT', `The start ${event} is ${state}: only a waiting start can be carried out.`, { id: String(event), state });
  return {
    holds: `person:${who ?? ticketId}`,
    work: workOfStart(event),
    title: `${task.replaceAll('_', ' ')}: ${title}`.slice(0, maxTitleLength),
    who,
    space: null,
    ticketId,
  };
}

function caseTarget(chain: ReadChain, experimentId: string, caseId: string): JobTarget {
  const { of, missing, key } = caseNamed(chain, experimentId, caseId);
  if (missing === 0) throw new StemmaError('CONFLICT', `The case ${caseId} has all its replies. \`experiment.run\` runs it again.`, { id: caseId });
  // A changed case counts as new work.
  const version = sha256Of(key).toString('hex').slice(0, 16);
  const holds = `case:${experimentId}:${caseId}`;
  return { holds, work: `${holds}:${version}`, title: (of.title || caseId).slice(0, maxTitleLength), who: null, ...nowhere };
}
