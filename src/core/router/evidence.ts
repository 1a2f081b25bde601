import { packEvidence, verifyFile } from '../evidence/index.js';
import { reads, scans } from './procedure.js';

export const evidenceRouter = {
  pack: reads.evidence.pack.handler(async ({ input, context }) => {
    await context.reading.checkOutput(input.path);
    const { projectId, name } = context.project;
    return packEvidence(context.chain, { projectId, name }, input);
  }),
  verify: scans.evidence.verify.handler(({ input }) => verifyFile(input.path)),
};
