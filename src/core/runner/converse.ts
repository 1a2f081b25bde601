import { type ContextId, StemmaError, stringAt } from '../base/index.js';
import type { ComposedCall } from '../composer/index.js';
import type { Card } from '../contract/index.js';
import { callSettings } from '../handover/index.js';
import type { ModelProvider } from '../turns/index.js';
import type { PersonAnswer } from './asking.js';
import type { CalledTool } from './call.js';
import { mayReadProject, type OfferedFor, offeredTo } from './offered.js';
import { workAs } from './own-work.js';
import type { Performing, RunnerParts } from './parts.js';
import { actorOf } from './rights.js';
import { talk } from './talk.js';
import type { TurnCallParts } from './turn.js';
import type { OwnWork, Start, WorkOutcome } from './work-kind.js';

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
  const { performer, tools } = work;
  const parameters = callSettings(profile);
  return workAs(parts.chain, work, own, async ({ from, who, runId, as, tip, moved }) => {
    const model = performer.model ?? stringAt(parameters, 'model') ?? (await provider.models()).models[0];
    const offered = offeredTo(profile, offeredFor, tools);
    const actor = { who: actorOf(parts.chain, who, performer), runId, readsProject: mayReadProject(profile), context: tip };
    const calls = { ...turnCalls(parts, work, provider), model, parameters, offered, compose: (commit: ContextId) => compose(commit, as) };
    return talk({ ...calls, as, actor, moved }, from);
  });
}

/** Asks a person to answer a call of a tool that Stemma does not have, or ends the job, as the policy says. */
function askPerson({ diary, otherTools }: Performing, { id, name, arguments: given }: CalledTool): Promise<PersonAnswer> {
  if (otherTools === 'stop') throw new StemmaError('UNAUTHORIZED', `The model called ${name}, which Stemma does not have. The policy says to stop.`);
  return diary.ask({ requestId: id, toolName: name, arguments: JSON.stringify(given) });
}
