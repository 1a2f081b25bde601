import * as experiments from '../experiments/index.js';
import { reads, writes } from './procedure.js';

export const experimentRouter = {
  save: writes.experiment.save.handler(({ input, context }) => experiments.saveExperiment(context.chain, input)),
  list: reads.experiment.list.handler(({ context }) => experiments.listExperiments(context.chain)),
  get: reads.experiment.get.handler(({ input, context }) => experiments.getExperiment(context.chain, input.experimentId)),
  remove: writes.experiment.remove.handler(({ input, context }) => {
    experiments.removeExperiment(context.chain, input.experimentId);
    return {};
  }),
  run: writes.experiment.run.handler(({ input, context, signal }) => experiments.runExperiment(context.chain, input, context.providers, signal)),
  judge: writes.experiment.judge.handler(({ input, context }) => experiments.judgeResult(context.chain, input)),
  export: reads.experiment.export.handler(async ({ input, context }) => {
    await context.reading.checkOutput(input.path);
    return experiments.exportExperiment(context.chain, input);
  }),
};
