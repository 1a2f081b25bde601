import { create } from 'zustand';
import type { ProjectInfo } from '../../core/contract/index.js';
import { api, type Client } from '../client';
import { route } from './navigation';

export type ProjectState =
  | { readonly phase: 'none' }
  | { readonly phase: 'opening'; readonly dir: string; readonly since: number }
  | { readonly phase: 'open'; readonly dir: string; readonly info: ProjectInfo }
  | { readonly phase: 'failed'; readonly dir: string; readonly error: unknown };

export const useProject = create<{
  readonly state: ProjectState;
  /** Goes up whenever commits were added, so that lists are read again. */
  readonly revision: number;
}>(() => ({ state: { phase: 'none' }, revision: 0 }));

/** Opens the project in the engine's session of this window. Calls on it are right once the phase is `open`. */
async function openProject(dir: string, client: Client = api): Promise<void> {
  useProject.setState({ state: { phase: 'opening', dir, since: Date.now() } });
  try {
    const info = await client.project.open({ dir });
    if (route().project === dir) useProject.setState((old) => ({ state: { phase: 'open', dir, info }, revision: old.revision + 1 }));
  } catch (error) {
    if (route().project === dir) useProject.setState({ state: { phase: 'failed', dir, error } });
  }
}

/** Brings the engine's session to the project of the address, whatever it was at before. */
export async function followAddress(client: Client = api): Promise<void> {
  const { project } = route();
  if (project) await openProject(project, client);
  else useProject.setState({ state: { phase: 'none' } });
}

/** After an import or a fork: new counts, and everybody who shows a list reads it again. */
export async function refreshProject(): Promise<void> {
  const { state } = useProject.getState();
  if (state.phase !== 'open') return;
  const info = await api.project.info({}).catch(() => state.info);
  useProject.setState((old) =>
    old.state.phase === 'open' && old.state.dir === state.dir ? { state: { ...old.state, info }, revision: old.revision + 1 } : old,
  );
}

/** The command line, a hook or another window may have added commits: looked for whenever the person comes back. */
export async function noticeChanges(): Promise<void> {
  const { state } = useProject.getState();
  if (state.phase !== 'open') return;
  const info = await api.project.info({}).catch(() => undefined);
  const now = useProject.getState().state;
  if (info && now.phase === 'open' && now.dir === state.dir && info.counts.commits !== now.info.counts.commits) await refreshProject();
}

/** The folder of the open project, or undefined while there is none to ask about. */
export const useOpenDir = (): string | undefined => useProject(({ state }) => (state.phase === 'open' ? state.dir : undefined));
