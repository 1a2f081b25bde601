import { existsSync } from 'node:fs';
import { type Clock, orUndefined } from '../base/index.js';
import { type HookEvent, importGrowth, type TranscriptGrowth } from '../follow/index.js';
import type { Signed } from '../import/index.js';
import { type TrustedProjects, untrusted } from '../trust/index.js';
import { makeFolder, type NewProject, openFolder, type ProjectFolder, restrictUntrusted } from './folder.js';
import { findProjectIn } from './manifest.js';

export { type HookEvent, hasArrived, readHookEvent } from '../follow/index.js';

/** Milliseconds to wait for another writer. The agent waits for the hook, and the next event catches up. */
const busyMs = 5_000;

/**
 * Opens the project in a folder, and creates and trusts it if the folder does not exist. Another process may be creating it now.
 * @throws UNAUTHORIZED if the project is not trusted on this machine.
 */
export function openForHook(project: NewProject, clock: Clock, trusted: TrustedProjects, machine?: string): ProjectFolder {
  const { dir } = project;
  if (!existsSync(dir)) orUndefined(() => makeFolder(project, clock, trusted), ['CONFLICT']);
  const found = findProjectIn(dir);
  if (!trusted.has(found.projectId, found.dir)) throw untrusted(found.dir, 'Nothing was recorded');
  return openFolder(dir, clock, { busyMs, restrict: restrictUntrusted(trusted), machine });
}

/** The checkpoint for an event of an agent. */
export const checkpointAt = ({ chain }: ProjectFolder, { root, path, what }: HookEvent, signed?: Signed): TranscriptGrowth =>
  importGrowth(chain, { root, path }, { what, granularity: 'turn_boundary', signed });
