import type { FoundSession, Mapping, Source } from '../../../core/contract/index.js';
import { api } from '../../client';
import { notifyProblem, say } from '../../parts';
import { followAddress, go, move, notify, openHit, route, runImport, show, showProject, useProject } from '../../state';

/** Opens the project that receives imports: the project in the address, otherwise the home project, which is created on first use. */
async function ensureProject(): Promise<void> {
  const { state: now } = useProject.getState();
  if (now.phase === 'open' && now.dir === route().project) return;
  if (!route().project) go({ project: (await api.library.home({})).dir });
  await followAddress();
  const { state } = useProject.getState();
  if (state.phase === 'failed') throw state.error;
}

/**
 * Imports in the background. With `thenShow`, the chain opens after it, or the entry that contains the `sought` words; a person who has opened another
 * view in the meantime stays there and gets a button.
 */
export async function importPaths(paths: readonly string[], thenShow: boolean, mapping?: Mapping, sought?: string): Promise<void> {
  if (paths.length === 0) return;
  const { view } = route();
  try {
    await ensureProject();
    const { project } = route();
    const job = await runImport(paths, mapping);
    if (job.state === 'failed') return show({ kind: 'imports' });
    const { result } = job;
    if (!result) return;
    if (result.sessions === 0 && result.skipped.length > 0) return show({ kind: 'imports' });
    const lines = result.skipped.length;
    const notice = lines > 0 ? `Imported. ${say.plural(lines, 'line')} could not be read; open Imports for details` : 'Imported';
    const isElsewhere = route().view !== view || route().project !== project;
    if (thenShow && isElsewhere) return offerToShow(notice, paths, sought, project);
    if (thenShow) await showImported(paths, sought);
    if (lines > 0) notify(notice);
  } catch (error) {
    notifyProblem(error);
  }
}

function offerToShow(notice: string, paths: readonly string[], sought: string | undefined, project: string | undefined): void {
  const act = async (): Promise<void> => {
    if (route().project !== project) go({ project });
    await followAddress();
    await showImported(paths, sought);
  };
  notify(notice, { name: 'Show', act: () => void act().catch(notifyProblem) });
}

/** The paths to import for a session: its file, and the folders in which Claude Code and Cline store the files of its subagents. */
export function pathsToImport({ path, subagents }: Pick<FoundSession, 'path' | 'subagents'>): string[] {
  if (subagents === 0) return [path];
  if (path.endsWith('.messages.json')) return [path, path.slice(0, path.search(/[^/\\]+$/))];
  return path.endsWith('.jsonl') ? [path, `${path.slice(0, -'.jsonl'.length)}/subagents`] : [path];
}

/** Shows the result of an import: the end of a single session, otherwise the whole chain. */
async function showImported(paths: readonly string[], sought: string | undefined): Promise<void> {
  const [path] = paths;
  const source = paths.length <= 2 ? (await api.source.list({})).find((one) => one.path === path) : undefined;
  if (!source?.sessionId || sought === undefined || !(await showHit(source.sessionId, sought))) showSession(source);
}

/** Shows the entry of a session that contains the words. Returns false if the search does not find them. */
export async function showHit(sessionId: string, sought: string, session = sessionId): Promise<boolean> {
  const [hit] = (await api.search.query({ text: sought, filter: { sessionId }, limit: 1 })).hits;
  if (hit) openHit(hit, session);
  return hit !== undefined;
}

/** Shows the newest commit of a session, or the chain of all sessions if none is given. */
export const showSession = (source: Pick<Source, 'sessionId' | 'tips'> | undefined): void =>
  go({ view: 'chain', session: source?.sessionId, commit: source?.tips.at(-1), against: undefined, entry: undefined, stop: undefined });

/** Opens the sample project at the fork of its story. */
export async function openSample(): Promise<void> {
  try {
    const { dir } = await api.library.sample({});
    showProject(dir);
    await followAddress();
    const { rows } = await api.context.graph({ offset: 0, limit: 200 });
    // The reruns of the sample's experiment are forks without an edit.
    const fork = rows.find(({ forked, commit }) => forked && commit.summary?.startsWith('Edited:'))?.commit.id;
    // The person may have opened something else in the meantime. The window itself selects the newest commit.
    const { project, view, commit = rows[0]?.commit.id } = route();
    if (fork && project === dir && view === 'chain' && commit === rows[0]?.commit.id) move({ commit: fork });
  } catch (error) {
    notifyProblem(error);
  }
}

/** The paths of dropped files. A browser hides them: a file is then found by name and size on this machine, or is `unknown`. */
export async function pathsOfDrop(data: DataTransfer): Promise<{ paths: string[]; unknown: string[] }> {
  const files = [...data.files];
  const bridge = window.stemma;
  const paths: string[] = [];
  const left: File[] = [];
  for (const file of files) {
    const path = bridge?.pathOf?.(file);
    if (path) paths.push(path);
    else left.push(file);
  }
  if (left.length === 0) return { paths, unknown: [] };
  const sources = await api.library.sources({}).catch(() => []);
  const found = (await Promise.all(sources.map(({ root }) => api.library.sessions({ root }).catch(() => [])))).flat();
  const unknown: string[] = [];
  for (const file of left) {
    const matches = found.filter((session) => session.bytes === file.size && session.path.split(/[\\/]/).at(-1) === file.name);
    if (matches.length === 1 && matches[0]) paths.push(matches[0].path);
    else unknown.push(file.name);
  }
  return { paths, unknown };
}
