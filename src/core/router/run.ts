import { layerSources } from '../assist/index.js';
import type { InputOf } from '../contract/index.js';
import type { ReadProject } from '../project/index.js';
import { previewRun, previewStart } from '../runner/index.js';
import * as timeline from '../timeline/index.js';
import { reads, searches, writes } from './procedure.js';

type Previewed = Pick<InputOf<'run.timeline'>, 'wire' | 'model' | 'budget' | 'tools' | 'enableShareContext'>;

const optionsOf = ({ project }: { readonly project: ReadProject }, { wire, model, budget, tools, enableShareContext }: Previewed) => ({
  ...{ chain: project.chain, layers: layerSources(project) },
  ...{ wire, model, budget, tools, sharing: enableShareContext },
});

export const runRouter = {
  list: reads.run.list.handler(({ input, context }) => timeline.listRuns(context.chain, input)),
  get: reads.run.get.handler(({ input, context }) => timeline.getRun(context.chain, input.runId)),
  timeline: searches.run.timeline.handler(({ input, context }) => previewRun(optionsOf(context, input), input.runId)),
  preview: searches.run.preview.handler(({ input, context }) => previewStart(optionsOf(context, input), input)),
  start: writes.run.start.handler(({ input, context }) => timeline.startByTrigger(context.chain, input.entityId, input.trigger)),
  enterSpace: writes.run.enterSpace.handler(({ input, context }) => timeline.enterSpace(context.chain, input.runId, input.spaceId)),
  send: writes.run.send.handler(({ input, context }) => timeline.send(context.chain, input)),
  read: writes.run.read.handler(({ input, context }) => timeline.readMessages(context.chain, input)),
  tick: writes.run.tick.handler(({ context }) => timeline.tick(context.chain)),
  finish: writes.run.finish.handler(({ input, context }) => timeline.finishRun(context.chain, input)),
  goals: reads.run.goals.handler(({ input, context }) => timeline.goalsOf(context.chain, input.entityId)),
  setGoals: writes.run.setGoals.handler(({ input, context }) => timeline.setGoals(context.chain, input.entityId, input.goals)),
  memories: reads.run.memories.handler(({ input, context }) => timeline.memoriesOf(context.chain, input.entityId)),
  setMemory: writes.run.setMemory.handler(({ input, context }) =>
    timeline.setMemory(context.chain, input.entityId, input.topic, input.content, input.memoryId),
  ),
  plans: reads.run.plans.handler(({ input, context }) => timeline.plansOf(context.chain, input.entityId)),
  setPlan: writes.run.setPlan.handler(({ input, context }) => timeline.setPlan(context.chain, input)),
};
