import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { EngineOptions } from '../../core/project/index.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The root of what was built: the folder that holds `out/` and `resources/`, in a checkout and inside a package alike. */
const root = resolve(import.meta.dirname, '..', '..');

/** A file that the build made, by its place under `out/`. */
export const built = (...parts: string[]): string => join(root, 'out', ...parts);

/** Where Stemma keeps what is no project of its own: `$STEMMA_HOME`, else where the platform keeps applications' data. */
export function dataDirOf(env: Environment = process.env, platform: string = process.platform, home: string = homedir()): string {
  if (env.STEMMA_HOME) return resolve(env.STEMMA_HOME);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Stemma');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'Stemma');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'stemma');
}

/** Where Claude Code keeps its histories: `$CLAUDE_CONFIG_DIR` where it is set, and the home folder's `.claude`. */
export function claudeRootsOf(env: Environment = process.env, home: string = homedir()): string[] {
  const roots = env.CLAUDE_CONFIG_DIR ? [resolve(env.CLAUDE_CONFIG_DIR)] : [];
  return [...new Set([...roots, join(home, '.claude')])];
}

const isProject = (path: string): boolean => path.endsWith('.stemma');

/**
 * What the engine needs to know of this machine. `paths` are what a person named on the command line, as seen from
 * `cwd`: the first project folder among them is opened, everything else is offered for import.
 */
export function engineOptions(paths: readonly string[] = [], cwd: string = process.cwd(), env: Environment = process.env): EngineOptions {
  const named = paths.map((path) => resolve(cwd, path));
  return {
    dataDir: dataDirOf(env),
    claudeRoots: claudeRootsOf(env),
    sampleDir: join(root, 'resources', 'sample'),
    startup: { paths: named.filter((path) => !isProject(path)), project: named.find(isProject) ?? null },
    platform: process.platform,
  };
}
