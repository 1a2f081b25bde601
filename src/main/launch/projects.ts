import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { attempt, badRequest } from '../../core/base/index.js';
import { homeFolder, realPathOf } from '../../core/files/index.js';
import { sharedFolders, thisSystem } from '../../core/system/index.js';
import { openTrustedProjects, projectIdIn, untrusted } from '../../core/trust/index.js';
import { findDataDir } from './places.js';

export interface ChosenProject {
  readonly dir: string;
  /** False if a person named the project with `--project` or `STEMMA_PROJECT`. True if Stemma found it in or above the working folder. */
  readonly isFound: boolean;
}

export interface ProjectSearch {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  readonly temporary?: readonly string[];
  /** True if the command itself trusts the project (`--trust`). */
  readonly trusts?: boolean | undefined;
}

/**
 * The project that a command works on: the named project, else the project in `STEMMA_PROJECT`, else the only `*.stemma` in the working folder or in
 * the nearest folder above with a project. Undefined if no project is found. @throws BAD_REQUEST if the nearest folder has several projects;
 * UNAUTHORIZED if nobody on this machine trusts its only project.
 */
export function findProject(named: string | undefined, search: ProjectSearch = {}): ChosenProject | undefined {
  const { cwd = process.cwd(), env = process.env, trusts = false } = search;
  const name = named || env.STEMMA_PROJECT;
  if (name) return { dir: resolve(cwd, name), isFound: false };
  const found = nearestProjects(search);
  const [dir] = found;
  if (dir === undefined) return undefined;
  if (found.length > 1)
    throw badRequest('project', `Several projects are in ${dirname(dir)}. Name one with --project or STEMMA_PROJECT: ${found.join(', ')}`, {
      candidates: found,
    });
  if (!trusts && !openTrustedProjects(findDataDir(env)).has(projectIdIn(dir) ?? '', dir)) throw untrusted(dir, 'Did not choose the nearest project');
  return { dir, isFound: true };
}

function nearestProjects({
  cwd = process.cwd(),
  home = homeFolder(),
  temporary = [tmpdir(), ...sharedFolders(thisSystem)],
}: ProjectSearch): string[] {
  for (const folder of searchedFolders(resolve(cwd), home, temporary)) {
    if (isProject(folder)) return [folder];
    const found = projectsIn(folder);
    if (found.length > 0) return found;
  }
  return [];
}

/** The working folder and those above it, up to the home folder or the root. Folders for temporary files are skipped: anyone can write there. */
export function searchedFolders(cwd: string, home: string, temporary: readonly string[]): string[] {
  const end = realPathOf(home);
  const left = new Set(temporary.map(realPathOf));
  const folders: string[] = [];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const place = realPathOf(folder);
    if (folders.length === 0 || !left.has(place)) folders.push(folder);
    if (place === end || dirname(folder) === folder) return folders;
  }
}

const isProject = (path: string): boolean =>
  path.endsWith('.stemma') && ['project.json', 'stemma.db'].some((name) => statSync(join(path, name), { throwIfNoEntry: false }) !== undefined);

/** A folder that this person cannot list counts as one without a project. */
const projectsIn = (folder: string): string[] =>
  attempt(() =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name))
      .filter(isProject),
  ) ?? [];
