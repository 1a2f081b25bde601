import * as timeline from '../timeline/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `run`. */
export const runRouter = {
  list: os.run.list.handler(({ input, context }) => timeline.listRuns(chainOf(context), input)),
  get: os.run.get.handler(({ input, context }) => timeline.getRun(chainOf(context), input.runId)),
  timeline: os.run.timeline.handler(({ input, context }) => timeline.runTimeline(chainOf(context), input.runId, input.budget)),
  preview: os.run.preview.handler(({ input, context }) => timeline.previewTimeline(chainOf(context), input)),
  start: os.run.start.handler(({ input, context }) => timeline.startByTrigger(chainOf(context), input.entityId, input.trigger)),
  enterSpace: os.run.enterSpace.handler(({ input, context }) => timeline.enterSpace(chainOf(context), input.runId, input.spaceId)),
  send: os.run.send.handler(({ input, context }) => timeline.send(chainOf(context), input)),
  read: os.run.read.handler(({ input, context }) => timeline.readMessages(chainOf(context), input)),
  tick: os.run.tick.handler(({ context }) => timeline.tick(chainOf(context))),
  finish: os.run.finish.handler(({ input, context }) => timeline.finishRun(chainOf(context), input)),
  goals: os.run.goals.handler(({ input, context }) => timeline.goalsOf(chainOf(context), input.entityId)),
  setGoals: os.run.setGoals.handler(({ input, context }) => timeline.setGoals(chainOf(context), input.entityId, input.goals)),
  memories: os.run.memories.handler(({ input, context }) => timeline.memoriesOf(chainOf(context), input.entityId)),
  setMemory: os.run.setMemory.handler(({ input, context }) =>
    timeline.setMemory(chainOf(context), input.entityId, input.topic, input.content, input.memoryId),
  ),
  plans: os.run.plans.handler(({ input, context }) => timeline.plansOf(chainOf(context), input.entityId)),
  setPlan: os.run.setPlan.handler(({ input, context }) => timeline.setPlan(chainOf(context), input)),
};
