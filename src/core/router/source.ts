import { getSource, listSources } from '../import/index.js';
import { reads, writesIf } from './procedure.js';

export const sourceRouter = {
  list: reads.source.list.handler(({ context }) => listSources(context.chain)),
  get: writesIf<{ path?: unknown }>(({ path }) => path === undefined || path === false).source.get.handler(({ input, context }) => {
    context.session.checkOutput(input.path);
    return getSource(context.chain, input.sourceId, input.path);
  }),
};
