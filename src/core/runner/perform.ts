import { badRequest, type ContextId, StemmaError, stringAt } from '../base/index.js';
import { findCommit, type WriteChain } from '../chain/index.js';
import type { AgentPerformer, Performer, Work } from '../contract/index.js';
import { invokeRun } from '../timeline/index.js';
import { answerContext, composeContext, type ModelProvider, providerOf } from '../turns/index.js';
import { findRoot, performAgent } from './agent.js';
import type { PersonAnswer } from './asking.js';
import type { CalledTool } from './call.js';
import { checkCasePerformer, runCase } from './case.js';
import type { Diary } from './diary.js';
import { GivenBack, lastOfOthers, noteTip, refuseIfTakenOver } from './jobs.js';
import { removeLeftSessions } from './left-sessions.js';
import { LimitReached, meteredProvider } from './limits.js';
import { mayReadProject, offeredTo } from './offered.js';
import { type ChosenPerformer, isAgent, type Performing, type RunnerParts } from './parts.js';
import type { AgentProgram } from './programs.js';
import { actorOf } from './rights.js';
import { composeRun, parametersOf, profileOfEntity } from './run-call.js';
import { finalWords, talk } from './talk.js';
import { tellPart } from './telling.js';
import { performTurn } from './turn.js';
import { endFailed, type OwnWork, startCall, workOfCommit, workOfEvent, workOfRun, workOfTurn } from './work.js';

type Outcome = 'success' | 'failed' | 'stopped';

/** Finds the model or the agent. @throws BAD_REQUEST; UNAVAILABLE if the agent cannot run here */
export function performerOf(parts: Pick<RunnerParts, 'chain' | 'providers' | 'agents'>, what: Work, performer: Performer): ChosenPerformer {
  if ('caseId' in what) checkCasePerformer(parts.chain, what, performer);
  if (isAgent(performer)) {
    const program = parts.agents.find(({ agent }) => agent === performer.agent);
    const known = parts.agents.map(({ agent }) => agent).join(', ') || 'no agent';
    if (!program) throw badRequest('performer.agent', `Stemma cannot run ${performer.agent} here. It can run ${known}.`);
    const problem = program.problem();
    if (problem !== null) throw new StemmaError('UNAVAILABLE', problem, { field: 'performer.agent' });
    return { program, provider: undefined };
  }
  const provider = providerOf(parts.providers, performer.provider);
  if (!('commit' in what || 'caseId' in what || provider))
    throw badRequest('performer.provider', 'Only a context and a case have a recording to replay: choose a model.');
  return { provider, program: undefined };
}

/** Carries out the work of a job. @throws the error that ended it */
export async function perform(parts: RunnerParts, work: Performing): Promise<Outcome> {
  const { what, program } = work;
  const provider = work.provider && meteredProvider(work.provider, work.diary.meter, parts.live.takeTurn);
  if ('caseId' in what) return runCase(parts.chain, work, what, provider);
  if (program) return letAgentWork(parts, work, program);
  if ('commit' in what) return answerCommit(parts, work, what.commit, provider);
  if (!provider) throw new Error('Only a commit has a recording.');
  if ('turnId' in what) return carryOutTurn(parts, work, what.turnId, provider);
  return converse(parts, work, ownWorkOf(parts.chain, work), provider);
}

function ownWorkOf(chain: WriteChain, work: Performing): OwnWork {
  const { what } = work;
  if ('runId' in what) return workOfRun(chain, work, what.runId);
  if ('eventId' in what) return workOfEvent(chain, work, what.eventId);
  if ('turnId' in what) return workOfTurn(chain, what.turnId);
  if ('commit' in what) return workOfCommit(chain, what.commit);
  throw new Error('No agent carries out a case.');
}

function nothingLeft(diary: Diary): Outcome {
  diary.tell({ kind: 'notice', text: 'Nothing is left to do: this work has ended meanwhile.' });
  return 'success';
}

/** Lets a command-line agent carry out the work. Its last message is the result. */
async function letAgentWork(parts: RunnerParts, work: Performing, program: AgentProgram): Promise<Outcome> {
  const { chain } = parts;
  const { diary, signal, jobId } = work;
  const own = ownWorkOf(chain, work);
  const start = own.start();
  if (!start) return nothingLeft(diary);
  const { from, who, runId, permitted, as, moved } = start;
  let tip = from;
  removeLeftSessions(chain, work.target.work, findRoot(parts, work.performer as AgentPerformer));
  try {
    // If the process of an earlier job died, it may already have committed the agent's last message. Work on a commit always starts at that commit.
    const isTakenOver = !('commit' in work.what) && lastOfOthers(chain, work.target.work, jobId) === 'interrupted';
    const said = isTakenOver ? finalWords(chain, from) : undefined;
    if (said !== undefined) {
      own.end({ status: 'completed', text: said, tip, pauses: false });
      return 'success';
    }
    const note = (commit: ContextId): void => {
      tip = commit;
      noteTip(chain, jobId, commit);
      moved?.(commit);
      diary.made(commit);
    };
    const { text } = await performAgent(parts, work, program, {
      ...{ from, as, runId, permitted, isTakenOver },
      who: actorOf(chain, who, work.performer),
      moved: note,
    });
    own.end({ status: 'completed', text, tip, pauses: false });
    return 'success';
  } catch (error) {
    const isLimit = error instanceof LimitReached || signal.reason instanceof LimitReached;
    if (!(diary.isClosed() || error instanceof GivenBack))
      endFailed(own, { status: isLimit ? 'partial' : signal.aborted ? 'canceled' : 'failed', text: '', tip });
    throw error;
  }
}

/** Lets a model carry out a run or the start of a ticket, in the name of its agent. */
async function converse({ chain, layers }: RunnerParts, work: Performing, own: OwnWork, provider: ModelProvider): Promise<Outcome> {
  const { diary, signal, performer, jobId } = work;
  const start = own.start();
  if (!start) return nothingLeft(diary);
  const { from, who, runId, as } = start;
  let tip = from;
  const profile = runId === null ? undefined : profileOfEntity(chain, who);
  const model = performer.model ?? stringAt(parametersOf(profile), 'model') ?? (await provider.models()).models[0];
  const isAnswer = 'eventId' in work.what && as.threadId !== undefined;
  const offered = offeredTo(profile, runId === null ? 'ticket' : 'run', work.tools);
  try {
    const done = await talk(
      {
        chain,
        provider,
        signal,
        model,
        tools: work.tools,
        offered,
        parameters: parametersOf(profile),
        layers,
        sharing: work.enableShareContext,
        compose: (commit) => {
          if (runId === null)
            return composeContext(chain, findCommit(chain, commit), {
              ...startCall(chain, as.ticketId, isAnswer),
              sharing: work.enableShareContext,
            });
          invokeRun(chain, runId);
          return composeRun({ chain, tools: work.tools, layers, sharing: work.enableShareContext }, runId, commit);
        },
        as,
        tell: diary.tell,
        ask: (call) => askPerson(work, call),
        made: ({ endCommit }) => diary.made(endCommit),
        actor: { who: actorOf(chain, who, performer), runId, readsProject: mayReadProject(profile), context: () => tip },
        moved: (commit) => {
          tip = commit;
          noteTip(chain, jobId, commit);
          diary.made(commit);
        },
      },
      from,
    );
    own.end({ status: 'completed', ...done });
    return 'success';
  } catch (error) {
    if (!(diary.isClosed() || error instanceof GivenBack)) endFailed(own, { status: signal.aborted ? 'canceled' : 'failed', text: '', tip });
    throw error;
  }
}

async function carryOutTurn({ chain, layers }: RunnerParts, work: Performing, turnId: string, provider: ModelProvider): Promise<Outcome> {
  const { diary, signal, performer, jobId } = work;
  const turn = await performTurn(
    {
      chain,
      provider,
      signal,
      model: performer.model,
      tools: work.tools,
      layers,
      sharing: work.enableShareContext,
      tell: diary.tell,
      ask: (call) => askPerson(work, call),
      made: ({ endCommit }) => diary.made(endCommit),
      held: () => refuseIfTakenOver(chain, jobId),
    },
    turnId,
  );
  return turn.status === 'success' ? 'success' : turn.status === 'canceled' ? 'stopped' : 'failed';
}

/** Asks a person to answer a call of a tool that Stemma does not have, or ends the job, as the policy says. */
export function askPerson({ diary, otherTools }: Performing, { id, name, arguments: given }: CalledTool): Promise<PersonAnswer> {
  if (otherTools === 'stop') throw new StemmaError('UNAUTHORIZED', `The model called ${name}, which Stemma does not have. The policy says to stop.`);
  return diary.ask({ requestId: id, toolName: name, arguments: JSON.stringify(given) });
}

/** Answers a context with a model or its recording. Only a complete reply becomes a commit. */
async function answerCommit(
  { chain }: RunnerParts,
  { diary, signal, performer, target }: Performing,
  commit: ContextId,
  provider: ModelProvider | undefined,
): Promise<Outcome> {
  const { id } = findCommit(chain, commit);
  const named = isAgent(performer) ? '' : performer.provider;
  const reply = answerContext(chain, { id, provider: named, model: performer.model }, provider ? [provider] : [], signal);
  for (;;) {
    const { value, done } = await reply.next();
    if (done) {
      for (const made of value.commits) diary.made(made);
      signal.throwIfAborted();
      return value.commits.length > 0 ? 'success' : 'failed';
    }
    if (value.kind === 'failed') throw new StemmaError('UNAVAILABLE', value.delta, { work: target.work });
    tellPart(diary, value);
  }
}
