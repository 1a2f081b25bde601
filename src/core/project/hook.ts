import { existsSync } from 'node:fs';
import { type Clock, StemmaError } from '../base/index.js';
import { type HookEvent, type Taken, takeIn } from '../intake/index.js';
import { makeFolder, type NewProject, openFolder, type ProjectFolder } from './folder.js';

export { type HookEvent, hasArrived, readHookEvent } from '../intake/index.js';

/** An agent waits for its hooks: where another process writes for longer, the next event brings what this one would have. */
const busyMs = 5_000;

/** The project that the folder names, which is made where it is not there yet; another process may be making it at this moment. */
export function openForHook(project: NewProject, clock: Clock): ProjectFolder {
  const { dir } = project;
  if (!existsSync(dir))
    try {
      makeFolder(project, clock);
    } catch (error) {
      if (!(error instanceof StemmaError) || error.code !== 'CONFLICT') throw error;
    }
  return openFolder(dir, clock, { busyMs });
}

/** The checkpoint that an event of an agent asks for. */
export const checkpointAt = ({ chain }: ProjectFolder, { path, what }: HookEvent): Taken =>
  takeIn(chain, path, { what, granularity: 'turn_boundary' });
