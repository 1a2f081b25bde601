import { compactContext, projectServices } from '../assist/index.js';
import { commitOf, entries } from '../chain/index.js';
import * as composer from '../composer/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `compose`. */
export const composeRouter = {
  messages: os.compose.messages.handler(({ input }) => composer.composeMessages(input)),
  collect: os.compose.collect.handler(({ input }) => {
    const { contexts, problems } = composer.collectContexts({ ...input, services: composer.servicesOf(input.services ?? {}) });
    return { contexts, problems: [...problems] };
  }),
  patch: os.compose.patch.handler(({ input }) => {
    const patch = composer.buildPatch(input.state, input.calls as readonly composer.StateCall[]);
    return { patch, state: composer.applyPatch(input.state, patch) };
  }),
  shorten: os.compose.shorten.handler(({ input }) => composer.shortenMemory(input)),
  body: os.compose.body.handler(({ input }) => ({ body: composer.requestBody(input.messages, input.provider, input.model) })),
  compact: os.compose.compact.handler(({ input, context, signal }) =>
    compactContext(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
  ),
  preview: os.compose.preview.handler(({ input, context }) => {
    const project = context.session.project();
    const { id } = commitOf(project.chain, input.id);
    return composer.previewContext(entries(project.chain, { id }).entries, projectServices(project, id), input);
  }),
};
