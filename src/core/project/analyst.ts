import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { WrittenFile } from '../analysis/index.js';
import { badRequest, conflict } from '../base/index.js';
import { absolutePath, renameDurably } from '../files/index.js';
import type { AnalystLimits, Ask } from './ask.js';
import { analystMs, askFolder, prepareAnalysis } from './asking.js';
import { checkSessions } from './checks.js';
import type { Engine } from './engine.js';
import type { Project } from './project.js';

/** Asks a question of an open project. @throws as `Analyst` */
export const askProject = async ({ options }: Engine, project: Project, ask: Ask, limits: AnalystLimits): Promise<unknown> =>
  await askFolder(options.analyst, project, ask, limits);

/** Milliseconds that a question about findings waits for sessions that were not checked yet. */
const checkingMs = 5_000;

/** Checks sessions that have changed, for a few seconds at most, unless another process is writing. The next question or idle time goes on. */
export async function prepareFindings({ options }: Engine, project: Project): Promise<void> {
  await prepareAnalysis(project);
  const until = project.chain.clock() + checkingMs;
  await checkSessions(options.analyst, project, { isOver: () => project.chain.clock() > until });
}

/**
 * Writes what a question returns to a new file or folder. It gets its name when it is complete, so that a process that is killed leaves nothing.
 * @throws as `Analyst`; CONFLICT if the path is taken; BAD_REQUEST if its folder does not exist
 */
export async function writeFor(engine: Engine, project: Project, given: string, askAt: (path: string) => Ask, signal?: AbortSignal) {
  const path = absolutePath(given);
  const requireFree = (): void => {
    if (existsSync(path)) throw conflict(`Cannot write ${path}: it already exists, and Stemma overwrites no file.`, { path });
  };
  requireFree();
  if (!existsSync(dirname(path))) throw badRequest('path', `Cannot write ${basename(path)}: the folder ${dirname(path)} does not exist.`);
  const beside = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    const written = (await askProject(engine, project, askAt(beside), { ms: analystMs.file, signal })) as WrittenFile;
    requireFree();
    renameDurably(beside, path);
    return { ...written, path };
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}
