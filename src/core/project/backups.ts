import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, StemmaError, toTimestamp } from '../base/index.js';
import type { BackupReport } from '../contract/index.js';
import { areBackupsOn, backUp, lastTry, listBackups, noteTry, turnBackups } from '../integrity/index.js';
import { removeEarlierFormats } from './conversion.js';
import type { ProjectFolder } from './folder.js';
import { database } from './manifest.js';
import { inSteps } from './steps.js';

type Store = Pick<ProjectFolder, 'dir' | 'db' | 'chain'>;

/** The setting, and the backups that exist, newest first. */
export function reportBackups({ dir }: Pick<Store, 'dir'>, problem?: string): BackupReport {
  const backups = listBackups(dir).map(({ at, bytes }) => ({ at: toTimestamp(at), bytes }));
  return {
    on: areBackupsOn(dir),
    bytes: backups.reduce((sum, { bytes }) => sum + bytes, 0),
    backups,
    ...(problem !== undefined && { problem }),
  };
}

/** Turns backups on or off. */
export function setBackups(store: Pick<Store, 'dir'>, on: boolean): BackupReport {
  turnBackups(store.dir, on);
  return reportBackups(store);
}

/** Makes a backup. If it cannot be verified, the older ones stay, and the report says why. */
export async function backUpNow({ dir, db, chain }: Store): Promise<BackupReport> {
  const problem = await backUp(dir, db, chain.clock(), randomUUID(), inSteps);
  // The backup was checked as a whole, and takes the place of a copy of an earlier format.
  if (problem === undefined) removeEarlierFormats(dir);
  return reportBackups({ dir }, problem && `the copy was not kept, because it is not intact (${problem}); run "stemma fsck" to see what is damaged`);
}

const dayMs = 86_400_000;

/**
 * Claims the daily backup of a project that is only used by short commands, which have no idle time. Returns true at most once a day (T70), if
 * backups are on and the project has changed. The caller that receives true must make the backup.
 */
export function claimBackup({ dir, createdAt }: Pick<ProjectFolder, 'dir' | 'createdAt'>, clock: Clock): boolean {
  const last = Math.max(createdAt, lastTry(dir));
  if (clock() - last < dayMs || changedAt(dir) <= last || !areBackupsOn(dir)) return false;
  noteTry(dir, clock());
  return true;
}

/** Makes the daily backup of a project at the end of a command, if it is due. */
export const backUpIfDue = async (project: Pick<ProjectFolder, 'dir' | 'createdAt' | 'db' | 'chain'>): Promise<BackupReport> =>
  claimBackup(project, project.chain.clock) ? backUpNow(project) : reportBackups(project);

export interface BackupTimes {
  /** How long the project is idle before a backup begins, in milliseconds. */
  readonly quiet: number;
  /** The least time between two backups. */
  readonly between: number;
}

const defaultTimes: BackupTimes = { quiet: 60_000, between: 6 * 3_600_000 };

/** Starts the backups of an open project: when it is idle and has changed since the newest one. */
export function openBackups(store: Store, times: BackupTimes = defaultTimes) {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  const isDue = (): boolean => {
    if (!areBackupsOn(store.dir)) return false;
    const [newest] = listBackups(store.dir);
    return newest === undefined || (store.chain.clock() - newest.at >= times.between && changedAt(store.dir) > newest.at);
  };
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    try {
      if (isDue()) await backUpNow(store);
    } catch (error) {
      // The disk is full or the project was closed. Older backups stay, and the next idle time tries again.
      if (!(error instanceof StemmaError || isFileError(error) || isClosed(error))) throw error;
    } finally {
      running = false;
    }
  };
  return {
    /** Reports a call: the project is not idle. */
    wake: (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void run(), times.quiet).unref();
    },
    close: (): void => clearTimeout(timer),
  };
}

const isFileError = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException).code === 'string';
const isClosed = (error: unknown): boolean => error instanceof TypeError && /not open|closed/.test(error.message);

/** When the database or its log was last written, in milliseconds since 1970. */
const changedAt = (dir: string): number =>
  Math.max(...['', '-wal'].map((ending) => statSync(join(dir, `${database}${ending}`), { throwIfNoEntry: false })?.mtimeMs ?? 0));
