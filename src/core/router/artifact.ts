import { type Artifacts, shortOf } from '../artifacts/index.js';
import { badRequest } from '../base/index.js';
import { inSteps, roots } from '../project/index.js';
import { releaseDeleted } from '../sessions/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `artifact`. */
export const artifactRouter = {
  put: os.artifact.put.handler(({ input, context }) => {
    if ((input.data === undefined) === (input.text === undefined))
      throw badRequest('data', 'give the content of the artifact as either data or text');
    const bytes = input.data === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.data, 'base64');
    const { artifacts } = chainOf(context);
    const put = artifacts.transaction(() => artifacts.put(bytes, input));
    return { ref: put.ref, short: shortOf(put.ref), size: put.size, storedBytes: put.storedSize, existed: put.existed };
  }),
  get: os.artifact.get.handler(({ input, context }) => {
    const { artifacts } = chainOf(context);
    const no = artifacts.find(input.ref);
    const { size, contentType } = artifacts.stat(no);
    const bytes = artifacts.readRange(no, input.start ?? 0, input.end ?? size);
    return { data: Buffer.from(bytes).toString('base64'), contentType, size };
  }),
  stat: os.artifact.stat.handler(({ input, context }) => {
    const { artifacts } = chainOf(context);
    return statOf(artifacts, artifacts.find(input.ref));
  }),
  setPolicy: os.artifact.setPolicy.handler(({ input, context }) => {
    const { artifacts } = chainOf(context);
    const no = artifacts.find(input.ref);
    artifacts.setPolicy(no, input.policy, input.ttlSeconds);
    return statOf(artifacts, no);
  }),
  gc: os.artifact.gc.handler(({ input: { deleted, ...input }, context: { session } }) => {
    const { chain, replicas } = session.project();
    const release = deleted ? () => releaseDeleted(chain) : undefined;
    return inSteps(chain.artifacts.gc({ ...input, roots, replicas: replicas.names(), release }));
  }),
  repack: os.artifact.repack.handler(({ context }) => inSteps(chainOf(context).artifacts.repack())),
  dropCaches: os.artifact.dropCaches.handler(({ context }) => ({ freedBytes: chainOf(context).artifacts.dropCaches() })),
};

function statOf(artifacts: Artifacts, no: Parameters<Artifacts['stat']>[0]) {
  const { no: _, storedSize, labels, ...stat } = artifacts.stat(no);
  return { ...stat, short: shortOf(stat.ref), storedBytes: storedSize, labels: [...labels] };
}
