import * as experiments from '../experiments/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `experiment`. */
export const experimentRouter = {
  save: os.experiment.save.handler(({ input, context }) => experiments.saveExperiment(chainOf(context), input)),
  list: os.experiment.list.handler(({ context }) => experiments.listExperiments(chainOf(context))),
  get: os.experiment.get.handler(({ input, context }) => experiments.getExperiment(chainOf(context), input.experimentId)),
  remove: os.experiment.remove.handler(({ input, context }) => {
    experiments.removeExperiment(chainOf(context), input.experimentId);
    return {};
  }),
  run: os.experiment.run.handler(({ input, context, signal }) =>
    experiments.runExperiment(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  judge: os.experiment.judge.handler(({ input, context }) => experiments.judgeResult(chainOf(context), input)),
  export: os.experiment.export.handler(({ input, context }) => {
    context.session.checkOutput(input.path);
    return experiments.exportExperiment(chainOf(context), input);
  }),
};
