import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporary } from '../files/index.js';
import * as integrity from '../integrity/index.js';
import { removeEarlierFormats } from './conversion.js';
import type { ReadingThreads } from './engine.js';
import { backupPaths, makeFolder, openFolder } from './folder.js';
import type { Project } from './project.js';

/** Checks an open project. For a kept copy of the database, checks a new copy: the original may have been damaged since. */
export function* checkProject(project: Project): Generator<undefined, integrity.CheckResult> {
  const { access, dir, chain } = project;
  if (access.mode === 'read-write') {
    const result = yield* integrity.checkProject(project);
    if (result.ok) removeEarlierFormats(dir);
    return result;
  }
  const now = openFolder(dir, chain.clock, { restrict: () => access });
  try {
    return yield* integrity.checkProject(now);
  } finally {
    now.close();
  }
}

type LeavingThreads = Pick<ReadingThreads, 'leave' | 'forget'>;

/**
 * Repairs an open project (see `integrity`). It may write a new database, so it waits until no thread of this process works in the old one.
 * Meanwhile calls that read wait in the threads for reading.
 */
export function* repairProject(project: Project, readers?: LeavingThreads): Generator<undefined, integrity.CheckResult> {
  const upkeep = project.pauseUpkeep();
  try {
    while (!upkeep.isIdle()) yield;
    return yield* integrity.repairProject(project, {
      backups: backupPaths(project.dir),
      rebuilt: project.rebuilt,
      scratch: () => scratchProject(project),
      replacing: (replace) => alone(project, readers, replace),
    });
  } finally {
    project.reopenForReading();
    upkeep.resume();
  }
}

/** Replaces the file of a database when only the connection that writes has it open. */
function* alone<Result>(
  { dir, reopenForReading }: Project,
  readers: LeavingThreads | undefined,
  replace: () => Result,
): Generator<undefined, Result> {
  let isAlone = readers === undefined;
  try {
    void readers?.leave(dir).then(() => {
      isAlone = true;
    });
    while (!isAlone) yield;
    reopenForReading();
    return replace();
  } finally {
    readers?.forget(dir);
  }
}

/** An empty temporary project, to import the project's files again. */
function scratchProject({ chain: { clock } }: Project): integrity.Scratch {
  const dir = makeTemporary('repair');
  const folder = openFolder(makeFolder({ dir: join(dir, 'again') }, clock), clock);
  return {
    dir,
    chain: folder.chain,
    close: () => {
      folder.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
