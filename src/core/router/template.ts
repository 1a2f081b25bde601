import { badRequest } from '../base/index.js';
import { listTemplates, putTemplate, templateOf } from '../chain/index.js';
import { reads, writes } from './procedure.js';

/** The procedures of `template`. */
export const templateRouter = {
  put: writes.template.put.handler(({ input, context }) => {
    if ((input.data === undefined) === (input.text === undefined))
      throw badRequest('data', 'give the content of the template as either data or text');
    const bytes = input.data === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.data, 'base64');
    return putTemplate(context.chain, { ...input, bytes, contentType: input.contentType ?? 'text/plain' });
  }),
  get: reads.template.get.handler(({ input, context }) => templateOf(context.chain, input.template)),
  list: reads.template.list.handler(({ input, context }) => listTemplates(context.chain, input.name)),
};
