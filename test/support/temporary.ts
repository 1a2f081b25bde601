import { existsSync, readFileSync, statfsSync } from 'node:fs';

const memory = '/dev/shm';
const enough = 4 * 1024 ** 3;

/**
 * Puts the temporary files of tests into memory, if there is room: tests make thousands of syncs, and each takes milliseconds on a disk.
 * Durability is tested in test/faults and test/bench, which stay on the disk. Call it before any worker starts.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return;
  const { bavail, bsize } = statfsSync(memory);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === memory);
  // Some tests run programs from their temporary folder.
  if (bavail * bsize >= enough && !mount?.includes('noexec')) process.env.TMPDIR = memory;
}
