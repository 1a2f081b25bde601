import { blameFile, sessionsOfCommit, traceFile } from '../blame/index.js';
import { reads } from './procedure.js';

/** The procedures of `blame`. They read the file and change nothing. */
export const blameRouter = {
  file: reads.blame.file.handler(async ({ input, context }) => {
    await context.reading.prepare('analysis');
    return blameFile(context.chain, input);
  }),
  trace: reads.blame.trace.handler(async ({ input, context }) => {
    await context.reading.prepare('analysis');
    return { record: traceFile(context.chain, input) };
  }),
  commit: reads.blame.commit.handler(async ({ input, context }) => {
    await context.reading.prepare('analysis');
    return sessionsOfCommit(context.chain, input);
  }),
};
