import { join, resolve } from 'node:path';
import { homeFolder } from '../../core/files/index.js';
import type { EngineOptions } from '../../core/project/index.js';
import { type Environment, foldersOf, pathRules, type System, thisPlatform, thisSystem, variableOf } from '../../core/system/index.js';
import { wslHomes } from '../system/index.js';
import { agentRootsAt } from './agent-folders.js';

/** The folder that contains `out/` and `resources/`, in a checkout and in a package. */
const root = resolve(import.meta.dirname, '..', '..');

/** A file of the build, by its path below `out/`. */
export const built = (...parts: string[]): string => join(root, 'out', ...parts);

/** The copy of a packaged file beside Electron's archive, for programs that cannot read the archive. Other paths stay as they are. */
export const outsideArchive = (path: string): string => path.replace(/([\\/]app\.asar)(?=[\\/])/, '$1.unpacked');

/** Stemma's own folder, for everything outside of projects: `$STEMMA_HOME`, or the system's folder for data of applications. */
export function findDataDir(env: Environment = process.env, system: System = thisSystem, home?: string): string {
  const named = variableOf(env, 'STEMMA_HOME', system);
  const { join, resolve } = pathRules(system);
  return named ? resolve(named) : join(foldersOf({ env, home: home ?? homeFolder(), system }).data, system === 'linux' ? 'stemma' : 'Stemma');
}

/** The folders where agents store histories on this machine, installed or not; on Windows also those of the Linux systems inside it. */
export function agentRootsOf(env: Environment = process.env, home = homeFolder(), system = thisSystem, linuxHomes: readonly string[] = []) {
  return [
    ...agentRootsAt({ env, home, system, paths: pathRules(system) }),
    ...linuxHomes.flatMap((each) => agentRootsAt({ env: {}, home: each, system: 'linux', paths: pathRules(system) })),
  ];
}

const isProject = (path: string): boolean => path.endsWith('.stemma');

/** What the engine needs to know of this machine. Of `paths`, relative to `cwd`, the first project is opened and the rest offered for import. */
export function engineOptions(paths: readonly string[] = [], cwd: string = process.cwd(), env: Environment = process.env): EngineOptions {
  const named = paths.map((path) => resolve(cwd, path));
  return {
    dataDir: findDataDir(env),
    agentRoots: agentRootsOf(env, homeFolder(), thisSystem, wslHomes(env)),
    sampleDir: join(root, 'resources', 'sample'),
    worker: built('engine', 'work.js'),
    startup: { paths: named.filter((path) => !isProject(path)), project: named.find(isProject) ?? null },
    platform: thisPlatform,
  };
}
