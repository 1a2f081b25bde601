import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { WorkMessage } from '../../src/core/project/work.js';
import { built, copyHistories, type Machine, machine, type Ran } from './machine.js';
import { runFolder } from './run-folder.config.js';

/** What a copy of a prepared project holds: the sample with its story, or the histories of the sample alone. */
export type Prepared = 'Sample' | 'Histories';

const made = new Map<Prepared, Promise<string>>();

/** Puts a copy of a prepared project into a folder, and trusts it on a machine. Returns the folder. */
export async function giveProject(to: Machine, project: Prepared, dir = to.path(`${project}.stemma`)): Promise<string> {
  cpSync(join(await prepared(project), 'project.stemma'), dir, { recursive: true });
  succeeded(await to.ask('trust', dir));
  return dir;
}

/** Claude Code's folder from which the histories of all prepared projects were imported. */
export const historiesOfRun = async (): Promise<string> => join(await prepared('Histories'), 'claude');

/** The folder in which a prepared project is. */
function prepared(project: Prepared): Promise<string> {
  const known = made.get(project) ?? madeOnce(project);
  made.set(project, known);
  return known;
}

/** Makes a project once for all workers of a run: importing takes longer than the steps of most tests. The first makes it, and the others wait. */
async function madeOnce(project: Prepared): Promise<string> {
  const place = join(runFolder(), project);
  const outcome = `${place}.outcome`;
  if (isFirst(place)) {
    const text = await prepare(project, place).then(
      () => '',
      (error: Error) => error.message,
    );
    writeFileSync(`${outcome}.part`, text);
    renameSync(`${outcome}.part`, outcome);
  }
  for (let waits = 0; !existsSync(outcome); waits++) {
    if (waits > 2_400) throw new Error(`Another worker did not make the project ${project} in four minutes.`);
    await pause(100);
  }
  const problem = readFileSync(outcome, 'utf8');
  if (problem) throw new Error(problem);
  return place;
}

function isFirst(place: string): boolean {
  try {
    mkdirSync(place);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Makes a project with commands, which close it, so that its files can be copied. What the engine does in a project that is idle for a while is
 * done here, so that no copy needs it: the list, the facts and the index of its commits, and the first backup.
 */
async function prepare(project: Prepared, place: string): Promise<void> {
  await using own = machine();
  const dir = join(place, 'project.stemma');
  if (project === 'Sample') {
    const sample = JSON.parse(succeeded(await own.ask('call', 'library.sample'))) as { dir: string };
    await tidy(sample.dir, own);
    cpSync(sample.dir, dir, { recursive: true });
    return;
  }
  const history = join(place, 'claude');
  copyHistories(join(history, 'projects', '-work-larder'));
  succeeded(await own.ask('init', dir));
  succeeded(await own.ask('import', history, '--project', dir));
  await tidy(dir, own);
}

async function tidy(dir: string, own: Machine): Promise<void> {
  const { projectId } = JSON.parse(succeeded(await own.ask('call', 'project.info', '--project', dir))) as { projectId: string };
  const worker = new Worker(built('engine', 'work.js'), { workerData: { dir, projectId, work: { kind: 'upkeep' } }, env: own.env });
  const messages: WorkMessage[] = [];
  worker.on('message', (message: WorkMessage) => messages.push(message));
  await once(worker, 'exit');
  const last = messages.at(-1);
  if (last?.kind !== 'ended' || 'refused' in last.outcome) throw new Error(`The upkeep of ${dir} ended with ${JSON.stringify(last)}.`);
  succeeded(await own.ask('backup', '--now', '--project', dir));
}

/** The output of a command. @throws Error if it failed. */
function succeeded({ code, out, err }: Ran): string {
  if (code !== 0) throw new Error(`A command of a prepared project ended with ${code}: ${err}`);
  return out;
}
