import { spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { scratch } from './project.js';

/** Runs a command. True if it succeeds. */
export const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

/** Whether this user may mount file systems; tests of disks are skipped otherwise. */
export const canMount: boolean = ((): boolean => {
  const script = 'd=$(mktemp -d) && mount -t tmpfs -o size=1m tmpfs "$d" && umount "$d"; s=$?; rmdir "$d"; exit $s';
  return runs('sh', '-c', script);
})();

/** Mounts a disk with so many megabytes for the time of the test. */
export function smallDisk(megabytes: number): string {
  const at = scratch();
  if (!runs('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', at)) throw new Error(`cannot mount a disk at ${at}`);
  onTestFinished(() => void runs('umount', '-l', at));
  return at;
}

/** Makes a mounted disk read-only, or writable again. */
export function remount(disk: string, mode: 'ro' | 'rw'): void {
  if (!runs('mount', '-o', `remount,${mode}`, disk)) throw new Error(`cannot remount ${disk}`);
}

/** Shows a folder at another path, read-only, for the time of the test. Returns that path. */
export function readOnlyView(folder: string): string {
  const at = scratch();
  if (!runs('mount', '--bind', folder, at) || !runs('mount', '-o', 'remount,ro,bind', at)) throw new Error(`cannot mount ${folder} at ${at}`);
  onTestFinished(() => void runs('umount', '-l', at));
  return at;
}

/** Gives a mounted disk more room. */
export function grow(disk: string, megabytes: number): void {
  if (!runs('mount', '-o', `remount,size=${megabytes}m`, disk)) throw new Error(`cannot enlarge ${disk}`);
}
