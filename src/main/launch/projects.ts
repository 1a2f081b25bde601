import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The project that a command works on (decisions, rule 44): the one named, else `STEMMA_PROJECT`, else the nearest
 * `*.stemma` folder at or above the working directory, else undefined.
 */
export function findProject(named: string | undefined, cwd = process.cwd(), env = process.env): string | undefined {
  if (named) return resolve(cwd, named);
  if (env.STEMMA_PROJECT) return resolve(cwd, env.STEMMA_PROJECT);
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    if (dir.endsWith('.stemma') && existsSync(join(dir, 'project.json'))) return dir;
    const found = projectsIn(dir)[0];
    if (found) return found;
    if (dirname(dir) === dir) return undefined;
  }
}

function projectsIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith('.stemma'))
      .sort()
      .map((name) => join(dir, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  } catch {
    // A folder that may not be listed holds no project for us.
    return [];
  }
}
