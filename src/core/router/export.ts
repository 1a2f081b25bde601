import {
  checkFolder,
  exportComparison,
  exportContext,
  exportFormats,
  exportRedacted,
  exportRedactedComparison,
  isRedacted,
  resumeIn,
} from '../export/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `export`. */
export const exportRouter = {
  formats: os.export.formats.handler(({ input, context }) => exportFormats(chainOf(context), input)),
  context: os.export.context.handler(async ({ input, context }) => {
    context.session.checkOutput(input.path);
    const { redactions, ...made } = await (isRedacted(input) ? exportRedacted : exportContext)(chainOf(context), input);
    return { ...made, losses: [...made.losses], lossCounts: [...made.lossCounts], ...(redactions && { redactions: [...redactions] }) };
  }),
  comparison: os.export.comparison.handler(async ({ input, context }) => {
    context.session.checkOutput(input.path);
    const { redactions, ...made } = await (isRedacted(input) ? exportRedactedComparison : exportComparison)(chainOf(context), input);
    return { ...made, ...(redactions && { redactions: [...redactions] }) };
  }),
  resume: os.export.resume.handler(({ input, context: { session } }) =>
    resumeIn(session.project().chain, session.engine.options.agentRoots, input, session.checkOutput),
  ),
  continue: os.export.continue.handler(async ({ input, context: { session } }) => {
    const { agentRoots, openTerminal } = session.engine.options;
    const { chain } = session.project();
    // Refused before anything is written.
    checkFolder(resumeIn(chain, agentRoots, { ...input, dryRun: true }).cwd);
    const made = resumeIn(chain, agentRoots, input, session.checkOutput);
    return { ...made, terminal: (await openTerminal?.(made.cwd, made.command)) ?? null };
  }),
};
