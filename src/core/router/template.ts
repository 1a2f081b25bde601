import { listTemplates, putTemplate, templateOf } from '../chain/index.js';
import { contentOf } from './artifact.js';
import { reads, writes } from './procedure.js';

export const templateRouter = {
  put: writes.template.put.handler(({ input, context }) =>
    putTemplate(context.chain, { ...input, bytes: contentOf(input, 'template'), contentType: input.contentType ?? 'text/plain' }),
  ),
  get: reads.template.get.handler(({ input, context }) => templateOf(context.chain, input.template)),
  list: reads.template.list.handler(({ input, context }) => listTemplates(context.chain, input.name)),
};
