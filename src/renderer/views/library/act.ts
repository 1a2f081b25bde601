import { api } from '../../client';
import { notifyProblem } from '../../parts';
import { followAddress, go, notify, runImport, show, useProject } from '../../state';

/** Shows a project: its chain, with nothing selected. */
export const showProject = (dir: string): void =>
  go({ view: 'chain', project: dir, session: undefined, commit: undefined, against: undefined, entry: undefined, stop: undefined });

/** The project that imports go to: the open one, else the home project, which is made on first use. */
async function ensureProject(): Promise<void> {
  if (useProject.getState().state.phase === 'open') return;
  const { dir } = await api.library.home({});
  go({ project: dir });
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
    const tip = result.tips.at(-1);
    if (thenShow && tip) go({ view: 'chain', session: undefined, commit: tip, against: undefined, entry: undefined, stop: undefined });
    if (result.skipped.length > 0) notify(`Imported. ${result.skipped.length} lines were not understood and are kept with their source: see Imports.`);
  } catch (error) {
    notifyProblem(error);
  }
}

export async function openSample(): Promise<void> {
  try {
    const { dir } = await api.library.sample({});
    showProject(dir);
  } catch (error) {
    notifyProblem(error);
  }
}
