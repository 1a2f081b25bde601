import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { createSession } from '../../core/project/index.js';
import { router } from '../../core/router.js';
import { startEngine } from '../engine/index.js';
import type { ContractClient } from '../launch/index.js';
import { engineOptions } from '../launch/index.js';

/** The contract in this very process, and the project folder that it works on, where there is one. */
export interface Connection {
  client: ContractClient;
  close(): void;
}

export function connect(): Connection {
  const engine = startEngine(engineOptions());
  const client = createRouterClient(router, { context: { session: createSession(engine) } }) as ContractClient;
  return { client, close: () => engine.close() };
}

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

/**
 * Opens the project that what is read of agents goes to: the one that a command works on, which is made where it is named and not
 * there, else the person's own for histories.
 */
export async function openWhereItGoes(client: ContractClient, named: string | undefined): Promise<{ dir: string; made: boolean }> {
  const dir = findProject(named) ?? (await client.library.home({})).dir;
  const made = !existsSync(dir);
  await (made ? client.project.create({ dir }) : client.project.open({ dir }));
  return { dir, made };
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
