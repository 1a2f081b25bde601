import { sha256Of } from '../artifacts/index.js';
import { badRequest, conflict, finished, StemmaError } from '../base/index.js';
import { allowReceived, receivedAt, type WriteChain } from '../chain/index.js';
import { caseNamed, missingCases, newestVersion, runExperiment } from '../experiments/index.js';
import type { ModelProvider } from '../turns/index.js';
import { LimitReached } from './limits.js';
import { isAgent, type Performing } from './parts.js';
import { tellPart } from './telling.js';
import { type CaseWork, jobTitle, quiet, type WorkKind } from './work-kind.js';

/** A case of an experiment that lacks replies. Its provider answers, so no agent carries it out. */
export const caseWork: WorkKind<CaseWork> = {
  ...quiet,
  hasRecording: true,
  target: (chain, { experimentId, caseId }) => {
    const { of, missing, key } = caseNamed(chain, experimentId, caseId);
    if (missing === 0) throw conflict(`The case ${caseId} has all its replies. \`experiment.run\` runs it again.`, { id: caseId });
    // A changed case counts as new work.
    const version = sha256Of(key).toString('hex').slice(0, 16);
    const holds = `case:${experimentId}:${caseId}`;
    return { holds, work: `${holds}:${version}`, title: jobTitle(of.title || caseId) };
  },
  open: (chain, { for: of, performer: by }) => {
    if (!('experiment' in of && 'provider' in by)) return [];
    return missingCases(chain, of.experiment)
      .filter((each) => by.provider === each.of.provider && (by.model === undefined || by.model === each.of.model))
      .map(({ experimentId, of: { caseId } }) => ({ experimentId, caseId }));
  },
  received: (chain, what) => {
    const version = newestVersion(chain, what.experimentId);
    return version === undefined ? null : receivedAt(chain, 'experimentVersion', version);
  },
  allow: (chain, what) => {
    const version = newestVersion(chain, what.experimentId);
    if (version !== undefined) allowReceived(chain, 'experimentVersion', version);
  },
  checkPerformer: (chain, { experimentId, caseId }, performer) => {
    const { provider, model } = caseNamed(chain, experimentId, caseId).of;
    const problem = isAgent(performer)
      ? ['agent', `${performer.agent} is an agent, and the case ${caseId} names the provider ${provider}: choose this provider.`]
      : performer.provider !== provider
        ? ['provider', `The case ${caseId} names the provider ${provider}, not ${performer.provider}.`]
        : performer.model !== undefined && performer.model !== model
          ? ['model', `The case ${caseId} names ${model === undefined ? 'no model' : `the model ${model}`}, not ${performer.model}.`]
          : undefined;
    if (problem) throw badRequest(`performer.${problem[0]}`, problem[1] as string);
  },
  own: () => undefined,
  perform: ({ chain }, work, what, provider) => runCase(chain, work, what, provider),
};

/** Makes the missing replies of a case. Each is a branch and a row of the experiment. @throws LimitReached; UNAVAILABLE if a reply failed */
async function runCase(
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
  const { results } = await finished(run, ({ part }) => {
    if (part.kind === 'commit') diary.made(part.delta as never);
    else tellPart(diary.tell, part);
  });
  signal.throwIfAborted();
  if (limit) throw limit;
  const problem = results.find((each) => each.problem !== null)?.problem;
  if (problem) throw new StemmaError('UNAVAILABLE', problem, { work: caseId });
  return 'success';
}
