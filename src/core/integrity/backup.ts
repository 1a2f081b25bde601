import { existsSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import {
  folderInside,
  hasEnded,
  listInside,
  makeFolderInside,
  makeOwn,
  processName,
  removeInside,
  renameDurably,
  statInside,
  writeNew,
} from '../files/index.js';
import { type OpenDatabase, verifyCopy } from '../store/index.js';

/** A copy of a project's database. Objects in packs never change, so they need no copy. */
interface Backup {
  readonly name: string;
  readonly path: string;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  readonly bytes: number;
}

const folderName = 'backups';
const backupName = /^stemma-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
/** A copy that is not finished, with the name of its process. Older versions did not name it. */
const partName = /^stemma-(?:(\d+-\d+)-)?[0-9a-f-]{36}\.part(-journal|-wal|-shm)?$/;

/** The name of a backup, by the second. */
export const nameAt = (at: number): string => `stemma-${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.db`;

/** When a backup of this name was made; undefined for any other name. */
function parseBackupTime(name: string): number | undefined {
  const match = backupName.exec(name);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
}

const dayMs = 86_400_000;
/** A Monday. */
const weekZero = Date.UTC(1970, 0, 5);
const keptDays = 3;
const keptWeeks = 3;

/** The backups to keep: the newest one, and the newest of each of the last three days and of the last three weeks that have one. */
export function backupsToKeep<T extends Pick<Backup, 'at'>>(backups: readonly T[]): T[] {
  const newestFirst = backups.toSorted((a, b) => b.at - a.at);
  const newestOf = (lengthMs: number, most: number): T[] => {
    const periods = new Map<number, T>();
    for (const backup of newestFirst) {
      const period = Math.floor((backup.at - weekZero) / lengthMs);
      if (!periods.has(period) && periods.size < most) periods.set(period, backup);
    }
    return [...periods.values()];
  };
  const kept = new Set([...newestOf(dayMs, keptDays), ...newestOf(7 * dayMs, keptWeeks)]);
  return newestFirst.filter((backup) => kept.has(backup));
}

/** The backups of a project, newest first. Links and files with other names are ignored. @throws FileRefused if the folder is a link. */
export function listBackups(dir: string): Backup[] {
  const folder = join(dir, folderName);
  if (!existsSync(folder)) return [];
  folderInside(dir, folder);
  return listInside(dir, folder)
    .flatMap((entry): Backup[] => {
      const at = entry.isFile() ? parseBackupTime(entry.name) : undefined;
      if (at === undefined) return [];
      const path = join(folder, entry.name);
      return [{ name: entry.name, path, at, bytes: statInside(dir, path)?.size ?? 0 }];
    })
    .sort((a, b) => b.at - a.at);
}

const offName = 'off';

/** Whether Stemma makes backups by itself. It does, unless the backup folder has a file named "off". */
export const areBackupsOn = (dir: string): boolean => statInside(dir, join(dir, folderName, offName)) === undefined;

/** Turns backups on or off. Existing backups stay. */
export function turnBackups(dir: string, on: boolean): void {
  if (on === areBackupsOn(dir)) return;
  const folder = makeFolderInside(dir, join(dir, folderName));
  if (on) removeInside(dir, join(folder, offName));
  else writeNew(join(folder, offName), '');
}

type InSteps = <T>(steps: Generator<unknown, T>) => Promise<T>;

/**
 * Copies the database while other work continues, verifies the copy, and only then removes older backups. Returns undefined, or why the copy
 * was discarded; then all older backups stay. `id` names the unfinished copy, and `inSteps` runs work in steps, with other calls between them.
 * @throws the error of the file system.
 */
export async function backUp(dir: string, db: OpenDatabase, at: number, id: string, inSteps: InSteps): Promise<string | undefined> {
  const folder = makeFolderInside(dir, join(dir, folderName));
  removeParts(dir, (owner) => owner === undefined || hasEnded(owner));
  const part = join(folder, `stemma-${processName}-${id}.part`);
  writeNew(part, '');
  try {
    await db.copyTo(part);
    const problem = await inSteps(verifyCopy(part));
    if (problem !== undefined) return problem;
    makeOwn(part);
    renameDurably(part, join(folder, nameAt(at)));
  } finally {
    removeParts(dir, (_, name) => name.includes(id));
  }
  const all = listBackups(dir);
  const kept = new Set(backupsToKeep(all));
  for (const backup of all) if (!kept.has(backup)) removeInside(dir, backup.path);
  return undefined;
}

/** Removes unfinished copies for which `isDone` returns true: those of ended processes, or the copy that has just failed. */
function removeParts(dir: string, isDone: (owner: string | undefined, name: string) => boolean): void {
  const folder = join(dir, folderName);
  for (const { name } of listInside(dir, folder)) {
    const match = partName.exec(name);
    if (match && isDone(match[1], name)) removeInside(dir, join(folder, name));
  }
}

/** When a backup was last made or tried, in milliseconds since 1970; 0 if never. */
export const lastTry = (dir: string): number =>
  Math.max(listBackups(dir)[0]?.at ?? 0, statSync(join(dir, folderName), { throwIfNoEntry: false })?.mtimeMs ?? 0);

/** Records the time of an attempt to make a backup. */
export function noteTry(dir: string, at: number): void {
  utimesSync(makeFolderInside(dir, join(dir, folderName)), at / 1000, at / 1000);
}
