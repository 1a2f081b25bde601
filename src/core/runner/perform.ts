import { badRequest, type ContextId, StemmaError } from '../base/index.js';
import type { AgentPerformer, Performer, Work } from '../contract/index.js';
import { providerOf } from '../turns/index.js';
import { findRoot, performAgent } from './agent.js';
import { endFailed, nothingLeft } from './converse.js';
import { GivenBack, lastOfWork, noteTip } from './jobs.js';
import { kindOf } from './kinds.js';
import { removeLeftSessions } from './left-sessions.js';
import { LimitReached, meteredProvider } from './limits.js';
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
  const { diary, signal, jobId } = work;
  const own = kindOf(work.what).own(chain, work, work.what);
  const start = own?.start();
  if (!(own && start)) return nothingLeft(diary);
  const { from, who } = start;
  let tip = from;
  removeLeftSessions(chain, work.target.work, findRoot(parts, work.performer as AgentPerformer));
  try {
    // If the process of an earlier job died, it may already have committed the agent's last message.
    const isTakenOver = own.continues && lastOfWork(chain, work.target.work, jobId) === 'interrupted';
    const said = isTakenOver ? finalWords(chain, from) : undefined;
    if (said !== undefined) {
      own.end({ status: 'completed', text: said, tip, pauses: false });
      return 'success';
    }
    const moved = (commit: ContextId): void => {
      tip = commit;
      noteTip(chain, jobId, commit);
      start.moved?.(commit);
      diary.made(commit);
    };
    const text = await performAgent(parts, work, program, { ...start, who: actorOf(chain, who, work.performer), isTakenOver, moved });
    own.end({ status: 'completed', text, tip, pauses: false });
    return 'success';
  } catch (error) {
    const isLimit = error instanceof LimitReached || signal.reason instanceof LimitReached;
    if (!(diary.isClosed() || error instanceof GivenBack))
      endFailed(own, { status: isLimit ? 'partial' : signal.aborted ? 'canceled' : 'failed', text: '', tip });
    throw error;
  }
}
