import { type ContextId, unavailable } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import * as exporting from '../export/index.js';
import { formatOfAgent, storeWritten } from '../import/index.js';
import type { Session } from '../project/index.js';
import { acts, priced, reads } from './procedure.js';

/** Stores which session an agent continues, and follows its file, if the project is writable. Not for OpenCode: it reads a copy of the file, so no history exists yet. */
async function remember(session: Session, id: ContextId, made: exporting.Resumable): Promise<void> {
  const { access, chain, capture } = session.project();
  const format = formatOfAgent(made.agent);
  if (access.mode !== 'read-write' || made.agent === 'opencode' || !format) return;
  storeWritten(chain, { ...made, id, format: format.id });
  await capture.addWritten(made.path, session.engine.options.isRunning);
}

/** A context in another format, with secrets replaced if that was asked for. */
const exported = async (chain: ReadChain, input: exporting.ExportInput): Promise<exporting.Exported> =>
  exporting.isRedacted(input) ? exporting.exportRedacted(chain, input) : exporting.exportContext(chain, input);

/** An answer holds lists of its own, which may be changed. */
function withOwnLists<Made extends Pick<exporting.Exported, 'losses' | 'lossCounts' | 'redactions'>>({ redactions, ...made }: Made) {
  return { ...made, losses: [...made.losses], lossCounts: [...made.lossCounts], ...(redactions && { redactions: [...redactions] }) };
}

export const exportRouter = {
  formats: reads.export.formats.handler(({ input, context }) => exporting.exportFormats(context.chain, input)),
  context: reads.export.context.handler(async ({ input, context }) => {
    await context.reading.checkOutput(input.path);
    return withOwnLists(await exported(context.chain, input));
  }),
  spans: acts.export.spans.handler(async ({ input: { address, ...input }, context }) => {
    const { sendSpans } = context.session.engine.options;
    if (!sendSpans) throw unavailable('This program sends no spans: export the context as otlp-v1.', { address });
    const { text = '', format: _, ...made } = await exported(context.chain, { ...input, format: 'otlp-v1' });
    await sendSpans(address, text);
    return { address, ...withOwnLists(made) };
  }),
  comparison: priced.export.comparison.handler(async ({ input, context }) => {
    await context.reading.checkOutput(input.path);
    const { redactions, ...made } = await (exporting.isRedacted(input) ? exporting.exportRedactedComparison : exporting.exportComparison)(
      context.chain,
      input,
    );
    return { ...made, ...(redactions && { redactions: [...redactions] }) };
  }),
  resume: acts.export.resume.handler(async ({ input, context: { session } }) => {
    const {
      commands: _,
      folder: __,
      ...made
    } = exporting.resumeIn(session.project().chain, session.engine.options.agentRoots, { ...input, mayStart: true }, session.checkOutput);
    if (!input.dryRun) await remember(session, input.id, made);
    return made;
  }),
  continue: acts.export.continue.handler(async ({ input, context: { session } }) => {
    const { agentRoots, openTerminal } = session.engine.options;
    const { chain } = session.project();
    // Checks the folder before anything is written.
    exporting.checkFolder(exporting.resumeIn(chain, agentRoots, { ...input, mayStart: true, dryRun: true }).folder);
    const { commands, folder, ...made } = exporting.resumeIn(chain, agentRoots, { ...input, mayStart: true }, session.checkOutput);
    await remember(session, input.id, made);
    return { ...made, terminal: (await openTerminal?.({ folder, commands })) ?? null };
  }),
};
