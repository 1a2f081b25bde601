import { unavailable } from '../base/index.js';
import { blameFile, noteFile, sessionsOfCommit, traceFile } from '../blame/index.js';
import { analyzes, live } from './procedure.js';

/** The procedures of `blame`. They read the file, and change nothing but a note of git if they are asked to. */
export const blameRouter = {
  file: analyzes.blame.file.handler(({ input, context }) => blameFile(context.chain, input)),
  trace: analyzes.blame.trace.handler(({ input, context }) => ({ record: traceFile(context.chain, input) })),
  notes: live.blame.notes.handler(async ({ input, context: { session, project } }) => {
    const { git } = session.engine.options;
    if (!git) throw unavailable('This process does not run git.', { reason: 'git' });
    await session.reading.prepare('analysis');
    return noteFile(project.chain, { git, checkOutput: session.checkOutput }, input);
  }),
  commit: analyzes.blame.commit.handler(({ input, context }) => sessionsOfCommit(context.chain, input)),
};
