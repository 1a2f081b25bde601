import { type ContextId, StemmaError, stringAt } from '../base/index.js';
import type { ComposedCall } from '../composer/index.js';
import type { Card } from '../contract/index.js';
import { callSettings } from '../handover/index.js';
import type { ModelProvider } from '../turns/index.js';
import type { PersonAnswer } from './asking.js';
import type { CalledTool } from './call.js';
import type { Diary } from './diary.js';
import { GivenBack, noteTip } from './jobs.js';
import { mayReadProject, type OfferedFor, offeredTo } from './offered.js';
import type { Performing, RunnerParts } from './parts.js';
import { actorOf } from './rights.js';
import { talk } from './talk.js';
import type { TurnCallParts } from './turn.js';
import type { OwnWork, Start, WorkEnd, WorkOutcome } from './work-kind.js';

/** How a model is addressed: with which profile, for which kind of work, and with which calls. */
export interface ModelCalls {
  readonly provider: ModelProvider;
  readonly profile: Card | undefined;
  readonly offeredFor: OfferedFor;
  /** Composes the next call on top of a commit. Called in a transaction. */
  compose(tip: ContextId, as: Start['as']): ComposedCall;
}

/** What the model calls of a job share. */
export const turnCalls = ({ chain, layers }: RunnerParts, work: Performing, provider: ModelProvider): Omit<TurnCallParts, 'model'> => ({
  chain,
  layers,
  provider,
  signal: work.signal,
  tools: work.tools,
  sharing: work.enableShareContext,
  tell: work.diary.tell,
  ask: (call) => askPerson(work, call),
  made: ({ endCommit }) => work.diary.made(endCommit),
});

/** Lets a model carry out a run or the start of a ticket, in the name of its agent. */
export async function converse(
  parts: RunnerParts,
  work: Performing,
  own: OwnWork | undefined,
  { provider, profile, offeredFor, compose }: ModelCalls,
): Promise<WorkOutcome> {
  const { chain } = parts;
  const { diary, signal, performer, jobId } = work;
  const start = own?.start();
  if (!(own && start)) return nothingLeft(diary);
  const { from, who, runId, as } = start;
  let tip = from;
  const parameters = callSettings(profile);
  const model = performer.model ?? stringAt(parameters, 'model') ?? (await provider.models()).models[0];
  try {
    const done = await talk(
      {
        ...turnCalls(parts, work, provider),
        model,
        parameters,
        as,
        offered: offeredTo(profile, offeredFor, work.tools),
        compose: (commit) => compose(commit, as),
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

/** Ends a job whose work another one has done meanwhile. */
export function nothingLeft(diary: Diary): WorkOutcome {
  diary.tell({ kind: 'notice', text: 'Nothing is left to do: this work has ended meanwhile.' });
  return 'success';
}

/** Asks a person to answer a call of a tool that Stemma does not have, or ends the job, as the policy says. */
function askPerson({ diary, otherTools }: Performing, { id, name, arguments: given }: CalledTool): Promise<PersonAnswer> {
  if (otherTools === 'stop') throw new StemmaError('UNAUTHORIZED', `The model called ${name}, which Stemma does not have. The policy says to stop.`);
  return diary.ask({ requestId: id, toolName: name, arguments: JSON.stringify(given) });
}

/** Ends failed or stopped work, so that its chain is complete. Work that ended elsewhere stays as it is. */
export function endFailed(work: OwnWork, end: Omit<WorkEnd, 'pauses'>): void {
  try {
    work.end({ ...end, pauses: false });
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
  }
}
