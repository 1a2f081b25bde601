import { setImmediate } from 'node:timers/promises';
import { conflict, type Settled, settled, systemClock } from '../base/index.js';
import { type ImportInput, importPaths } from '../import/index.js';
import { contextsAreDue, loadPrices, loadTokenizer } from '../usage/index.js';
import { requireWrite } from './access.js';
import { filesAhead } from './ahead.js';
import { cacheShares, shareCaches } from './chains.js';
import { openFolder, type ProjectFolder } from './folder.js';
import { derive, tidyUp, type UpkeepPart } from './upkeep.js';

/** Long work in a project, done by a thread of its own. `ahead` is the script of threads that read files ahead. */
export type ThreadWork = { readonly kind: 'import'; readonly input: ImportInput; readonly ahead: string } | { readonly kind: UpkeepPart };

export interface WorkOrder {
  readonly dir: string;
  /** The expected project: another one may be in the folder when the thread opens it. */
  readonly projectId: string;
  /** As in `ConnectionOptions`. */
  readonly mark?: string | undefined;
  /** The text of a person's own prices. */
  readonly usageSettings?: string | undefined;
  readonly work: ThreadWork;
}

/** The order for work in an open project. */
export const orderFor = ({ dir, projectId, place, chain }: ProjectFolder, work: ThreadWork): WorkOrder => ({
  dir,
  projectId,
  mark: place?.mark,
  usageSettings: chain.usageSettings(),
  work,
});

/** A message from the thread. `begun` comes first, unless it cannot work at all; `ended` comes last. */
export type WorkMessage =
  | { readonly kind: 'begun' }
  | { readonly kind: 'event'; readonly event: unknown }
  | { readonly kind: 'ended'; readonly outcome: Settled };

/**
 * Does the work on a connection of its own, and reports it. It ends after the current step when `isStopped` returns true. The connection is
 * closed before the last message. @throws any error that is a bug.
 */
export async function doWork(
  { dir, projectId, mark, usageSettings, work }: WorkOrder,
  say: (message: WorkMessage) => void,
  isStopped: () => boolean,
): Promise<void> {
  say({ kind: 'begun' });
  shareCaches(cacheShares.work);
  const outcome = await settled(async () => {
    const folder = openFolder(dir, systemClock, { mark, usageSettings: () => usageSettings });
    try {
      return await inFolder(folder);
    } finally {
      folder.close();
    }
  });
  say({ kind: 'ended', outcome });

  async function inFolder(folder: ProjectFolder): Promise<unknown> {
    if (folder.projectId !== projectId)
      throw conflict(`${dir} was replaced by another project. Nothing was written.`, { reason: 'replaced', path: dir });
    requireWrite(folder.access);
    await Promise.all([loadPrices(), work.kind !== 'import' && contextsAreDue(folder.chain) && loadTokenizer()]);
    const steps = stepsOf(folder, work);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (step.value !== undefined) say({ kind: 'event', event: step.value });
      // Messages are received between two steps.
      await setImmediate();
      if (isStopped()) return steps.return(undefined as never).value;
    }
  }
}

function stepsOf({ chain }: ProjectFolder, work: ThreadWork): Generator<unknown, unknown> {
  if (work.kind === 'import') return importPaths(chain, work.input, (orders) => filesAhead(work.ahead, orders));
  return work.kind === 'derive' ? derive(chain) : tidyUp(chain, { shrink: true });
}
