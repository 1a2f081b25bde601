import { StemmaError } from '../base/index.js';
import { blameFile, noteFile, sessionsOfCommit, traceFile } from '../blame/index.js';
import { live, reads } from './procedure.js';

/** The procedures of `blame`. They read the file, and change nothing but a note of git if they are asked to. */
export const blameRouter = {
  file: reads.blame.file.handler(async ({ input, context }) => {
    await context.reading.prepare('analysis');
    return blameFile(context.chain, input);
  }),
  trace: reads.blame.trace.handler(async ({ input, context }) => {
    await context.reading.prepare('analysis');
    return { record: traceFile(context.chain, input) };
  }),
  notes: live.blame.notes.handler(async ({ input, context: { session, project } }) => {
    const { git } = session.engine.options;
    if (!git) throw new StemmaError('UNAVAILABLE', 'This process does not run git.', { reason: 'git' });
    await session.reading.prepare('analysis');
    return noteFile(project.chain, { git, checkOutput: session.checkOutput }, input);
  }),
  commit: reads.blame.commit.handler(async ({ input, context }) => {
    await context.reading.prepare('analysis');
    return sessionsOfCommit(context.chain, input);
  }),
};
