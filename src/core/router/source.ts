import { getSource, listSources } from '../import/index.js';
import { reads, writesUnless } from './procedure.js';

export const sourceRouter = {
  list: reads.source.list.handler(({ context }) => listSources(context.chain)),
  get: writesUnless('path').source.get.handler(({ input, context }) => {
    context.session.checkOutput(input.path);
    return getSource(context.chain, input.sourceId, input.path);
  }),
};
