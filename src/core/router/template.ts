import { badRequest } from '../base/index.js';
import { listTemplates, putTemplate, templateOf } from '../chain/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `template`. */
export const templateRouter = {
  put: os.template.put.handler(({ input, context }) => {
    if ((input.data === undefined) === (input.text === undefined))
      throw badRequest('data', 'give the content of the template as either data or text');
    const bytes = input.data === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.data, 'base64');
    return putTemplate(chainOf(context), { ...input, bytes, contentType: input.contentType ?? 'text/plain' });
  }),
  get: os.template.get.handler(({ input, context }) => templateOf(chainOf(context), input.template)),
  list: os.template.list.handler(({ input, context }) => listTemplates(chainOf(context), input.name)),
};
