import { create } from 'zustand';
import type { ProjectInfo } from '../../core/contract/index.js';
import { api, type Client } from '../client';
import { go, route } from './navigation';
import type { Route } from './route';
import { notify } from './ui';

export type ProjectState =
  | { readonly phase: 'none' }
  | { readonly phase: 'opening'; readonly dir: string }
  | { readonly phase: 'open'; readonly dir: string; readonly info: ProjectInfo }
  | { readonly phase: 'failed'; readonly dir: string; readonly error: unknown };

/** The project that this window has open. */
export const useProject = create<{
  readonly state: ProjectState;
  /** Increases when commits are added, so that lists reload. */
  readonly revision: number;
}>(() => ({ state: { phase: 'none' }, revision: 0 }));

/** Opens a project in this window's session. Procedures may be called once the phase is `open`. */
async function openProject(dir: string, client: Client = api): Promise<void> {
  useProject.setState({ state: { phase: 'opening', dir } });
  try {
    const info = await client.project.open({ dir });
    if (route().project === dir) useProject.setState((old) => ({ state: { phase: 'open', dir, info }, revision: old.revision + 1 }));
  } catch (error) {
    if (route().project === dir) useProject.setState({ state: { phase: 'failed', dir, error } });
  }
}

/** Opens the project that the address names, or closes the project if it names none. */
export async function followAddress(client: Client = api): Promise<void> {
  const { project } = route();
  if (project) await openProject(project, client);
  else useProject.setState({ state: { phase: 'none' } });
}

/** Loads the project's counts again and makes lists reload, for example after an import or a fork. */
export async function refreshProject(): Promise<void> {
  const { state } = useProject.getState();
  if (state.phase !== 'open') return;
  const info = await api.project.info({}).catch(() => state.info);
  useProject.setState((old) =>
    old.state.phase === 'open' && old.state.dir === state.dir ? { state: { ...old.state, info }, revision: old.revision + 1 } : old,
  );
}

/** Makes lists reload after a change, opens what it made, and says what was done. */
export async function reloadAndOpen(place: Partial<Route>, notice: string): Promise<void> {
  await refreshProject();
  go(place);
  notify(notice);
}

/** Reloads if another process changed the project. Called when the window receives the focus. */
export async function noticeChanges(): Promise<void> {
  const { state } = useProject.getState();
  if (state.phase !== 'open') return;
  const info = await api.project.info({}).catch(() => undefined);
  const now = useProject.getState().state;
  if (info && now.phase === 'open' && now.dir === state.dir && info.stand !== now.info.stand) await refreshProject();
}

/** The folder of the open project; undefined while none is open. */
export const useOpenDir = (): string | undefined => useProject(({ state }) => (state.phase === 'open' ? state.dir : undefined));
