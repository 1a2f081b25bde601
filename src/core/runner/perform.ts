import { badRequest, StemmaError } from '../base/index.js';
import type { AgentPerformer, Performer, Work } from '../contract/index.js';
import { providerOf } from '../turns/index.js';
import { findRoot, performAgent } from './agent.js';
import { lastOfWork } from './jobs.js';
import { kindOf } from './kinds.js';
import { removeLeftSessions } from './left-sessions.js';
import { LimitReached, meteredProvider } from './limits.js';
import { type StartedWork, workAs } from './own-work.js';
import { type ChosenPerformer, isAgent, type Performing, type RunnerParts } from './parts.js';
import type { AgentProgram } from './programs.js';
import { actorOf } from './rights.js';
import { finalWords } from './talk.js';
import type { WorkOutcome } from './work-kind.js';

/** Finds the model or the agent. @throws BAD_REQUEST; UNAVAILABLE if the agent cannot run here */
export function performerOf(parts: Pick<RunnerParts, 'chain' | 'providers' | 'agents'>, what: Work, performer: Performer): ChosenPerformer {
  const kind = kindOf(what);
  kind.checkPerformer(parts.chain, what, performer);
  if (isAgent(performer)) {
    const program = parts.agents.find(({ agent }) => agent === performer.agent);
    const known = parts.agents.map(({ agent }) => agent).join(', ') || 'no agent';
    if (!program) throw badRequest('performer.agent', `Stemma cannot run ${performer.agent} here. It can run ${known}.`);
    const problem = program.problem();
    if (problem !== null) throw new StemmaError('UNAVAILABLE', problem, { field: 'performer.agent' });
    return { program, provider: undefined };
  }
  const provider = providerOf(parts.providers, performer.provider);
  if (!(kind.hasRecording || provider))
    throw badRequest('performer.provider', 'Only a context and a case have a recording to replay: choose a model.');
  return { provider, program: undefined };
}

/** Carries out the work of a job. @throws the error that ended it */
export async function perform(parts: RunnerParts, work: Performing): Promise<WorkOutcome> {
  const { what, program, provider } = work;
  if (program) return letAgentWork(parts, work, program);
  return kindOf(what).perform(parts, work, what, provider && meteredProvider(provider, work.diary.meter, parts.live.takeTurn));
}

/** Lets a command-line agent carry out the work. Its last message is the result. */
async function letAgentWork(parts: RunnerParts, work: Performing, program: AgentProgram): Promise<WorkOutcome> {
  const { chain } = parts;
  const { what, performer, target, jobId, signal } = work;
  const own = kindOf(what).own(chain, work, what);
  removeLeftSessions(chain, target.work, findRoot(parts, performer as AgentPerformer));
  const perform = async (started: StartedWork) => {
    // If the process of an earlier job died, it may already have committed the agent's last message.
    const isTakenOver = own?.continues === true && lastOfWork(chain, target.work, jobId) === 'interrupted';
    const said = isTakenOver ? finalWords(chain, started.from) : undefined;
    const who = actorOf(chain, started.who, performer);
    return { text: said ?? (await performAgent(parts, work, program, { ...started, who, isTakenOver })), pauses: false };
  };
  return workAs(chain, work, own, perform, (error) => {
    if (error instanceof LimitReached || signal.reason instanceof LimitReached) return 'partial';
    return signal.aborted ? 'canceled' : 'failed';
  });
}
