import type { ImportProgress, ImportResult } from '../contract/index.js';
import { builtInMappings } from '../formats/index.js';
import { detect, type ImportInput, importPaths, previewMapping } from '../import/index.js';
import { filesAhead, orderFor, type Project, runInWorker, type Session, WorkerFailed } from '../project/index.js';
import { reads, scans, writes } from './procedure.js';

export const importRouter = {
  detect: scans.import.detect.handler(({ input }) => detect(input.paths)),
  preview: scans.import.preview.handler(({ input }) => previewMapping(input.path, input.mapping)),
  mappings: reads.import.mappings.handler(() => [...builtInMappings]),
  run: writes.import.run.handler(async function* ({ input, context: { session }, signal }) {
    const project = session.project();
    const run = importing(session, project, input, signal);
    for (;;) {
      const step = await run.next();
      // Upkeep waits until the import is over.
      project.wake();
      if (step.done) return step.value;
      yield step.value;
    }
  }),
};

/** Imports in a thread of its own, if the engine has a script for it and the thread starts. Otherwise imports in this thread. */
async function* importing({ engine }: Session, project: Project, input: ImportInput, signal?: AbortSignal) {
  const { worker } = engine.options;
  if (worker !== undefined)
    try {
      const order = orderFor(project, { kind: 'import', input, ahead: worker });
      return yield* runInWorker<ImportProgress, ImportResult>(worker, order, signal, project.db);
    } catch (error) {
      if (!(error instanceof WorkerFailed) || error.hadBegun) throw error;
    }
  const { ahead } = engine.options;
  const run = importPaths(project.chain, input, ahead === undefined ? undefined : (orders) => filesAhead(ahead, orders));
  for (;;) {
    const step = run.next();
    if (step.done) return step.value;
    yield step.value;
    // Between two files, the engine answers other calls and notices that the caller has stopped.
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}
