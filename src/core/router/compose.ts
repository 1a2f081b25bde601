import { compactContext, composedRows, composition, restoreState, saveState } from '../assist/index.js';
import * as composer from '../composer/index.js';
import { settingsOf } from '../project/index.js';
import { chainOf, os, type RouterContext } from './procedure.js';

/** The call with the project's switch for sharing, unless the call has its own. */
const shared = <Input extends { enableShareContext?: boolean | undefined }>(input: Input, { session }: RouterContext): Input => {
  const project = session.openProject();
  return input.enableShareContext === undefined && project ? { ...input, ...settingsOf(project.chain) } : input;
};

/** The procedures of `compose`. */
export const composeRouter = {
  saveState: os.compose.saveState.handler(({ input, context }) => saveState(chainOf(context), input)),
  restoreState: os.compose.restoreState.handler(({ input, context }) => restoreState(chainOf(context), input)),
  messages: os.compose.messages.handler(({ input, context }) => composer.composeMessages(shared(input, context))),
  collect: os.compose.collect.handler(({ input, context }) => {
    const { contexts, problems } = composer.collectContexts({ ...shared(input, context), services: composer.servicesOf(input.services ?? {}) });
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
  preview: os.compose.preview.handler(({ input, context }) => composition(context.session.project(), shared(input, context))),
  rows: os.compose.rows.handler(({ input, context }) => {
    const { offset, limit, longest, ...request } = shared(input, context);
    return composedRows(context.session.project(), request, { offset, limit, longest });
  }),
};
