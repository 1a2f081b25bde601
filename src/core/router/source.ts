import { getSource, listSources } from '../import/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `source`. */
export const sourceRouter = {
  list: os.source.list.handler(({ context }) => listSources(chainOf(context))),
  get: os.source.get.handler(({ input, context }) => {
    context.session.checkOutput(input.path);
    return getSource(chainOf(context), input.sourceId, input.path);
  }),
};
