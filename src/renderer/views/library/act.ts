import type { Source } from '../../../core/contract/index.js';
import { api } from '../../client';
import { notifyProblem, say } from '../../parts';
import { followAddress, go, notify, route, runImport, show, useProject } from '../../state';

/** Shows a project: its chain, with nothing selected. */
export const showProject = (dir: string): void =>
  go({ view: 'chain', project: dir, session: undefined, commit: undefined, against: undefined, entry: undefined, stop: undefined });

/** The project that imports go to: the one of the address, else the home project, which is made on first use. */
async function ensureProject(): Promise<void> {
  const { state: now } = useProject.getState();
  if (now.phase === 'open' && now.dir === route().project) return;
  if (!route().project) go({ project: (await api.library.home({})).dir });
  await followAddress();
  const { state } = useProject.getState();
  if (state.phase === 'failed') throw state.error;
}

/** Imports in the background; what came of it shows in the status bar, and `thenShow` leads to the chain when it is done. */
export async function importPaths(paths: readonly string[], thenShow: boolean): Promise<void> {
  if (paths.length === 0) return;
  try {
    await ensureProject();
    const job = await runImport(paths);
    if (job.state === 'failed') return show({ kind: 'imports' });
    const { result } = job;
    if (!result) return;
    if (result.sessions === 0 && result.skipped.length > 0) return show({ kind: 'imports' });
    if (thenShow) await showImported(paths);
    if (result.skipped.length > 0)
      notify(
        `Imported, but for ${say.plural(result.skipped.length, 'line')} that ${result.skipped.length === 1 ? 'was' : 'were'} not understood: see Imports`,
      );
  } catch (error) {
    notifyProblem(error);
  }
}

/** Leads to what was imported: the end of the one session that was named, else the whole chain. */
async function showImported(paths: readonly string[]): Promise<void> {
  const [path] = paths;
  showSession(paths.length === 1 ? (await api.source.list({})).find((one) => one.path === path) : undefined);
}

/** The chain of a session at its end, or of all where none is given. */
export const showSession = (source: Pick<Source, 'sessionId' | 'tips'> | undefined): void =>
  go({ view: 'chain', session: source?.sessionId, commit: source?.tips.at(-1), against: undefined, entry: undefined, stop: undefined });

export async function openSample(): Promise<void> {
  try {
    const { dir } = await api.library.sample({});
    showProject(dir);
  } catch (error) {
    notifyProblem(error);
  }
}
