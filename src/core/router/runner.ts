import { answerQuestion, followJob, listJobs, logOf, type RunnerParts, repeatWork, startJob, stopJob } from '../runner/index.js';
import { chainOf, os, type RouterContext } from './procedure.js';

const partsOf = ({ session }: RouterContext): RunnerParts => session.engine.runner(session.project());

/** The procedures of `runner`. */
export const runnerRouter = {
  start: os.runner.start.handler(({ input, context, signal }) => {
    const parts = partsOf(context);
    return followJob(parts, startJob(parts, input).jobId, signal);
  }),
  repeat: os.runner.repeat.handler(({ input, context, signal }) => repeatWork(partsOf(context), input, signal)),
  stop: os.runner.stop.handler(({ input, context }) => stopJob(partsOf(context), input.jobId)),
  list: os.runner.list.handler(({ input, context }) =>
    listJobs(chainOf(context), input.status, context.session.project().access.mode === 'read-write'),
  ),
  log: os.runner.log.handler(({ input, context }) => logOf(chainOf(context), input)),
  answer: os.runner.answer.handler(({ input, context }) => answerQuestion(partsOf(context), input)),
  agents: os.runner.agents.handler(({ context }) =>
    partsOf(context).agents.map(({ agent, title, resume, permissions, mcp, problem }) => ({
      agent,
      title,
      resume,
      permissions,
      mcp,
      problem: problem(),
    })),
  ),
  getPolicy: os.runner.getPolicy.handler(({ context: { session } }) => {
    const { projectId, dir } = session.project();
    return session.engine.policies.get(projectId, dir);
  }),
  setPolicy: os.runner.setPolicy.handler(({ input, context: { session } }) => {
    const { projectId, dir } = session.project();
    return session.engine.policies.set(projectId, dir, input);
  }),
};
