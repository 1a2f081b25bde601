import { type ReadArtifacts, shortOf } from '../artifacts/index.js';
import { badRequest } from '../base/index.js';
import { inSteps, roots } from '../project/index.js';
import { releaseDeleted } from '../sessions/index.js';
import { reads, writes, writesUnless } from './procedure.js';

export const artifactRouter = {
  put: writes.artifact.put.handler(({ input, context }) => {
    const bytes = contentOf(input, 'artifact');
    const { artifacts } = context.chain;
    const put = artifacts.transaction(() => artifacts.put(bytes, input));
    return { ref: put.ref, short: shortOf(put.ref), size: put.size, storedBytes: put.storedSize, existed: put.existed };
  }),
  get: reads.artifact.get.handler(({ input, context }) => {
    const { artifacts } = context.chain;
    const no = artifacts.find(input.ref);
    const { size, contentType } = artifacts.stat(no);
    const bytes = artifacts.readRange(no, input.start ?? 0, input.end ?? size);
    return { data: Buffer.from(bytes).toString('base64'), contentType, size };
  }),
  stat: reads.artifact.stat.handler(({ input, context }) => {
    const { artifacts } = context.chain;
    return statOf(artifacts, artifacts.find(input.ref));
  }),
  setPolicy: writes.artifact.setPolicy.handler(({ input, context }) => {
    const { artifacts } = context.chain;
    const no = artifacts.find(input.ref);
    artifacts.setPolicy(no, input.policy, input.ttlSeconds);
    return statOf(artifacts, no);
  }),
  gc: writesUnless('dryRun').artifact.gc.handler(({ input: { deleted, ...input }, context: { session } }) => {
    const { chain, replicas } = session.project();
    const release = deleted ? () => releaseDeleted(chain) : undefined;
    return inSteps(chain.artifacts.gc({ ...input, roots, replicas: replicas.names(), release }));
  }),
  repack: writes.artifact.repack.handler(({ context }) => inSteps(context.chain.artifacts.repack())),
  dropCaches: writes.artifact.dropCaches.handler(({ context }) => ({ freedBytes: context.chain.artifacts.dropCaches() })),
};

/** The content that an input gives. @throws BAD_REQUEST */
export function contentOf({ data, text }: { readonly data?: string | undefined; readonly text?: string | undefined }, what: string): Buffer {
  if ((data === undefined) === (text === undefined)) throw badRequest('data', `give the content of the ${what} as either data or text`);
  return data === undefined ? Buffer.from(text ?? '') : Buffer.from(data, 'base64');
}

function statOf(artifacts: ReadArtifacts, no: Parameters<ReadArtifacts['stat']>[0]) {
  const { no: _, storedSize, labels, ...stat } = artifacts.stat(no);
  return { ...stat, short: shortOf(stat.ref), storedBytes: storedSize, labels: [...labels] };
}
