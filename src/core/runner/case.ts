import { badRequest, StemmaError } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Performer, Work } from '../contract/index.js';
import { caseNamed, runExperiment } from '../experiments/index.js';
import type { ModelProvider } from '../turns/index.js';
import { LimitReached } from './limits.js';
import { isAgent, type Performing } from './parts.js';
import { tellPart } from './telling.js';

type CaseWork = Extract<Work, { readonly caseId: string }>;

/** Checks that the performer is the provider (and model, if any) that the case names. @throws BAD_REQUEST */
export function checkCasePerformer(chain: ReadChain, { experimentId, caseId }: CaseWork, performer: Performer): void {
  const { provider, model } = caseNamed(chain, experimentId, caseId).of;
  if (isAgent(performer))
    throw badRequest(
      'performer.agent',
      `${performer.agent} is an agent, and the case ${caseId} names the provider ${provider}: choose this provider.`,
    );
  if (performer.provider !== provider)
    throw badRequest('performer.provider', `The case ${caseId} names the provider ${provider}, not ${performer.provider}.`);
  if (performer.model !== undefined && performer.model !== model)
    throw badRequest(
      'performer.model',
      `The case ${caseId} names ${model === undefined ? 'no model' : `the model ${model}`}, not ${performer.model}.`,
    );
}

/** Makes the missing replies of a case. Each is a branch and a row of the experiment. @throws LimitReached; UNAVAILABLE if a reply failed */
export async function runCase(
  chain: WriteChain,
  { diary, signal }: Performing,
  { experimentId, caseId }: CaseWork,
  provider: ModelProvider | undefined,
): Promise<'success'> {
  let limit: LimitReached | undefined;
  const noticing = provider && {
    ...provider,
    models: () => provider.models(),
    async *stream(...asked: Parameters<ModelProvider['stream']>) {
      try {
        yield* provider.stream(...asked);
      } catch (error) {
        // A failed reply becomes a row, but a limit ends the job.
        if (error instanceof LimitReached) limit = error;
        throw error;
      }
    },
  };
  const run = runExperiment(chain, { experimentId, caseIds: [caseId], onlyMissing: true }, noticing ? [noticing] : [], signal);
  for (;;) {
    const { value, done } = await run.next();
    if (done) {
      signal.throwIfAborted();
      if (limit) throw limit;
      const problem = value.results.find((each) => each.problem !== null)?.problem;
      if (problem) throw new StemmaError('UNAVAILABLE', problem, { work: caseId });
      return 'success';
    }
    if (value.part.kind === 'commit') diary.made(value.part.delta as never);
    else tellPart(diary, value.part);
  }
}
