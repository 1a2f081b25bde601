import { compactContext, composedRows, composition, restoreState, saveState } from '../assist/index.js';
import * as composer from '../composer/index.js';
import { type Reading, readSettings } from '../project/index.js';
import { machine, reads, scans, searches, writes } from './procedure.js';

/** The call with the project's switch for sharing, unless the call has its own. */
const shared = <Input extends { enableShareContext?: boolean | undefined }>(input: Input, { reading }: { readonly reading: Reading }): Input => {
  const project = reading.openProject();
  return input.enableShareContext === undefined && project ? { ...input, ...readSettings(project.chain) } : input;
};

export const composeRouter = {
  saveState: writes.compose.saveState.handler(({ input, context }) => saveState(context.chain, input)),
  restoreState: reads.compose.restoreState.handler(({ input, context }) => restoreState(context.chain, input)),
  messages: scans.compose.messages.handler(({ input, context }) => composer.composeMessages(shared(input, context))),
  collect: scans.compose.collect.handler(({ input, context }) => {
    const { contexts, problems } = composer.collectContexts({ ...shared(input, context), services: composer.servicesOf(input.services ?? {}) });
    return { contexts, problems: [...problems] };
  }),
  patch: machine.compose.patch.handler(({ input }) => {
    const patch = composer.buildPatch(input.state, input.calls as readonly composer.StateCall[]);
    return { patch, state: composer.applyPatch(input.state, patch) };
  }),
  shorten: machine.compose.shorten.handler(({ input }) => composer.shortenMemory(input)),
  body: machine.compose.body.handler(({ input }) => ({ body: composer.requestBody(input.messages, input.provider, input.model) })),
  compact: writes.compose.compact.handler(({ input, context, signal }) => compactContext(context.chain, input, context.providers, signal)),
  preview: searches.compose.preview.handler(({ input, context }) => composition(context.project, shared(input, context))),
  rows: searches.compose.rows.handler(({ input, context }) => {
    const { offset, limit, longest, ...request } = shared(input, context);
    return composedRows(context.project, request, { offset, limit, longest });
  }),
};
