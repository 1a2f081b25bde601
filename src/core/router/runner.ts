import { picked } from '../base/index.js';
import type { Session } from '../project/index.js';
import { allowWork, answerQuestion, followJob, listJobs, logOf, type RunnerParts, repeatWork, startJob, stopJob } from '../runner/index.js';
import { live, reads, writes } from './procedure.js';

const partsOf = ({ session }: { readonly session: Session }): RunnerParts => session.engine.runner(session.project());

export const runnerRouter = {
  start: writes.runner.start.handler(({ input, context, signal }) => {
    const parts = partsOf(context);
    const { jobId } = startJob(parts, input);
    allowWork(parts.chain, input.what);
    return followJob(parts, jobId, signal);
  }),
  allow: writes.runner.allow.handler(({ input, context }) => ({ received: allowWork(context.chain, input.what) })),
  repeat: writes.runner.repeat.handler(({ input, context, signal }) => repeatWork(partsOf(context), input, signal)),
  stop: writes.runner.stop.handler(({ input, context }) => stopJob(partsOf(context), input.jobId)),
  list: reads.runner.list.handler(({ input, context }) => listJobs(context.chain, input.status)),
  log: reads.runner.log.handler(({ input, context }) => logOf(context.chain, input)),
  answer: writes.runner.answer.handler(({ input, context }) => answerQuestion(partsOf(context), input)),
  agents: live.runner.agents.handler(({ context }) =>
    partsOf(context).agents.map((program) => ({
      ...picked(program, 'agent', 'title', 'resume', 'permissions', 'mcp'),
      problem: program.problem(),
    })),
  ),
  getPolicy: live.runner.getPolicy.handler(({ context: { session } }) => {
    const { projectId, dir } = session.project();
    return session.engine.policies.get(projectId, dir);
  }),
  setPolicy: writes.runner.setPolicy.handler(({ input, context: { session } }) => {
    const { projectId, dir } = session.project();
    return session.engine.policies.set(projectId, dir, input);
  }),
};
